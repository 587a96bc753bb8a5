// The transformer form of a workload file.
#pragma once

#include "base/error.h"
#include "spec/fields.h"
#include "workload/workload.h"

namespace ridgeline::workload {

// Reads `transformer`, `phase`, `batch` … of `fields` into one operation, with the mesh, the
// devices and what was assumed. The name and the source are the caller's.
Status ReadTransformer(const spec::Fields& fields, Workload& workload);

// Keys of a workload file that go with `transformer`, itself included.
std::span<const std::string_view> TransformerKeys();

}  // namespace ridgeline::workload
