// Shares of a baseline, another result file of the same cases, or of a spec.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/alpha_beta.h"
#include "model/nominal.h"
#include "report/figures.h"
#include "report/report.h"

namespace ridgeline::report {
namespace {

constexpr double kLeastSpread = 0.05;
constexpr std::string_view kNoExpectation = "no expectation for this machine yet";

// A baseline that was asked for goes before the spec, for every case.
std::optional<double> ReferenceOf(const Measurement& m, const Rate& rate,
                                  const store::ResultFile* baseline, const Machine* spec) {
  if (baseline == nullptr) return model::NominalRate(m, rate.name, *spec);
  const Measurement* was = FindUsable(*baseline, m.id);
  const Rate* reference = was ? SameRate(*was, rate) : nullptr;
  return reference ? std::optional(reference->value.value) : std::nullopt;
}

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

void Derive(std::span<Measurement> measurements, const store::ResultFile* baseline,
            const Machine* spec) {
  AttachAlphaBeta(measurements);
  if (baseline == nullptr && spec == nullptr) return;
  for (Measurement& m : measurements) {
    const bool usable = IsUsable(m.status);
    for (Rate& rate : m.rates) {
      const std::optional<double> reference =
          usable ? ReferenceOf(m, rate, baseline, spec) : std::nullopt;
      rate.of_reference = reference ? std::optional(rate.value.value / *reference) : std::nullopt;
      if (baseline != nullptr || !rate.of_reference) continue;
      std::string remark = model::AboveSpecRemark(*rate.of_reference, m.component);
      if (remark.empty()) continue;
      remark = fmt::format("{} {}", rate.name, remark);
      if (*rate.of_reference > model::kImpossibleShare) {
        m.status = CaseStatus::kSuspect;
        m.reason = remark;
      } else {
        m.labels.push_back(remark);
      }
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
