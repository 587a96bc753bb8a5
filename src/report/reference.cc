// Shares of a baseline: another result file of the same cases.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/alpha_beta.h"
#include "report/figures.h"
#include "report/report.h"

namespace ridgeline::report {
namespace {

constexpr double kLeastSpread = 0.05;
constexpr std::string_view kNoExpectation = "no expectation for this machine yet";

}  // namespace

const Measurement* FindUsable(const store::ResultFile& in, std::string_view id) {
  const auto it = std::ranges::find(in.measurements, id, &Measurement::id);
  return it != in.measurements.end() && IsUsable(it->status) ? &*it : nullptr;
}

const Rate* SameRate(const Measurement& in, const Rate& rate) {
  const auto it = std::ranges::find_if(in.rates, [&rate](const Rate& other) {
    return other.name == rate.name && other.unit == rate.unit;
  });
  return it != in.rates.end() && it->value.value > 0 ? &*it : nullptr;
}

void Derive(std::span<Measurement> measurements, const store::ResultFile* baseline) {
  AttachAlphaBeta(measurements);
  if (baseline == nullptr) return;
  for (Measurement& m : measurements) {
    const Measurement* was = IsUsable(m.status) ? FindUsable(*baseline, m.id) : nullptr;
    for (Rate& rate : m.rates) {
      const Rate* reference = was ? SameRate(*was, rate) : nullptr;
      rate.of_reference =
          reference ? std::optional(rate.value.value / reference->value.value) : std::nullopt;
    }
  }
}

std::string_view ReferenceName(const ComponentSummary& summary, const store::ResultFile* baseline) {
  if (!summary.score) return "no reference";
  return baseline != nullptr ? "baseline" : "spec";
}

std::string Expectation(const ComponentSummary& summary, const store::ResultFile* baseline) {
  const Measurement* was =
      summary.best && baseline ? FindUsable(*baseline, summary.best->id) : nullptr;
  const Rate* reference = was ? SameRate(*was, *summary.figure) : nullptr;
  if (reference == nullptr) return std::string(kNoExpectation);
  const Interval& before = reference->value;
  const Interval& now = summary.figure->value;
  const double a = std::max(0.0, std::min(before.lo, before.value * (1 - kLeastSpread)));
  const double spread = before.value * (1 + kLeastSpread);
  const double b = std::isfinite(before.hi) ? std::max(before.hi, spread) : spread;
  const std::string_view place = now.hi < a ? "below" : now.lo > b ? "above" : "inside";
  return fmt::format("{} the expected range {} to {} of the baseline", place,
                     FormatRate(a, reference->unit), FormatRate(b, reference->unit));
}

}  // namespace ridgeline::report
