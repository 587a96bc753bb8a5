// c = a + b (STREAM's add).
#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(
      Program program,
      ElementwiseProgram(params, target, {"a", "b"}, "3 arrays: a, b read, c written",
                         [](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                           return std::vector{body.Binary("add", in[0], in[1])};
                         }));
  program.work.vector_flops[program.dtype] = static_cast<double>(program.outputs[0].elements());
  program.expected.ops = {{{"add"}, 1}};
  // Exactly rounded once, which RoundTo does too.
  program.check = [dtype = program.dtype](const programs::CheckInput& input) {
    return programs::CheckElementwise(input, 2, "c = a + b", [dtype](const programs::Chunk& chunk) {
      for (size_t i = 0; i < chunk.expected.size(); ++i) {
        chunk.expected[i] = chunk.inputs[0][i] + chunk.inputs[1][i];
      }
      RoundTo(dtype, chunk.expected);
    });
  };
  return program;
}

}  // namespace

Benchmark add_benchmark() {
  return {.name = "add",
          .component = Component::kHbm,
          .summary = "adds two arrays: c = a + b",
          .params = ArrayParams("size of one array; there are three"),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
