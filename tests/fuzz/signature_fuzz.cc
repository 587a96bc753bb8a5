// Any text as an imported StableHLO program: an error, or the types of @main.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "benchmarks/signature.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ridgeline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto signature = benchmarks::ReadSignature(text);
  if (!signature && signature.error().message.empty()) std::abort();
  return 0;
}
