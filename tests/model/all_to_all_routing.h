// All-to-all by brute force: every message routed axis by axis, the load of every link counted.
#pragma once

#include <span>

#include "model/collectives.h"

namespace ridgeline::model {

// Messages over the busiest directed link when every chip sends one to every other. A message that
// goes half way around a ring of even size is split over both directions.
double BusiestLink(std::span<const TorusAxis> axes);

}  // namespace ridgeline::model
