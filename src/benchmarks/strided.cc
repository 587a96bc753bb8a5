// b[i] = a[stride · i].
#include <fmt/format.h>

#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const int64_t elements, ElementsOf(params));
  const int64_t stride = params.Integer("stride");
  const DType dtype = params.Type("dtype");
  const Shape picked{dtype, {(elements + stride - 1) / stride}};
  Program program =
      LoopProgram(target, dtype, {{"a", {dtype, {elements}}, {}}}, picked,
                  [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                    return std::vector{body.Slice(in[0], {0}, {elements}, {stride})};
                  });
  CountBytes(
      program, 2 * static_cast<double>(picked.device_bytes()),
      fmt::format("picked elements only, read and written; whole cache lines move: for lines "
                  "of 64 B up to {} times what is read",
                  std::min(stride, std::max<int64_t>(1, 64 / HostBytesPerElement(dtype)))));
  program.expected.ops = {{{"slice"}, 1, true}};
  program.expected.dtype_matters = false;
  program.check = [stride](const programs::CheckInput& input) {
    return programs::CheckMoved(input, fmt::format("b[i] = a[{}·i]", stride),
                                [&](int) -> programs::Origins {
                                  return [stride](int64_t start, std::span<int64_t> origins) {
                                    for (int64_t& origin : origins) origin = stride * start++;
                                  };
                                });
  };
  return program;
}

}  // namespace

Benchmark strided_benchmark() {
  std::vector<ParamSpec> params = ArrayParams("size of the array that is read with strides");
  params.push_back({.name = "stride",
                    .fallback = int64_t{16},
                    .help = "distance between two elements that are read, in elements",
                    .min = 2});
  return {.name = "strided",
          .component = Component::kHbm,
          .summary = "picks every stride-th element of an array",
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
