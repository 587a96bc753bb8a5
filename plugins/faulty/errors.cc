#include "errors.h"

#include <mutex>
#include <set>

namespace ridgeline::faulty {
namespace {

std::mutex mutex;
std::set<const OwnError*>& Alive() {
  static auto& alive = *new std::set<const OwnError*>;
  return alive;
}

}  // namespace

PJRT_Error* MakeError(Code code, std::string message) {
  auto* error = new OwnError{code, std::move(message)};
  const std::lock_guard lock(mutex);
  Alive().insert(error);
  return reinterpret_cast<PJRT_Error*>(error);
}

Code CodeFromName(std::string_view name) {
  for (int code = 1; code <= 16; ++code) {
    if (CodeName(static_cast<Code>(code)) == name) return static_cast<Code>(code);
  }
  return Code::kUnknown;
}

const OwnError* Own(const PJRT_Error* error) {
  const auto* own = reinterpret_cast<const OwnError*>(error);
  const std::lock_guard lock(mutex);
  return Alive().contains(own) ? own : nullptr;
}

void Destroy(PJRT_Error* own) {
  const auto* error = reinterpret_cast<const OwnError*>(own);
  const std::lock_guard lock(mutex);
  Alive().erase(error);
  delete error;
}

}  // namespace ridgeline::faulty
