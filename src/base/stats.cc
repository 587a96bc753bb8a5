#include "base/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace ridgeline {
namespace {

// Continued fraction of the regularised incomplete beta function (Lentz's method).
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  if (std::fabs(d) < kTiny) d = kTiny;
  d = 1 / d;
  double h = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      if (std::fabs(d) < kTiny) d = kTiny;
      c = 1 + term / c;
      if (std::fabs(c) < kTiny) c = kTiny;
      d = 1 / d;
      h *= d * c;
    }
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  return h;
}

double RegularisedBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log(1 - x));
  return x < (a + 1) / (a + b + 2) ? front * BetaFraction(a, b, x) / a
                                   : 1 - front * BetaFraction(b, a, 1 - x) / b;
}

// P(|T| > t).
double TwoSidedTail(double t, double degrees) {
  return RegularisedBeta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double TheilSen(std::span<const Sample> samples, std::vector<double>& pair_slopes) {
  pair_slopes.clear();
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t j = i + 1; j < samples.size(); ++j) {
      if (samples[i].block != samples[j].block) continue;
      const int64_t run = samples[j].count - samples[i].count;
      if (run == 0) continue;
      pair_slopes.push_back((samples[j].seconds - samples[i].seconds) / static_cast<double>(run));
    }
  }
  return Median(pair_slopes);
}

// In the order of the groups' numbers.
std::vector<double> GroupMeans(std::span<const double> values, std::span<const int> groups) {
  std::map<int, std::vector<double>> members;
  for (size_t i = 0; i < values.size(); ++i) members[groups[i]].push_back(values[i]);
  std::vector<double> means;
  means.reserve(members.size());
  for (const auto& [group, of_group] : members) means.push_back(Mean(of_group));
  return means;
}

double MedianIntercept(std::span<const Sample> samples, double slope) {
  std::vector<double> rest;
  rest.reserve(samples.size());
  for (const Sample& s : samples) rest.push_back(s.seconds - slope * static_cast<double>(s.count));
  return Median(rest);
}

}  // namespace

double Median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  const size_t middle = sorted.size() / 2;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(middle),
                   sorted.end());
  if (sorted.size() % 2 == 1) return sorted[middle];
  const double below =
      *std::max_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(middle));
  return 0.5 * (below + sorted[middle]);
}

double Mean(std::span<const double> values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double StandardDeviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = Mean(values);
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double Mad(std::span<const double> values) {
  const double centre = Median(values);
  std::vector<double> deviations;
  for (const double v : values) deviations.push_back(std::fabs(v - centre));
  return 1.4826 * Median(deviations);
}

double StudentT(double confidence, int degrees) {
  const double tail = 1 - confidence;
  double lo = 0;
  double hi = 1e6;
  for (int i = 0; i < 200; ++i) {
    const double mid = 0.5 * (lo + hi);
    (TwoSidedTail(mid, degrees) > tail ? lo : hi) = mid;
  }
  return 0.5 * (lo + hi);
}

double Interval::relative_half_width() const {
  if (value == 0) return std::numeric_limits<double>::infinity();
  return 0.5 * (hi - lo) / std::fabs(value);
}

Interval MeanInterval(double centre, std::span<const double> values) {
  if (values.size() < 2) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {centre, -kInfinity, kInfinity};
  }
  const double half = StudentT(0.95, static_cast<int>(values.size()) - 1) *
                      StandardDeviation(values) / std::sqrt(static_cast<double>(values.size()));
  return {centre, centre - half, centre + half};
}

Interval GroupedInterval(double centre, std::span<const double> values,
                         std::span<const int> groups) {
  const Interval pooled = MeanInterval(centre, values);
  const std::vector<double> means = GroupMeans(values, groups);
  if (means.size() < 2) return pooled;
  const Interval between = MeanInterval(centre, means);
  return between.hi - between.lo > pooled.hi - pooled.lo ? between : pooled;
}

double LineR2(std::span<const double> x, std::span<const double> y) {
  const double mean_x = Mean(x);
  const double mean_y = Mean(y);
  double sxx = 0;
  double sxy = 0;
  double syy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sxx += (x[i] - mean_x) * (x[i] - mean_x);
    sxy += (x[i] - mean_x) * (y[i] - mean_y);
    syy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  if (sxx == 0) return 0;
  if (syy == 0) return 1;
  return std::min(1.0, sxy * sxy / (sxx * syy));
}

std::optional<Slope> FitSlope(std::span<const Sample> samples) {
  std::map<int64_t, std::vector<double>> by_count;
  std::map<int, std::vector<Sample>> by_block;
  for (const Sample& s : samples) {
    by_count[s.count].push_back(s.seconds);
    by_block[s.block].push_back(s);
  }
  if (by_count.size() < 2) return std::nullopt;

  Slope fit;
  std::vector<double> x;
  for (const auto& [count, seconds] : by_count) {
    fit.counts.push_back(count);
    x.push_back(static_cast<double>(count));
    fit.medians.push_back(Median(seconds));
  }
  fit.r2 = LineR2(x, fit.medians);

  std::vector<double> scratch;
  std::vector<double> intercepts;
  std::vector<int> passes;  // of each block
  for (const auto& [block, members] : by_block) {
    const double slope = TheilSen(members, scratch);
    if (scratch.empty()) continue;
    fit.block_slopes.push_back(slope);
    intercepts.push_back(MedianIntercept(members, slope));
    passes.push_back(members.front().pass);
  }
  const double slope = TheilSen(samples, scratch);
  fit.pass_slopes = GroupMeans(fit.block_slopes, passes);
  fit.per_count = GroupedInterval(slope, fit.block_slopes, passes);
  fit.intercept = GroupedInterval(MedianIntercept(samples, slope), intercepts, passes);
  return fit;
}

}  // namespace ridgeline
