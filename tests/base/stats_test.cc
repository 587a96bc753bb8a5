#include "base/stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace ridgeline {
namespace {

TEST(Stats, OrderStatistics) {
  EXPECT_EQ(Median(std::vector<double>{}), 0);
  EXPECT_EQ(Median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(Median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(Mean(std::vector<double>{1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(StandardDeviation(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9}),
                   std::sqrt(32.0 / 7));
  EXPECT_EQ(StandardDeviation(std::vector<double>{5}), 0);
  EXPECT_DOUBLE_EQ(Mad(std::vector<double>{1, 1, 2, 2, 4, 6, 9}), 1.4826);
}

// Two-sided quantiles as printed in every table of Student's t.
TEST(Stats, StudentTable) {
  EXPECT_NEAR(StudentT(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(StudentT(0.95, 2), 4.303, 5e-4);
  EXPECT_NEAR(StudentT(0.95, 4), 2.776, 5e-4);
  EXPECT_NEAR(StudentT(0.95, 10), 2.228, 5e-4);
  EXPECT_NEAR(StudentT(0.95, 30), 2.042, 5e-4);
  EXPECT_NEAR(StudentT(0.99, 5), 4.032, 5e-4);
  EXPECT_NEAR(StudentT(0.90, 8), 1.860, 5e-4);
  EXPECT_NEAR(StudentT(0.95, 100000), 1.960, 5e-4);
}

TEST(Stats, IntervalOfAMean) {
  // s = 1, n = 3: 4.303 / sqrt(3).
  const Interval interval = MeanInterval(2, std::vector<double>{1, 2, 3});
  EXPECT_NEAR(interval.hi, 2 + 2.4841, 1e-3);
  EXPECT_NEAR(interval.lo, 2 - 2.4841, 1e-3);
  EXPECT_NEAR(interval.relative_half_width(), 1.2421, 1e-3);
  EXPECT_TRUE(std::isinf(MeanInterval(2, std::vector<double>{2}).hi));
  EXPECT_TRUE(std::isinf(Interval{}.relative_half_width()));
}

std::vector<Sample> Line(double slope, double intercept, int block) {
  std::vector<Sample> samples;
  for (const int64_t count : {8, 1, 4, 2, 16}) {
    samples.push_back({count, slope * static_cast<double>(count) + intercept, block});
  }
  return samples;
}

std::vector<Sample> Join(std::vector<std::vector<Sample>> parts) {
  std::vector<Sample> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(Stats, SlopeOfAnExactLine) {
  const auto fit = FitSlope(Join({Line(3e-6, 1e-4, 0), Line(3e-6, 1e-4, 1), Line(3e-6, 1e-4, 2)}));
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->per_count.value, 3e-6, 1e-18);
  EXPECT_NEAR(fit->per_count.hi - fit->per_count.lo, 0, 1e-15);
  EXPECT_NEAR(fit->intercept.value, 1e-4, 1e-15);
  EXPECT_NEAR(fit->r2, 1, 1e-12);
  EXPECT_EQ(fit->counts, (std::vector<int64_t>{1, 2, 4, 8, 16}));
  EXPECT_EQ(fit->block_slopes.size(), 3u);
  EXPECT_NEAR(fit->medians[3], 8 * 3e-6 + 1e-4, 1e-15);
}

// The interval is that of the blocks' slopes 1.0, 1.1, 1.2: t(2) * 0.1 / sqrt(3), however well each
// block's own points lie on its line.
TEST(Stats, IntervalHoldsTheVarianceBetweenBlocks) {
  const auto fit = FitSlope(Join({Line(1.0, 5, 0), Line(1.1, 5, 1), Line(1.2, 5, 2)}));
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->per_count.value, 1.1, 1e-9);
  EXPECT_NEAR(0.5 * (fit->per_count.hi - fit->per_count.lo), 4.30265 * 0.1 / std::sqrt(3.0), 1e-5);
}

std::vector<Sample> OfPass(int pass, std::vector<Sample> samples) {
  for (Sample& sample : samples) sample.pass = pass;
  return samples;
}

// Blocks of one pass agree, passes do not: the interval is that of the three passes, and not the
// narrow one that nine blocks would give if they were independent.
TEST(Stats, IntervalHoldsTheVarianceBetweenPasses) {
  std::vector<Sample> samples;
  int block = 0;
  for (const double slope : {1.0, 1.0, 1.0, 1.1, 1.1, 1.1, 1.2, 1.2, 1.2}) {
    const int pass = block / 3;
    samples = Join({samples, OfPass(pass, Line(slope, 5, block++))});
  }
  const auto fit = FitSlope(samples);
  ASSERT_TRUE(fit.has_value());
  EXPECT_THAT(fit->pass_slopes, ::testing::Pointwise(::testing::DoubleNear(1e-9), {1.0, 1.1, 1.2}));
  EXPECT_NEAR(0.5 * (fit->per_count.hi - fit->per_count.lo), 4.30265 * 0.1 / std::sqrt(3.0), 1e-5);
}

// Passes whose means happen to agree do not make their blocks agree.
TEST(Stats, PassesNeverNarrowTheInterval) {
  const std::vector<double> values = {0.9, 1.1, 0.9, 1.1};
  const std::vector<int> passes = {0, 0, 1, 1};
  const Interval grouped = GroupedInterval(1, values, passes);
  EXPECT_EQ(grouped.hi, MeanInterval(1, values).hi);
  EXPECT_EQ(grouped.lo, MeanInterval(1, values).lo);
}

// Over many trials with a shift of each pass, 95 % intervals hold the truth about as often as they
// say; those over pooled blocks do not.
TEST(Stats, CoverageOfIntervalsOverPasses) {
  const RandomStream random(11, 0);
  int64_t index = 0;
  int held = 0;
  int held_pooled = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values;
    std::vector<int> passes;
    for (int pass = 0; pass < 3; ++pass) {
      const double shift = 0.05 * random.Normal(index++);
      for (int block = 0; block < 5; ++block) {
        values.push_back(1 + shift + 0.03 * random.Normal(index++));
        passes.push_back(pass);
      }
    }
    const Interval grouped = GroupedInterval(Mean(values), values, passes);
    const Interval pooled = MeanInterval(Mean(values), values);
    held += grouped.lo <= 1 && 1 <= grouped.hi ? 1 : 0;
    held_pooled += pooled.lo <= 1 && 1 <= pooled.hi ? 1 : 0;
  }
  EXPECT_GT(held, 0.93 * kTrials);
  EXPECT_LT(held_pooled, 0.8 * kTrials);
}

// A step between blocks is an intercept, not a slope: pairs are taken within a block.
TEST(Stats, ShiftBetweenBlocksDoesNotBendTheSlope) {
  std::vector<Sample> fast = Line(1, 0, 0);
  fast.resize(3);
  std::vector<Sample> slow = Line(1, 100, 1);
  slow.erase(slow.begin(), slow.begin() + 2);
  const auto fit = FitSlope(Join({fast, slow}));
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->per_count.value, 1, 1e-9);
}

TEST(Stats, NoiseAndOutliers) {
  const RandomStream random(7, 0);
  std::vector<Sample> samples;
  int64_t index = 0;
  for (int block = 0; block < 8; ++block) {
    for (const int64_t count : {1, 2, 4, 8, 16, 32}) {
      const double time = 1e-3 + 1e-4 * static_cast<double>(count);
      samples.push_back({count, time * (1 + 0.01 * random.Normal(index++)), block});
    }
  }
  samples[5].seconds *= 10;  // one preempted sample
  const auto fit = FitSlope(samples);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->per_count.value, 1e-4, 2e-6);
  EXPECT_LT(fit->per_count.lo, 1e-4);
  EXPECT_GT(fit->per_count.hi, 1e-4);
  EXPECT_GT(fit->r2, 0.99);
  EXPECT_LT(fit->r2, 1);
}

TEST(Stats, TooLittleForASlope) {
  EXPECT_FALSE(FitSlope({}).has_value());
  const std::vector<Sample> same = {{4, 1.0, 0}, {4, 1.1, 0}};
  EXPECT_FALSE(FitSlope(same).has_value());
  const auto one_block = FitSlope(Line(2, 1, 0));
  ASSERT_TRUE(one_block.has_value());
  EXPECT_NEAR(one_block->per_count.value, 2, 1e-12);
  EXPECT_TRUE(std::isinf(one_block->per_count.hi));
}

TEST(Stats, DeterminationOfALine) {
  const std::vector<double> x = {1, 2, 3, 4};
  EXPECT_NEAR(LineR2(x, std::vector<double>{2, 4, 6, 8}), 1, 1e-15);
  EXPECT_EQ(LineR2(x, std::vector<double>{5, 5, 5, 5}), 1);
  EXPECT_NEAR(LineR2(x, std::vector<double>{1, -1, -1, 1}), 0, 1e-15);
  EXPECT_NEAR(LineR2(x, std::vector<double>{1, 3, 2, 4}), 0.64, 1e-12);
}

}  // namespace
}  // namespace ridgeline
