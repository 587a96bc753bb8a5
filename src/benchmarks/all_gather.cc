// Every rank ends with the parts of all ranks behind each other.
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
  const Shape gathered = MessageShape(message, ranks);
  Program program = NetworkProgram(target, message, {{"part", PartOf(gathered, ranks), {}}},
                                   {{"gathered", gathered, {programs::FillKind::kZeros}}});
  const std::string attributes = "all_gather_dim = 0 : i64, " + ChannelAttribute(1) + ", " +
                                 GroupsAttribute(groups) + ", use_global_device_ids";
  program.stablehlo = programs::WriteLoop(
      program.partitions, program.inputs, program.carried,
      [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
        return std::vector{Collect(body, "all_gather", attributes, in[0], gathered)};
      });
  SetRates(program, Collective::kAllGather, ranks, message);
  program.expected.groups = groups;
  // libtpu gathers small messages with an all-reduce over zeros, which the audit tells.
  program.expected.ops = {{{"all-gather", "all-reduce"}, 1}};
  if (target.platform == "tpu") {
    program.expected.ops.push_back({{"broadcast", "dynamic-update-slice"}, 0, true});
  }
  program.check = [groups, part](const programs::CheckInput& input) {
    const PiecesOf pieces = [&](int partition, int) {
      std::vector<Piece> of;
      for (const int64_t source : MembersWith(groups, partition)) {
        const auto rank = static_cast<int64_t>(of.size());
        of.push_back({static_cast<int>(source), 0, 0, rank * part, part});
      }
      return of;
    };
    return CheckMovement(input, 1, pieces, "gathered array, every element on every rank");
  };
  return program;
}

}  // namespace

Benchmark all_gather_benchmark() {
  std::vector<ParamSpec> params = MessageParams("the gathered array, on every rank");
  params.push_back(GroupParam());
  return {.name = "all_gather",
          .component = Component::kNetwork,
          .summary = "every rank gets the parts of all ranks",
          .uses_mesh = true,
          .min_devices = 2,
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
