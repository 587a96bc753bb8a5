// B[j,i] = A[i,j].
#include <fmt/format.h>

#include <cmath>

#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

// The squarest matrix of so many elements: its rows, at most its columns.
int64_t RowsOf(int64_t elements) {
  auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
  while (elements % rows != 0) --rows;
  return rows;
}

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const int64_t elements, ElementsOf(params));
  const int64_t rows = RowsOf(elements);
  const int64_t columns = elements / rows;
  if (rows == 1) {
    return Fail(Code::kInvalidArgument,
                fmt::format("parameter 'bytes' gives {} elements, which make no matrix of two rows "
                            "or more",
                            elements));
  }
  const DType dtype = params.Type("dtype");
  Program program =
      LoopProgram(target, dtype, {{"a", {dtype, {rows, columns}}, {}}}, {dtype, {columns, rows}},
                  [](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                    const Value rows_first = body.RowMajor(in[0]);
                    return std::vector{body.RowMajor(body.Transpose(rows_first, {1, 0}))};
                  });
  CountBytes(program, static_cast<double>(program.device_bytes()),
             fmt::format("2 arrays: {}x{} read, its transpose written", rows, columns));
  // A compiler may call it a copy between layouts.
  program.expected.ops = {{{"transpose", "copy"}, 1, true}};
  program.expected.dtype_matters = false;
  program.check = [rows, columns](const programs::CheckInput& input) {
    return programs::CheckMoved(input, "B[j,i] = A[i,j]", [&](int) -> programs::Origins {
      return [=](int64_t start, std::span<int64_t> origins) {
        int64_t row = start / rows;  // of B, a column of A
        int64_t column = start % rows;
        for (int64_t& origin : origins) {
          origin = column * columns + row;
          if (++column == rows) {
            column = 0;
            ++row;
          }
        }
      };
    });
  };
  return program;
}

}  // namespace

Benchmark transpose_benchmark() {
  return {.name = "transpose",
          .component = Component::kHbm,
          .summary = "transposes a matrix, as square as its size allows",
          .params = ArrayParams("size of the matrix; there are two"),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
