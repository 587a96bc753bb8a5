// Rank r ends with the r-th part of the sum of all ranks' arrays.
#include "benchmarks/network.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const auto groups, ResolveGroups(params, target));
  const auto ranks = static_cast<int64_t>(groups.front().size());
  RL_ASSIGN(const Message message, ResolveMessage(params, ranks));
  const Shape whole = MessageShape(message, ranks);
  const Shape part = PartOf(whole, ranks);
  Program program =
      NetworkProgram(target, message, {{"x", whole, SummableFill(message.dtype, ranks)}},
                     {{"part", part, {programs::FillKind::kZeros}}});
  const std::string attributes = ChannelAttribute(1) + ", " + GroupsAttribute(groups) +
                                 ", scatter_dimension = 0 : i64, use_global_device_ids";
  program.stablehlo =
      programs::WriteLoop(program.partitions, program.inputs, program.carried,
                          [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                            return std::vector{Collect(body, "reduce_scatter", attributes, in[0],
                                                       part, SumRegion(message.dtype))};
                          });
  SetRates(program, Collective::kReduceScatter, ranks, message);
  program.expected.groups = groups;
  // libtpu: also a fusion with an all-reduce inside, between a pad and a permute of its rest; small
  // messages go through an all-reduce, which the audit tells.
  program.expected.ops = {{{"reduce-scatter", "all-reduce"}, 1}};
  if (target.platform == "tpu") {
    program.expected.ops.push_back(
        {{"collective-permute", "slice", "concatenate", "dynamic-slice"}, 0, true});
  }
  const SumCheck check{groups, message.elements, true, message.dtype};
  program.check = [check](const programs::CheckInput& input) { return CheckSum(check, input); };
  return program;
}

}  // namespace

Benchmark reduce_scatter_benchmark() {
  std::vector<ParamSpec> params = MessageParams("the input array, on every rank");
  params.push_back(GroupParam());
  return {.name = "reduce_scatter",
          .component = Component::kNetwork,
          .summary = "every rank gets its part of the sum of all ranks' arrays",
          .uses_mesh = true,
          .min_devices = 2,
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
