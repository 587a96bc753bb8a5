// Small statistics: order statistics, Student's t, and the slope of time against count.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ridgeline {

// 0 for an empty span.
double Median(std::span<const double> values);
double Mean(std::span<const double> values);
// Sample standard deviation (n - 1); 0 for fewer than two values.
double StandardDeviation(std::span<const double> values);
// Median absolute deviation from the median, times 1.4826 (consistent for a normal).
double Mad(std::span<const double> values);
// Quantile of Student's t for a two-sided interval of `confidence` with `degrees` of freedom >= 1.
double StudentT(double confidence, int degrees);

struct Interval {
  double value = 0;
  double lo = 0;
  double hi = 0;
  // Half the width as a share of the value; infinite for a value of 0.
  double relative_half_width() const;
};

// value from `centre`, half-width t * s / sqrt(n) of `values` at 95 %. Needs two values; one gives
// an infinite interval.
Interval MeanInterval(double centre, std::span<const double> values);

// Values that come in groups which may differ by more than the values inside one: the wider of
// MeanInterval(centre, values) and MeanInterval(centre, means of the groups). One group tells
// nothing about others and leaves the first.
Interval GroupedInterval(double centre, std::span<const double> values,
                         std::span<const int> groups);

struct Sample {
  int64_t count = 0;
  double seconds = 0;
  int block = 0;  // of all passes
  int pass = 0;   // process that measured it
};

struct Slope {
  Interval per_count;                // seconds per one more count
  Interval intercept;                // seconds at count 0
  std::vector<int64_t> counts;       // distinct counts, ascending
  std::vector<double> medians;       // median seconds per count over all blocks
  std::vector<double> block_slopes;  // in order of the blocks
  std::vector<double> pass_slopes;   // mean of the blocks of each pass
  double r2 = 0;                     // of the straight line through the medians
};

// Time against count. The value is Theil-Sen over pairs within a block (Theil 1950, Sen 1968), the
// interval Student's t over the blocks' own slopes, so that it holds the variance between blocks,
// and where there are several passes over their means as well, whichever is wider (docs/adr/0009).
// nullopt with fewer than two distinct counts.
std::optional<Slope> FitSlope(std::span<const Sample> samples);

// Coefficient of determination of the least-squares line through (x, y); 1 when y is constant and
// the line meets it.
double LineR2(std::span<const double> x, std::span<const double> y);

}  // namespace ridgeline
