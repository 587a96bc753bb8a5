#include "benchmarks/rows.h"

#include <fmt/format.h>

#include <limits>

namespace ridgeline::benchmarks {

std::vector<ParamSpec> RowParams() {
  std::vector<ParamSpec> params = ArrayParams("size of the table; as much is moved");
  params.push_back({.name = "row_bytes",
                    .type = ParamType::kBytes,
                    .fallback = int64_t{512},
                    .help = "size of one row, what is contiguous"});
  return params;
}

Result<RowTable> ResolveRows(const Params& params) {
  RL_ASSIGN(const int64_t elements, ElementsOf(params));
  const DType dtype = params.Type("dtype");
  const int64_t row_bytes = params.Integer("row_bytes");
  const int64_t row = row_bytes / HostBytesPerElement(dtype);
  if (row_bytes % HostBytesPerElement(dtype) != 0 || row == 0 || elements % row != 0) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("parameter 'row_bytes' is {}; expected whole elements of {} that divide "
                    "the table of {} bytes",
                    row_bytes, Name(dtype), params.Integer("bytes")));
  }
  const int64_t rows = elements / row;
  const DType index = rows <= std::numeric_limits<int32_t>::max() ? DType::kS32 : DType::kS64;
  return RowTable{{dtype, {rows, row}}, {index, {rows}}};
}

}  // namespace ridgeline::benchmarks
