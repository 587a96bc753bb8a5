#include "hlo/opcode.h"

#include <unordered_map>

namespace ridgeline::hlo {
namespace {

const std::unordered_map<std::string_view, OpKind>& Kinds() {
  static const std::unordered_map<std::string_view, OpKind> kinds = {
#define RL_OPCODE(name, kind) {name, OpKind::kind},
#include "hlo/opcode.def"
#undef RL_OPCODE
  };
  return kinds;
}

}  // namespace

std::optional<OpKind> KindOf(std::string_view opcode) {
  const auto found = Kinds().find(opcode);
  if (found == Kinds().end()) return std::nullopt;
  return found->second;
}

const std::vector<std::string_view>& AllOpcodes() {
  static const std::vector<std::string_view> names = {
#define RL_OPCODE(name, kind) name,
#include "hlo/opcode.def"
#undef RL_OPCODE
  };
  return names;
}

}  // namespace ridgeline::hlo
