#include "hlo/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_set>

namespace ridgeline::hlo {
namespace {

struct PrimitiveInfo {
  int number;
  std::string_view name;
  int bits;
};

constexpr PrimitiveInfo kPrimitives[] = {
#define RL_PRIMITIVE(number, name, bits) {number, name, bits},
#include "hlo/primitive.def"
#undef RL_PRIMITIVE
};

const PrimitiveInfo* FindPrimitive(int number) {
  const auto* found =
      std::find_if(std::begin(kPrimitives), std::end(kPrimitives),
                   [&](const PrimitiveInfo& info) { return info.number == number; });
  return found == std::end(kPrimitives) ? nullptr : found;
}

Error BadModule(std::string message) {
  return Error{Code::kInvalidArgument, "malformed HLO module: " + std::move(message), "", ""};
}

}  // namespace

std::string PrimitiveName(int primitive) {
  const PrimitiveInfo* info = FindPrimitive(primitive);
  return info ? std::string(info->name) : fmt::format("type{}", primitive);
}

int PackedBits(int primitive) {
  const PrimitiveInfo* info = FindPrimitive(primitive);
  return info && info->bits < 8 ? info->bits : 0;
}

std::optional<int> PrimitiveNumber(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPrimitives), std::end(kPrimitives),
                                   [&](const PrimitiveInfo& info) { return info.name == name; });
  if (found == std::end(kPrimitives)) return std::nullopt;
  return found->number;
}

bool Shape::is_array() const {
  const PrimitiveInfo* info = FindPrimitive(primitive);
  return info && info->bits > 0;
}

bool Shape::is_scalar_integer() const {
  if (!dims.empty() || !is_array()) return false;
  const std::string type = type_name();
  return type == "pred" || type[0] == 's' || type[0] == 'u';
}

double Shape::elements() const {
  double count = is_array() ? 1 : 0;
  for (int64_t dim : dims) count *= static_cast<double>(dim);
  return count;
}

double Shape::bytes() const {
  double total = 0;
  for (const Shape& element : tuple) total += element.bytes();
  if (!is_array()) return total;
  // Without a packed layout every element takes whole bytes.
  const int whole_bytes = (FindPrimitive(primitive)->bits + 7) / 8;
  const double stored = element_bits > 0 ? static_cast<double>(element_bits) / 8 : whole_bytes;
  return elements() * stored;
}

std::string Shape::ToString() const {
  if (is_tuple()) {
    std::string text = "(";
    for (const Shape& element : tuple) {
      text += (text.size() > 1 ? ", " : "") + element.ToString();
    }
    return text + ")";
  }
  std::string text = fmt::format("{}[{}]", type_name(), fmt::join(dims, ","));
  if (!minor_to_major.empty() || memory_space != 0) {
    const std::string space = memory_space ? fmt::format(":S({})", memory_space) : "";
    text += fmt::format("{{{}{}}}", fmt::join(minor_to_major, ","), space);
  }
  return text;
}

Status Module::Link() {
  index_.clear();
  for (size_t i = 0; i < computations.size(); ++i) {
    Computation& computation = computations[i];
    if (!index_.emplace(computation.id, i).second) {
      return tl::unexpected(BadModule(fmt::format("two computations have id {}", computation.id)));
    }
    computation.index_.clear();
    for (size_t k = 0; k < computation.instructions.size(); ++k) {
      const Instruction& instruction = computation.instructions[k];
      for (int64_t operand : instruction.operands) {
        if (!computation.index_.contains(operand)) {
          return tl::unexpected(BadModule(fmt::format("'{}' uses operand {}, not defined before it",
                                                      instruction.name, operand)));
        }
      }
      if (!computation.index_.emplace(instruction.id, k).second) {
        return tl::unexpected(BadModule(
            fmt::format("two instructions of '{}' have id {}", computation.name, instruction.id)));
      }
    }
    if (!computation.index_.contains(computation.root)) {
      return tl::unexpected(BadModule(
          fmt::format("computation '{}' has no root {}", computation.name, computation.root)));
    }
  }
  if (!index_.contains(entry)) {
    return tl::unexpected(BadModule(fmt::format("no entry computation {}", entry)));
  }

  // Callers before callees (Kahn), so that a cycle or an endless nesting shows without recursion.
  std::vector<int64_t> callers(computations.size(), 0);
  for (const Computation& computation : computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode == "while" &&
          (instruction.operands.size() != 1 || instruction.called.size() != 2)) {
        return tl::unexpected(BadModule(
            fmt::format("while '{}' lacks its state, body or condition", instruction.name)));
      }
      for (int64_t callee : instruction.called) {
        if (!index_.contains(callee)) {
          return tl::unexpected(BadModule(fmt::format(
              "'{}' calls computation {}, which does not exist", instruction.name, callee)));
        }
        ++callers[index_.at(callee)];
      }
    }
  }
  std::vector<int> depth(computations.size(), 0);
  std::deque<size_t> ready;
  for (size_t i = 0; i < computations.size(); ++i) {
    if (callers[i] == 0) ready.push_back(i);
  }
  size_t visited = 0;
  while (!ready.empty()) {
    const size_t current = ready.front();
    ready.pop_front();
    ++visited;
    if (depth[current] > kMaxNesting) {
      return tl::unexpected(
          BadModule(fmt::format("computations nest more than {} deep", kMaxNesting)));
    }
    for (const Instruction& instruction : computations[current].instructions) {
      for (int64_t callee : instruction.called) {
        const size_t next = index_.at(callee);
        depth[next] = std::max(depth[next], depth[current] + 1);
        if (--callers[next] == 0) ready.push_back(next);
      }
    }
  }
  if (visited != computations.size()) {
    return tl::unexpected(BadModule("computations call each other in a cycle"));
  }
  return {};
}

std::span<const int64_t> RunsInPlace(const Instruction& instruction) {
  constexpr std::array<std::string_view, 5> kOpcodes = {"fusion", "call", "while", "conditional",
                                                        "async-start"};
  const bool runs =
      std::find(kOpcodes.begin(), kOpcodes.end(), instruction.opcode) != kOpcodes.end();
  return runs ? std::span<const int64_t>(instruction.called) : std::span<const int64_t>();
}

std::span<const int64_t> RunsOrDefines(const Module& module, const Instruction& instruction) {
  if (instruction.opcode != "custom-call" || instruction.called.size() != 1) {
    return RunsInPlace(instruction);
  }
  const Instruction& root = module.Get(instruction.called[0]).Root();
  const bool whole = root.shape.ToString() == instruction.shape.ToString();
  return whole ? std::span<const int64_t>(instruction.called) : std::span<const int64_t>();
}

std::vector<const Computation*> Reachable(const Module& module, const Computation& from) {
  std::vector<const Computation*> found = {&from};
  std::unordered_set<int64_t> seen = {from.id};
  for (size_t i = 0; i < found.size(); ++i) {
    for (const Instruction& instruction : found[i]->instructions) {
      for (int64_t callee : instruction.called) {
        if (seen.insert(callee).second) found.push_back(&module.Get(callee));
      }
    }
  }
  return found;
}

std::string_view BaseOpcode(std::string_view opcode) {
  constexpr std::string_view kStart = "-start";
  if (opcode.ends_with(kStart)) opcode.remove_suffix(kStart.size());
  return opcode;
}

bool IsCollective(const Instruction& instruction) {
  constexpr std::array<std::string_view, 7> kCollectives = {
      "all-reduce",         "all-gather",           "reduce-scatter",   "all-to-all",
      "collective-permute", "collective-broadcast", "ragged-all-to-all"};
  const std::string_view base = BaseOpcode(instruction.opcode);
  return std::find(kCollectives.begin(), kCollectives.end(), base) != kCollectives.end();
}

}  // namespace ridgeline::hlo
