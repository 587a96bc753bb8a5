// Point to point with StableHLO's send and recv. Plugins that do not know them (XLA's CPU plugin)
// refuse the program.
#include <fmt/format.h>

#include "benchmarks/network.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

// The send starts first, so that the receiver's wait ends. The partitioner
// asks for a sharding on operations with side effects. Tokens have no array type: only their names
// are used.
Value SendAndReceive(Body& body, const Value& sent, const Pairs& pairs) {
  const std::string attributes =
      ChannelAttribute(1) + ", is_host_transfer = false, " + PairsAttribute(pairs);
  const std::string type = sent.shape.ToStableHlo();
  const Value token = body.Define("stablehlo.create_token : !stablehlo.token", {});
  const Value done = body.Define(fmt::format("\"stablehlo.send\"({}, {}) <{{{}}}> {{mhlo.sharding "
                                             "= \"{{manual}}\"}} : ({}, !stablehlo.token) -> "
                                             "!stablehlo.token",
                                             sent.name, token.name, attributes, type),
                                 {});
  std::string receive = fmt::format(
      "\"stablehlo.recv\"({}) <{{{}}}> {{mhlo.sharding = \"{{manual}}\"}} : (!stablehlo.token) -> "
      "({}, !stablehlo.token)",
      done.name, attributes, type);
  return body.DefineFirst(std::move(receive), 2, sent.shape);
}

Result<Program> Build(const Params& params, const Target& target) {
  if (target.platform == "tpu") {
    // Its check "is_host_transfer" ends the process, for every topology.
    return Fail(Code::kUnimplemented,
                "libtpu's compiler knows send and recv between a device and its host only", "",
                "use the benchmark `pair`");
  }
  RL_ASSIGN(const auto ends, ResolveEndpoints(params, target));
  RL_ASSIGN(const Message message, ResolveMessage(params, 1));
  const Pairs pairs = {ends};
  const Shape shape{message.dtype, {message.elements}};
  Program program = NetworkProgram(target, message, {{"sent", shape, {}}},
                                   {{"received", shape, {programs::FillKind::kZeros}}});
  program.stablehlo =
      programs::WriteLoop(program.partitions, program.inputs, program.carried,
                          [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                            return std::vector{SendAndReceive(body, in[0], pairs)};
                          });
  SetRates(program, Collective::kPermute, 2, message);
  program.labels.emplace_back("clock: until the receiver holds the last message");
  program.expected.source_target = pairs;
  // Some compilers turn the two into a permute.
  program.expected.ops = {{{"recv", "collective-permute", "collective-permute-start"}, 1}};
  program.check = [ends, elements = message.elements](const programs::CheckInput& input) {
    const PiecesOf pieces = [&](int partition, int output) {
      // What the others' recv leaves is not defined.
      if (partition != ends.second) return std::vector<Piece>{};
      return PiecesFrom({ends}, partition, output, elements);
    };
    return CheckMovement(input, 1, pieces, "the message at its receiver");
  };
  return program;
}

}  // namespace

Benchmark send_recv_benchmark() {
  std::vector<ParamSpec> params = MessageParams("message");
  for (ParamSpec& spec : EndpointParams()) params.push_back(std::move(spec));
  return {.name = "send_recv",
          .component = Component::kNetwork,
          .summary = "one device sends to one other (StableHLO send and recv)",
          .uses_mesh = true,
          .min_devices = 2,
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
