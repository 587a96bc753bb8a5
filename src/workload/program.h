// A counted program as a workload.
#pragma once

#include <string>

#include "hlo/analysis.h"
#include "workload/workload.h"

namespace ridgeline::workload {

// `analysis` is of what one of `devices` does. Its largest operations become the operations; the
// whole is the analysis' own total, of which they are a part.
Workload FromAnalysis(const hlo::Analysis& analysis, std::string name, int64_t devices);

}  // namespace ridgeline::workload
