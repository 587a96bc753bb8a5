// Levels of a rate over the working set: found in the sweep, not assumed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ridgeline {

struct RatePoint {
  double bytes = 0;  // working set
  double rate = 0;   // B/s
};

// At least two neighbouring sizes with about the same rate.
struct Plateau {
  double from_bytes = 0;
  double to_bytes = 0;
  double rate = 0;  // at the largest size, which is the least touched by the level above
  double lo = 0;
  double hi = 0;

  // "8 MiB..64 MiB"
  std::string name() const;
};

struct PlateauReport {
  std::vector<Plateau> plateaus;  // by ascending size
  // The last plateau when it lies past four times the last cache: device memory.
  std::optional<Plateau> memory;
  std::string note;  // why `memory` is absent
};

// Rates within 8 % of the median of their neighbours so far belong to one plateau.
// `last_cache_bytes` absent: not known, so no plateau is called memory.
PlateauReport FindPlateaus(std::span<const RatePoint> points,
                           std::optional<double> last_cache_bytes);

}  // namespace ridgeline
