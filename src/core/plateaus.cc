#include "core/plateaus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/stats.h"
#include "base/text.h"

namespace ridgeline {
namespace {

constexpr double kTolerance = 0.08;
// A working set this many times the last cache leaves no more than a quarter of it cached.
constexpr double kPastCache = 4;

std::string Bytes(double bytes) { return FormatBytes(static_cast<int64_t>(std::llround(bytes))); }

}  // namespace

std::string Plateau::name() const {
  return fmt::format("{}..{}", Bytes(from_bytes), Bytes(to_bytes));
}

PlateauReport FindPlateaus(std::span<const RatePoint> points,
                           std::optional<double> last_cache_bytes) {
  std::vector<RatePoint> sorted;
  for (const RatePoint& point : points) {
    if (point.rate > 0 && point.bytes > 0) sorted.push_back(point);
  }
  std::ranges::sort(sorted, {}, &RatePoint::bytes);

  PlateauReport report;
  // From the largest size down: its rate is the surest, every smaller one may sit on a slope.
  for (size_t end = sorted.size(); end > 0;) {
    std::vector<double> rates = {sorted[end - 1].rate};
    size_t begin = end - 1;
    while (begin > 0 && std::fabs(sorted[begin - 1].rate / Median(rates) - 1) <= kTolerance) {
      rates.push_back(sorted[--begin].rate);
    }
    if (sorted[begin].bytes < sorted[end - 1].bytes) {
      const auto [lo, hi] = std::ranges::minmax(rates);
      report.plateaus.push_back(
          {sorted[begin].bytes, sorted[end - 1].bytes, sorted[end - 1].rate, lo, hi});
    }
    end = begin;
  }
  std::ranges::reverse(report.plateaus);

  if (sorted.empty()) {
    report.note = "not measured";
  } else if (!last_cache_bytes) {
    report.note = fmt::format("working set {}, cache level unresolved", Bytes(sorted.back().bytes));
  } else if (sorted.back().bytes <= kPastCache * *last_cache_bytes) {
    report.note = "not measured past the last cache";
  } else if (report.plateaus.empty() || report.plateaus.back().to_bytes < sorted.back().bytes) {
    report.note = "no plateau past the last cache: the rate still changes with the size";
  } else {
    report.memory = report.plateaus.back();
  }
  return report;
}

}  // namespace ridgeline
