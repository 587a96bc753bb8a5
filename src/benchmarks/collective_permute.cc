// A ring in every group: each rank sends its buffer to the next, or to both neighbours.
#include "benchmarks/network.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

// `step` is 1 or -1.
Pairs Ring(const std::vector<std::vector<int64_t>>& groups, int64_t step) {
  Pairs pairs;
  for (const auto& group : groups) {
    const auto ranks = static_cast<int64_t>(group.size());
    for (int64_t r = 0; r < ranks; ++r) {
      pairs.emplace_back(group[static_cast<size_t>(r)],
                         group[static_cast<size_t>((r + step + ranks) % ranks)]);
    }
  }
  return pairs;
}

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const auto groups, ResolveGroups(params, target));
  RL_ASSIGN(const Message message, ResolveMessage(params, 1));
  const bool both_ways = params.Text("direction") == "both_ways";
  const Shape shape{message.dtype, {message.elements}};
  std::vector<Pairs> rings = {Ring(groups, 1)};
  if (both_ways) rings.push_back(Ring(groups, -1));

  std::vector<programs::TensorSpec> inputs;
  std::vector<programs::TensorSpec> carried;
  for (size_t k = 0; k < rings.size(); ++k) {
    const std::string name = k == 0 ? "up" : "down";
    inputs.push_back({"to_" + name, shape, {}});
    carried.push_back({"from_" + name, shape, {programs::FillKind::kZeros}});
  }
  Program program = NetworkProgram(target, message, std::move(inputs), std::move(carried));
  program.stablehlo = programs::WriteLoop(
      program.partitions, program.inputs, program.carried,
      [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
        std::vector<Value> out;
        for (size_t k = 0; k < rings.size(); ++k) {
          const std::string attributes =
              ChannelAttribute(static_cast<int>(k) + 1) + ", " + PairsAttribute(rings[k]);
          out.push_back(Collect(body, "collective_permute", attributes, in[k], shape));
        }
        return out;
      });
  SetRates(program, Collective::kPermute, static_cast<int64_t>(groups.front().size()), message,
           static_cast<int>(rings.size()));
  if (both_ways) program.labels.emplace_back("both directions counted: two messages a round");
  // The audit knows one set of pairs; the two rings of both_ways have different ones.
  if (!both_ways) program.expected.source_target = rings[0];
  program.expected.ops = {
      {{"collective-permute", "collective-permute-start"}, static_cast<int64_t>(rings.size())}};
  program.check = [rings, elements = message.elements](const programs::CheckInput& input) {
    const PiecesOf pieces = [&](int partition, int output) {
      return PiecesFrom(rings[static_cast<size_t>(output)], partition, output, elements);
    };
    return CheckMovement(input, static_cast<int>(rings.size()), pieces,
                         "the neighbour's buffer, every element on every rank");
  };
  return program;
}

}  // namespace

Benchmark collective_permute_benchmark() {
  std::vector<ParamSpec> params = MessageParams("message from every rank to its neighbour");
  params.push_back(GroupParam());
  params.push_back(DirectionParam());
  return {.name = "collective_permute",
          .component = Component::kNetwork,
          .summary = "ring: every rank sends to the next one, or to both neighbours",
          .uses_mesh = true,
          .min_devices = 2,
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
