// a = b + 3 · c (STREAM's triad). No write-allocate traffic is counted.
#include <cmath>

#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

constexpr double kScalar = 3;

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(
      Program program,
      ElementwiseProgram(params, target, {"b", "c"}, "3 arrays: b, c read, a written",
                         [](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                           const Value scalar = body.Splat(kScalar, in[0].shape);
                           const Value scaled = body.Binary("multiply", scalar, in[1]);
                           return std::vector{body.Binary("add", in[0], scaled)};
                         }));
  program.work.vector_flops[program.dtype] = 2 * static_cast<double>(program.outputs[0].elements());
  program.expected.ops = {{{"multiply"}, 1}, {{"add"}, 1}};
  // The product may or may not be rounded before the sum (fused multiply-add, wider registers); the
  // last term is the expected value's own rounding.
  const double half = Epsilon(program.dtype) / 2 * 1.01 + Epsilon(DType::kF64) / 2;
  program.check = [half](const programs::CheckInput& input) {
    return programs::CheckElementwise(
        input, 2, "a = b + 3·c", [half](const programs::Chunk& chunk) {
          for (size_t i = 0; i < chunk.expected.size(); ++i) {
            const double scaled = kScalar * chunk.inputs[1][i];
            chunk.expected[i] = chunk.inputs[0][i] + scaled;
            chunk.bound[i] = half * (std::fabs(scaled) * 1.01 + std::fabs(chunk.expected[i]));
          }
        });
  };
  return program;
}

}  // namespace

Benchmark triad_benchmark() {
  return {.name = "triad",
          .component = Component::kHbm,
          .summary = "STREAM triad: a = b + 3·c",
          .params = ArrayParams("size of one array; there are three"),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
