// Short names of cases for tables: the benchmark and what tells it from its neighbours.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/measurement.h"

namespace ridgeline::report {

// One a measurement, in order: the parameters that vary inside the same benchmark; a benchmark's
// only case shows its sizes. Equal extents share one value ("k=m=n=512"), a dtype and a size in
// bytes stand without their names.
std::vector<std::string> CaseLabels(std::span<const Measurement* const> measurements);

}  // namespace ridgeline::report
