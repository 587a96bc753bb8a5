#include "workload/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "hlo/collective.h"

namespace ridgeline::workload {
namespace {

Operation ToOperation(const hlo::OpUse& use) {
  Operation operation{.name = use.op_name.empty() ? use.name
                                                  : fmt::format("{} ({})", use.op_name, use.name)};
  // All executions together: the work of one need not be a whole share.
  const DType dtype = ParseDType(use.type).value_or(DType::kF32);
  Work& work = operation.work;
  if (use.matrix > 0) work.matrix_flops[dtype] = use.matrix;
  if (use.vector > 0) work.vector_flops[dtype] = use.vector;
  work.transcendentals = use.transcendental;
  work.hbm_bytes = use.fused_bytes;
  work.wire_bytes = use.wire_bytes;
  if (use.wire_bytes > 0) {
    std::string collective(hlo::BaseOpcode(use.opcode));
    std::ranges::replace(collective, '-', '_');
    work.wire.push_back({.axis = "",
                         .collective = std::move(collective),
                         .payload_bytes = use.payload_bytes,
                         .wire_bytes = use.wire_bytes,
                         .calls = use.executions,
                         .group = hlo::Members(use.group, use.group_size)});
  }
  if (use.unfused_bytes > use.fused_bytes) operation.most_hbm_bytes = use.unfused_bytes;
  return operation;
}

std::string LoopText(const hlo::LoopUse& loop) {
  return loop.at_most ? fmt::format("the rounds of loop {} ({}): counted once, at most {}",
                                    loop.name, loop.unknown, *loop.at_most)
                      : fmt::format("the rounds of loop {} ({}): counted once; --trips gives them",
                                    loop.name, loop.unknown);
}

}  // namespace

Workload FromAnalysis(const hlo::Analysis& analysis, std::string name, int64_t devices) {
  Workload workload;
  workload.name = std::move(name);
  workload.devices = devices;
  workload.whole = ToWork(analysis, &workload.notes);
  if (!analysis.hbm.exact) workload.most_hbm_bytes = analysis.hbm.unfused;
  for (const hlo::OpUse& use : analysis.ops) workload.operations.push_back(ToOperation(use));
  for (const hlo::Uncounted& one : analysis.uncounted) {
    workload.uncounted.push_back(
        fmt::format("{} ({}; {} times)", one.what, one.why, FormatNumber(one.executions)));
  }
  for (const hlo::LoopUse& loop : analysis.loops) {
    if (!loop.trips) workload.uncounted.push_back(LoopText(loop));
  }
  for (const hlo::LargeConstant& one : analysis.constants) {
    workload.notes.push_back(
        fmt::format("constant {} {} holds {}: a compiler may fold what depends on it", one.name,
                    one.shape, FormatBytes(static_cast<int64_t>(one.bytes))));
  }
  workload.notes.insert(workload.notes.end(), analysis.notes.begin(), analysis.notes.end());
  return workload;
}

}  // namespace ridgeline::workload
