// Point to point: a permute with one source-target pair, or with both ways of it.
#include "benchmarks/network.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const auto ends, ResolveEndpoints(params, target));
  RL_ASSIGN(const Message message, ResolveMessage(params, 1));
  const bool both_ways = params.Text("direction") == "both_ways";
  Pairs pairs = {ends};
  if (both_ways) pairs.emplace_back(ends.second, ends.first);

  const Shape shape{message.dtype, {message.elements}};
  Program program = NetworkProgram(target, message, {{"sent", shape, {}}},
                                   {{"received", shape, {programs::FillKind::kZeros}}});
  const std::string attributes = ChannelAttribute(1) + ", " + PairsAttribute(pairs);
  program.stablehlo = programs::WriteLoop(
      program.partitions, program.inputs, program.carried,
      [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
        return std::vector{Collect(body, "collective_permute", attributes, in[0], shape)};
      });
  SetRates(program, Collective::kPermute, 2, message, both_ways ? 2 : 1);
  // A sender may run ahead of its receiver; the program ends when the last message has arrived.
  program.labels.emplace_back(both_ways ? "both directions counted: two messages a round"
                                        : "clock: until the receiver holds the last message");
  program.expected.source_target = pairs;
  program.expected.ops = {{{"collective-permute", "collective-permute-start"}, 1}};
  program.check = [pairs, elements = message.elements](const programs::CheckInput& input) {
    const PiecesOf pieces = [&](int partition, int output) {
      return PiecesFrom(pairs, partition, output, elements);
    };
    return CheckMovement(input, 1, pieces, "the message at its receiver, zeros elsewhere");
  };
  return program;
}

}  // namespace

Benchmark pair_benchmark() {
  std::vector<ParamSpec> params = MessageParams("message");
  for (ParamSpec& spec : EndpointParams()) params.push_back(std::move(spec));
  params.push_back(DirectionParam());
  return {.name = "pair",
          .component = Component::kNetwork,
          .summary = "one device sends to one other, or both to each other (a permute)",
          .uses_mesh = true,
          .min_devices = 2,
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
