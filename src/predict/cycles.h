// The estimate that libtpu's compiler leaves with an operation.
#pragma once

#include <optional>
#include <string_view>

namespace ridgeline::predict {

// window_config.estimated_cycles of a backend config: clock cycles of one execution. Absent when
// there is none, or one of the marks that stand for "unknown" (zero, and 2^62 or more).
std::optional<double> EstimatedCycles(std::string_view backend_config);

}  // namespace ridgeline::predict
