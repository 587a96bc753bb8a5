#include "model/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ridgeline::model {
namespace {

constexpr double kTooFast = 1.03;
constexpr double kConfirmed = 0.8;
constexpr double kUnexplained = 1.1;

// Probability that the longer of two log-normal times is the longer one.
double Confidence(const RoofTime& first, const RoofTime& second) {
  if (!(second.seconds > 0)) return 1;
  const double z =
      std::log(first.seconds / second.seconds) / std::hypot(first.log_sd, second.log_sd);
  return 0.5 * (1 + std::erf(z / std::sqrt(2)));
}

}  // namespace

double Ridge(double flops_per_s, double bytes_per_s) { return flops_per_s / bytes_per_s; }

double Attainable(double flops_per_s, double intensity, double bytes_per_s) {
  return std::min(flops_per_s, intensity * bytes_per_s);
}

double CriticalBatch(double flops_per_s, double bytes_per_s, double bytes_per_weight) {
  return Ridge(flops_per_s, bytes_per_s) * bytes_per_weight / 2;
}

double ExactCriticalBatch(double d, double f, double flops_per_s, double bytes_per_s,
                          double bytes_per_weight, double bytes_per_activation) {
  const double rest = 2 * d * f / Ridge(flops_per_s, bytes_per_s) - bytes_per_activation * (d + f);
  return rest > 0 ? bytes_per_weight * d * f / rest : std::numeric_limits<double>::infinity();
}

double TwoChipContraction(double flops_per_s, double link_bytes_per_s) {
  return 2 * Ridge(flops_per_s, link_bytes_per_s);
}

double DotIntensity(double elements) { return (2 * elements - 1) / (4 * elements + 2); }

double StridedEfficiency(double element_bytes, double stride_bytes, double granule_bytes) {
  const double moved = std::min(std::max(stride_bytes, element_bytes), granule_bytes);
  return element_bytes / std::max(moved, element_bytes);
}

double GatherEfficiency(double row_bytes, double granule_bytes, double misalignment) {
  return row_bytes / (granule_bytes * std::ceil((row_bytes + misalignment) / granule_bytes));
}

double RampBandwidth(double bytes, double startup_s, double bytes_per_s) {
  return bytes / (startup_s + bytes / bytes_per_s);
}

double LatencyBandwidthProduct(double latency_s, double bytes_per_s) {
  return latency_s * bytes_per_s;
}

double OverlappedTime(double lower_s, double upper_s, double omega) {
  return lower_s + (1 - omega) * (upper_s - lower_s);
}

double Omega(double lower_s, double upper_s, double measured_s) {
  return upper_s > lower_s ? (upper_s - measured_s) / (upper_s - lower_s) : 1;
}

double PipelinedTime(double longest_s, double sum_s, double chunks) {
  return OverlappedTime(longest_s, sum_s, 1 - 1 / chunks);
}

Bound Classify(std::span<const RoofTime> roofs, double balance) {
  std::vector<RoofTime> sorted;
  for (const RoofTime& roof : roofs) {
    if (roof.seconds > 0) sorted.push_back(roof);
  }
  std::ranges::stable_sort(sorted, std::greater(), &RoofTime::seconds);
  Bound bound;
  if (sorted.empty()) {
    bound.label = "none";
    return bound;
  }
  const RoofTime& first = sorted[0];
  const RoofTime second = sorted.size() > 1 ? sorted[1] : RoofTime{};
  bound.first = first.name;
  bound.second = second.name;
  bound.lower_s = first.seconds;
  for (const RoofTime& roof : sorted) bound.upper_s += roof.seconds;
  bound.margin = (first.seconds - second.seconds) / first.seconds;
  bound.confidence = Confidence(first, second);
  bound.balanced = bound.margin < balance;
  bound.label = bound.balanced ? fmt::format("balanced {}/{}", std::min(first.name, second.name),
                                             std::max(first.name, second.name))
                               : first.name;
  return bound;
}

Confirmed Confirm(double lower_s, double upper_s, double measured_s) {
  Confirmed result;
  result.efficiency = lower_s / measured_s;
  result.omega = std::clamp(Omega(lower_s, upper_s, measured_s), 0.0, 1.0);
  if (result.efficiency > kTooFast) {
    result.verdict = Confirmation::kTooFast;
  } else if (result.efficiency >= kConfirmed) {
    result.verdict = Confirmation::kConfirmed;
  } else if (measured_s <= kUnexplained * upper_s) {
    result.verdict = Confirmation::kLimitedOverlap;
  } else {
    result.verdict = Confirmation::kUnexplained;
    result.residual_s = measured_s - upper_s;
  }
  return result;
}

std::string_view Name(Confirmation verdict) {
  static constexpr std::array<std::string_view, 4> kNames = {"too_fast", "confirmed",
                                                             "limited_overlap", "unexplained"};
  return kNames[static_cast<size_t>(verdict)];
}

}  // namespace ridgeline::model
