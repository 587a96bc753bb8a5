#include "hlo/collective.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "core/collective_bytes.h"
#include "hlo/demand.h"

namespace ridgeline::hlo {
namespace {

// Devices; a program may claim any number of them.
constexpr int64_t kMostNamed = int64_t{1} << 14;

ridgeline::Collective FormulaOf(std::string_view kind) {
  using Formula = ridgeline::Collective;
  if (kind == "all-reduce") return Formula::kAllReduce;
  if (kind == "all-gather") return Formula::kAllGather;
  if (kind == "reduce-scatter") return Formula::kReduceScatter;
  if (kind == "collective-broadcast") return Formula::kBroadcast;
  if (kind == "collective-permute") return Formula::kPermute;
  return Formula::kAllToAll;
}

// What the devices hold afterwards. A start hands its operands on beside the results.
double ResultBytes(const Instruction& instruction, std::string_view kind) {
  const bool start = instruction.opcode != kind;
  if (!start || kind == "all-reduce") return instruction.shape.bytes();
  if (instruction.shape.tuple.size() < 2) return instruction.shape.bytes();
  return instruction.shape.tuple[1].bytes();
}

}  // namespace

std::vector<int64_t> Members(const std::vector<int64_t>& group, int64_t size) {
  if (!group.empty() || size > kMostNamed) return group;
  std::vector<int64_t> all(static_cast<size_t>(std::max<int64_t>(size, 0)));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Collective ReadCollective(const Computation& computation, const Instruction& instruction,
                          int64_t devices) {
  Collective out;
  out.kind = BaseOpcode(instruction.opcode);
  const bool permute = out.kind == "collective-permute";
  if (permute) {
    std::set<int64_t> named;
    for (const auto& [source, target] : instruction.source_target) {
      named.insert(source);
      named.insert(target);
    }
    out.group_size = static_cast<int64_t>(named.size());
    if (!instruction.source_target.empty()) {
      out.group = {instruction.source_target[0].first, instruction.source_target[0].second};
    }
  } else if (!instruction.groups.empty()) {
    const auto largest =
        std::max_element(instruction.groups.begin(), instruction.groups.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    out.group = *largest;
    out.group_size = static_cast<int64_t>(largest->size());
  } else {
    out.group_size = devices;
  }
  if (out.kind == "reduce-scatter") {
    for (const int64_t operand : instruction.operands) {
      out.payload_bytes += computation.Get(operand).shape.bytes();
    }
  } else {
    out.payload_bytes = ResultBytes(instruction, out.kind);
  }
  out.wire_bytes = BusBytes(FormulaOf(out.kind), out.group_size, out.payload_bytes);
  return out;
}

bool IsBetweenSlices(const Instruction& instruction) {
  const auto handler = instruction.frontend_attributes.find("_xla_host_transfer_handler_name");
  return (instruction.opcode == "send" || instruction.opcode == "recv") &&
         handler != instruction.frontend_attributes.end() &&
         handler->second == "xla_megascale_runtime";
}

std::optional<Collective> ReadSliceTransfer(const Computation& computation,
                                            const Instruction& instruction, int64_t slices) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"ALL_REDUCE", "all-reduce"},
      {"ALL_GATHER", "all-gather"},
      {"REDUCE_SCATTER", "reduce-scatter"},
      {"ALL_TO_ALL", "all-to-all"},
      {"ONE_TO_ONE", "collective-permute"}};
  if (instruction.opcode != "send" || instruction.operands.empty()) return std::nullopt;
  const auto type = instruction.frontend_attributes.find("_xla_megascale_transfer_type");
  if (type == instruction.frontend_attributes.end()) return std::nullopt;
  const auto* const kind = std::ranges::find(kKinds, std::string_view(type->second),
                                             &std::pair<std::string_view, std::string_view>::first);
  if (kind == std::end(kKinds)) return std::nullopt;
  Collective out;
  out.kind = kind->second;
  out.group_size = slices;
  out.payload_bytes = computation.Get(instruction.operands[0]).shape.bytes();
  if (out.kind == "all-gather") out.payload_bytes *= static_cast<double>(slices);
  out.wire_bytes = BusBytes(FormulaOf(out.kind), slices, out.payload_bytes);
  return out;
}

}  // namespace ridgeline::hlo
