// Every rank ends with the sum of all ranks' buffers.
#include "benchmarks/network.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const auto groups, ResolveGroups(params, target));
  RL_ASSIGN(const Message message, ResolveMessage(params, 1));
  const auto ranks = static_cast<int64_t>(groups.front().size());
  const Shape shape{message.dtype, {message.elements}};
  Program program =
      NetworkProgram(target, message, {{"x", shape, SummableFill(message.dtype, ranks)}},
                     {{"sum", shape, {programs::FillKind::kZeros}}});
  const std::string attributes =
      ChannelAttribute(1) + ", " + GroupsAttribute(groups) + ", use_global_device_ids";
  program.stablehlo =
      programs::WriteLoop(program.partitions, program.inputs, program.carried,
                          [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                            return std::vector{Collect(body, "all_reduce", attributes, in[0], shape,
                                                       SumRegion(message.dtype))};
                          });
  SetRates(program, Collective::kAllReduce, ranks, message);
  program.expected.groups = groups;
  program.expected.ops = {{{"all-reduce", "all-reduce-start"}, 1}};
  const SumCheck check{groups, message.elements, false, message.dtype};
  program.check = [check](const programs::CheckInput& input) { return CheckSum(check, input); };
  return program;
}

}  // namespace

Benchmark all_reduce_benchmark() {
  std::vector<ParamSpec> params = MessageParams("buffer on every rank");
  params.push_back(GroupParam());
  return {.name = "all_reduce",
          .component = Component::kNetwork,
          .summary = "every rank gets the sum of all ranks' buffers",
          .uses_mesh = true,
          .min_devices = 2,
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
