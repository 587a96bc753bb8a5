// Sums the rows of a matrix: everything is read, next to nothing written.
#include <fmt/format.h>

#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

// Most columns of a sum: wide enough for the vector units, small against the array.
constexpr int64_t kMaxColumns = 1024;

int64_t ColumnsOf(int64_t elements) {
  int64_t columns = std::min(kMaxColumns, elements);
  while (elements % columns != 0) --columns;
  return columns;
}

programs::CheckResult Check(const Shape& matrix, const programs::CheckInput& input) {
  const int64_t rows = matrix.dims[0];
  const auto columns = static_cast<size_t>(matrix.dims[1]);
  programs::Comparison comparison("all sums in f64");
  for (int partition = 0; partition < input.partitions(); ++partition) {
    const programs::InputSource source = input.Input(partition, 0);
    std::vector<double> row(columns);
    std::vector<double> sums(columns);
    std::vector<double> squares(columns);
    for (int64_t r = 0; r < rows; ++r) {
      source.Read(r * matrix.dims[1], row);
      for (size_t c = 0; c < columns; ++c) {
        sums[c] += row[c];
        squares[c] += row[c] * row[c];
      }
    }
    const HostTensor& output = input.Output(partition, 0);
    const std::string where = fmt::format("device {} ", partition);
    for (size_t c = 0; c < columns; ++c) {
      const double rms = std::sqrt(squares[c] / static_cast<double>(rows));
      const double bound = programs::DotBound(output.shape.dtype, output.shape.dtype, rows, rms, 1);
      const auto index = static_cast<int64_t>(c);
      comparison.Expect(sums[c], output.at(index), bound, where, index);
    }
  }
  return comparison.Finish();
}

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const int64_t elements, ElementsOf(params));
  const DType dtype = params.Type("dtype");
  const int64_t columns = ColumnsOf(elements);
  const Shape matrix{dtype, {elements / columns, columns}};
  const Shape sums{dtype, {columns}};
  Program program =
      LoopProgram(target, dtype, {{"a", matrix, {}}}, sums,
                  [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                    return std::vector{body.Reduce("add", in[0], 0, {0})};
                  });
  program.work.vector_flops[dtype] = static_cast<double>(elements);
  CountBytes(program, static_cast<double>(program.device_bytes()),
             fmt::format("1 array: {}x{} read; {} sums written", matrix.dims[0], columns, columns));
  // Some compilers sum in two stages.
  program.expected.ops = {{{"reduce", "reduce-window"}, 1, true}};
  program.expected.dtype_matters = false;
  program.check = [matrix](const programs::CheckInput& input) { return Check(matrix, input); };
  return program;
}

}  // namespace

Benchmark read_benchmark() {
  std::vector<ParamSpec> params = ArrayParams("size of the array");
  // Narrower types would be widened first, which costs more than reading them.
  params[1].allowed = {"f64", "f32", "s32"};
  return {.name = "read",
          .component = Component::kHbm,
          .summary = "sums the rows of an array: reads only",
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
