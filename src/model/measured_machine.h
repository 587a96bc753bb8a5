// A result file -> what the machine was seen to give.
#pragma once

#include <optional>
#include <string_view>

#include "core/machine.h"
#include "store/results.h"

namespace ridgeline::model {

struct MeasuredOptions {
  std::string_view file_name;
  const Machine* spec = nullptr;           // to mark what lies above it; may be null
  std::optional<double> last_cache_bytes;  // absent: the largest on-chip memory of the spec
};

// Every figure is for one device, measured, and names its case. What failed, was computed in
// another type, simulated, predicted or run on unusual data enters no roof. Of several cases the
// one with the highest lower end of its interval counts.
//   peaks: GEMMs, convolutions and vector chains, by unit and dtype
//   memory: "hbm" by access pattern, only from plateaus past four times the last cache (else its
//     note says why it is absent); the other plateaus of the sweep, named by their working sets
//   axes: latency and bandwidth of each collective, and the best bus bandwidth
//   host link, launch latency
// A figure above the spec keeps its value and is marked in its note and the machine's; one above
// three times the spec is impossible and left out.
Machine MeasuredMachine(const store::ResultFile& results, const MeasuredOptions& options);

}  // namespace ridgeline::model
