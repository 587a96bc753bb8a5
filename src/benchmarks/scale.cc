// b = 3 · c (STREAM's scale).
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
      ElementwiseProgram(params, target, {"c"}, "2 arrays: c read, b written",
                         [](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                           const Value scalar = body.Splat(kScalar, in[0].shape);
                           return std::vector{body.Binary("multiply", scalar, in[0])};
                         }));
  program.work.vector_flops[program.dtype] = static_cast<double>(program.outputs[0].elements());
  program.expected.ops = {{{"multiply"}, 1}};
  // Exactly rounded once, which RoundTo does too.
  program.check = [dtype = program.dtype](const programs::CheckInput& input) {
    return programs::CheckElementwise(input, 1, "b = 3·c", [dtype](const programs::Chunk& chunk) {
      for (size_t i = 0; i < chunk.expected.size(); ++i) {
        chunk.expected[i] = kScalar * chunk.inputs[0][i];
      }
      RoundTo(dtype, chunk.expected);
    });
  };
  return program;
}

}  // namespace

Benchmark scale_benchmark() {
  return {.name = "scale",
          .component = Component::kHbm,
          .summary = "scales an array: b = 3·c",
          .params = ArrayParams("size of one array; there are two"),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
