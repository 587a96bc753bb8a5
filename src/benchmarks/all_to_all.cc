// Rank r sends its s-th part to rank s, which puts it at place r.
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
  const int64_t part = message.elements / ranks;
  const Shape shape = MessageShape(message, ranks);
  Program program = NetworkProgram(target, message, {{"x", shape, {}}},
                                   {{"y", shape, {programs::FillKind::kZeros}}});
  const std::string attributes =
      ChannelAttribute(1) + ", concat_dimension = 0 : i64, " + GroupsAttribute(groups) +
      ", split_count = " + std::to_string(ranks) + " : i64, split_dimension = 0 : i64";
  program.stablehlo = programs::WriteLoop(
      program.partitions, program.inputs, program.carried,
      [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
        return std::vector{Collect(body, "all_to_all", attributes, in[0], shape)};
      });
  SetRates(program, Collective::kAllToAll, ranks, message);
  program.expected.groups = groups;
  program.expected.ops = {{{"all-to-all", "all-to-all-start", "ragged-all-to-all"}, 1}};
  if (target.platform == "cpu") {
    // XLA's CPU compiler knows the tuple form alone: it cuts the operand and joins the result.
    program.expected.ops.push_back({{"slice", "concatenate"}, 0, true});
    program.labels.emplace_back("time includes cutting and joining the parts");
  } else if (target.platform == "tpu" && shape.dims.size() == 1) {
    program.expected.ops.push_back({{"reshape", "reduce", "copy"}, 0, true});
    program.labels.emplace_back("time includes another layout of the parts");
  }
  program.check = [groups, part](const programs::CheckInput& input) {
    const PiecesOf pieces = [&](int partition, int) {
      const std::vector<int64_t>& members = MembersWith(groups, partition);
      const int64_t own = RankIn(members, partition);
      std::vector<Piece> of;
      for (const int64_t source : members) {
        const auto rank = static_cast<int64_t>(of.size());
        of.push_back({static_cast<int>(source), 0, own * part, rank * part, part});
      }
      return of;
    };
    return CheckMovement(input, 1, pieces, "exchanged parts, every element on every rank");
  };
  return program;
}

}  // namespace

Benchmark all_to_all_benchmark() {
  std::vector<ParamSpec> params = MessageParams("buffer on every rank, cut into one part a rank");
  params.push_back(GroupParam());
  return {.name = "all_to_all",
          .component = Component::kNetwork,
          .summary = "every rank sends a part of its own to every other",
          .uses_mesh = true,
          .min_devices = 2,
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
