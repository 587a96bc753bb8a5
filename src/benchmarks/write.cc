// Fills an array with one value, which is an input so that nothing is known beforehand.
#include <fmt/format.h>

#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const int64_t elements, ElementsOf(params));
  const Shape array{params.Type("dtype"), {elements}};
  Program program =
      LoopProgram(target, array.dtype, {{"value", {array.dtype, {}}, {.limit = 100, .mean = 8}}},
                  array, [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                    return std::vector{body.Broadcast(in[0], {}, array.dims)};
                  });
  CountBytes(program, static_cast<double>(array.device_bytes()), "1 array: written");
  program.expected.ops = {{{"broadcast"}, 1}};
  program.expected.dtype_matters = false;
  program.check = [](const programs::CheckInput& input) {
    programs::Comparison comparison("every element is the value");
    for (int partition = 0; partition < input.partitions(); ++partition) {
      comparison.ExpectAll(input.Input(partition, 0)(0), input.Output(partition, 0),
                           fmt::format("device {} ", partition));
    }
    return comparison.Finish();
  };
  return program;
}

}  // namespace

Benchmark write_benchmark() {
  return {.name = "write",
          .component = Component::kHbm,
          .summary = "fills an array with a value",
          .params = ArrayParams("size of the array"),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
