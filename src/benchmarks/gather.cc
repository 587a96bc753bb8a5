// out[r] = table[index[r]]: random rows, some more than once.
#include <fmt/format.h>

#include "benchmarks/rows.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const RowTable rows, ResolveRows(params));
  Program program = LoopProgram(
      target, rows.table.dtype,
      {{"table", rows.table, {}},
       {"index", rows.index, {.kind = programs::FillKind::kIndex, .limit = rows.rows()}}},
      rows.table, [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
        const Value table = body.RowMajor(in[0]);
        const Value gathered = body.Define(
            fmt::format("\"stablehlo.gather\"({}, {}) <{{dimension_numbers = "
                        "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
                        "start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, "
                        "slice_sizes = array<i64: 1, {}>}}> : ({}, {}) -> {}",
                        table.name, in[1].name, rows.row_elements(), rows.table.ToStableHlo(),
                        rows.index.ToStableHlo(), rows.table.ToStableHlo()),
            rows.table);
        return std::vector{body.RowMajor(gathered)};
      });
  CountBytes(program,
             static_cast<double>(2 * rows.table.device_bytes() + rows.index.device_bytes()),
             fmt::format("{} rows of {} read (with repetition) and written, indices read",
                         rows.rows(), rows.row_bytes()));
  program.labels.push_back(fmt::format("random rows of {} B", rows.row_bytes()));
  program.expected.ops = {{{"gather"}, 1, true}};
  program.expected.dtype_matters = false;
  program.check = [width = rows.row_elements()](const programs::CheckInput& input) {
    return programs::CheckMoved(input, "out[r] = table[index[r]]",
                                [&](int partition) -> programs::Origins {
                                  return [width, index = input.Input(partition, 1)](
                                             int64_t start, std::span<int64_t> origins) {
                                    int64_t row = start / width;
                                    int64_t column = start % width;
                                    auto first = static_cast<int64_t>(index(row)) * width;
                                    for (int64_t& origin : origins) {
                                      if (column == width) {
                                        column = 0;
                                        first = static_cast<int64_t>(index(++row)) * width;
                                      }
                                      origin = first + column++;
                                    }
                                  };
                                });
  };
  return program;
}

}  // namespace

Benchmark gather_benchmark() {
  return {.name = "gather",
          .component = Component::kHbm,
          .summary = "reads random rows of a table",
          .params = RowParams(),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
