// c = a. The result that is carried is the operand itself, so that the compiler has to write the
// copy of its own accord: it cannot be fused into anything.
#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(Program program,
            ElementwiseProgram(params, target, {"a"}, "2 arrays: a read, c written",
                               [](Body&, const std::vector<Value>& in, const std::vector<Value>&) {
                                 return std::vector{in[0]};
                               }));
  program.expected.ops = {{{"copy"}, 1}};
  program.check = [](const programs::CheckInput& input) {
    return programs::CheckElementwise(input, 1, "c = a", [](const programs::Chunk& chunk) {
      std::ranges::copy(chunk.inputs[0], chunk.expected.begin());
    });
  };
  return program;
}

}  // namespace

Benchmark copy_benchmark() {
  return {.name = "copy",
          .component = Component::kHbm,
          .summary = "copies an array: c = a",
          .params = ArrayParams("size of one array; there are two"),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
