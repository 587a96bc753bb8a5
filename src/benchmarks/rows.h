// Tables of rows, for gather and scatter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {

struct RowTable {
  Shape table;  // [rows, elements of a row]
  Shape index;  // [rows]
  int64_t rows() const { return table.dims[0]; }
  int64_t row_elements() const { return table.dims[1]; }
  int64_t row_bytes() const { return table.device_bytes() / rows(); }
};

// `bytes` of the table, `dtype` and `row_bytes`.
std::vector<ParamSpec> RowParams();
Result<RowTable> ResolveRows(const Params& params);

}  // namespace ridgeline::benchmarks
