// How often a `while` runs.
#pragma once

#include <optional>
#include <string>

#include "hlo/trace.h"

namespace ridgeline::hlo {

struct TripCount {
  std::optional<double> exact;
  std::optional<double> at_most;  // where the condition may also stop earlier
  std::string unknown;            // why `exact` is absent
};

// From the compiler's known_trip_count, or from the loop's own condition: a counter that starts at
// a constant, moves by a constant and is compared with one. `frame` is where the loop stands;
// values are looked for in its callers and in what outer loops carry unchanged.
TripCount CountTrips(Tracer& tracer, const Instruction& loop, const Frame* frame);

}  // namespace ridgeline::hlo
