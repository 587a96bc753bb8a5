#include "programs/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ridgeline::programs {

double DotBound(DType accumulate, DType result, int64_t terms, double rms_a, double rms_b) {
  return kErrorFactor * (Epsilon(accumulate) + Epsilon(result)) *
         std::sqrt(static_cast<double>(terms)) * rms_a * rms_b;
}

void Comparison::Expect(double expected, double actual, double bound, std::string_view where,
                        int64_t index) {
  ++compared_;
  const double error = std::fabs(actual - expected);
  if (error <= bound) {
    if (bound > 0) worst_ = std::max(worst_, error / bound);
    return;
  }
  if (wrong_++ == 0) {
    first_wrong_ = fmt::format("{}[{}]: expected {}, got {}, allowed error {}", where, index,
                               expected, actual, bound);
  }
}

CheckResult Comparison::Finish() const {
  if (compared_ == 0) return {false, what_ + ": nothing was compared"};
  if (wrong_ > 0) {
    return {false, fmt::format("{}: {} of {} elements wrong; first {}", what_, wrong_, compared_,
                               first_wrong_)};
  }
  return {true, fmt::format("{}: {} elements, worst error {} of its bound", what_, compared_,
                            FormatShare(worst_))};
}

}  // namespace ridgeline::programs
