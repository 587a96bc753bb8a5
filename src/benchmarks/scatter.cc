// out[index[r]] = updates[r], index a permutation: every row is written once, so that each round
// gives the same result whatever was there before.
#include <fmt/format.h>

#include "benchmarks/rows.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

std::string ScatterText(const RowTable& rows, const Value& base, const Value& updates,
                        const Value& index) {
  const Shape scalar{rows.table.dtype, {}};
  return fmt::format(
      "\"stablehlo.scatter\"({0}, {1}, {2}) <{{scatter_dimension_numbers = "
      "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
      "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, "
      "unique_indices = true}}> ({{\n"
      "      ^bb0(%old: {3}, %new: {3}):\n"
      "        stablehlo.return %new : {3}\n"
      "      }}) : ({4}, {5}, {4}) -> {4}",
      base.name, index.name, updates.name, scalar.ToStableHlo(), rows.table.ToStableHlo(),
      rows.index.ToStableHlo());
}

// Where each row of the result came from.
std::vector<int64_t> Inverse(const programs::InputSource& index, int64_t rows) {
  std::vector<int64_t> origin(static_cast<size_t>(rows));
  for (int64_t r = 0; r < rows; ++r) origin[static_cast<size_t>(index(r))] = r;
  return origin;
}

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const RowTable rows, ResolveRows(params));
  Program program = LoopProgram(
      target, rows.table.dtype,
      {{"updates", rows.table, {}},
       {"index", rows.index, {.kind = programs::FillKind::kPermutation}}},
      rows.table, [&](Body& body, const std::vector<Value>& in, const std::vector<Value>& carried) {
        const Value base = body.RowMajor(carried[0]);
        const Value updates = body.RowMajor(in[0]);
        const Value result = body.Define(ScatterText(rows, base, updates, in[1]), rows.table);
        return std::vector{body.RowMajor(result)};
      });
  CountBytes(program,
             static_cast<double>(2 * rows.table.device_bytes() + rows.index.device_bytes()),
             fmt::format("{} rows of {} read and written once, indices read", rows.rows(),
                         rows.row_bytes()));
  program.labels.push_back(fmt::format("random rows of {} B", rows.row_bytes()));
  program.expected.ops = {{{"scatter"}, 1, true}};
  program.expected.dtype_matters = false;
  program.check = [width = rows.row_elements(),
                   count = rows.rows()](const programs::CheckInput& input) {
    return programs::CheckMoved(
        input, "out[index[r]] = updates[r]", [&](int partition) -> programs::Origins {
          return [width, inverse = Inverse(input.Input(partition, 1), count)](
                     int64_t start, std::span<int64_t> origins) {
            auto row = static_cast<size_t>(start / width);
            int64_t column = start % width;
            for (int64_t& origin : origins) {
              if (column == width) {
                column = 0;
                ++row;
              }
              origin = inverse[row] * width + column++;
            }
          };
        });
  };
  return program;
}

}  // namespace

Benchmark scatter_benchmark() {
  return {.name = "scatter",
          .component = Component::kHbm,
          .summary = "writes the rows of a table in random order",
          .params = RowParams(),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
