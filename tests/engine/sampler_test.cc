#include "engine/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ridgeline::engine {
namespace {

using ::testing::Each;
using ::testing::Ge;

// launch + count * round, with relative noise of one sigma per run.
TimedRun Law(double launch, double round, double noise = 0, uint64_t seed = 7) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return [=](int64_t count) -> Result<double> {
    std::normal_distribution<double> normal(1, noise);
    const double scale = noise > 0 ? normal(*random) : 1;
    return (launch + static_cast<double>(count) * round) * scale;
  };
}

void RunToTheEnd(Sampler& sampler) {
  ASSERT_TRUE(sampler.Calibrate());
  while (sampler.state() == Sampler::State::kGoing) ASSERT_TRUE(sampler.RunBlock());
}

TEST(SamplerTest, SlopeIsTheRoundAndInterceptTheLaunch) {
  Sampler sampler(Law(100e-6, 20e-6), {}, 1, {});
  RunToTheEnd(sampler);
  const auto fit = sampler.Fit();
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->per_count.value, 20e-6, 1e-12);
  EXPECT_NEAR(fit->intercept.value, 100e-6, 1e-9);
  EXPECT_EQ(sampler.state(), Sampler::State::kConverged);
}

TEST(SamplerTest, FiveCountsTheLargestFiveTimesTheSmallest) {
  Sampler sampler(Law(1e-4, 1e-6), {}, 1, {});
  RunToTheEnd(sampler);
  const auto fit = sampler.Fit();
  ASSERT_EQ(fit->counts.size(), 5u);
  EXPECT_EQ(fit->counts.back(), 5 * fit->counts.front());
  EXPECT_GE(sampler.blocks(), 3);
}

TEST(SamplerTest, OneBlockTakesAboutTheAskedTime) {
  Precision precision;
  precision.block_seconds = 0.05;
  Sampler sampler(Law(50e-6, 3e-6), precision, 1, {});
  ASSERT_TRUE(sampler.Calibrate());
  ASSERT_TRUE(sampler.RunBlock());
  EXPECT_GT(sampler.timed_s(), 0.02);
  EXPECT_LT(sampler.timed_s(), 0.1);
}

TEST(SamplerTest, LongRoundsUseTheSmallestCounts) {
  Sampler sampler(Law(0, 2.0), {}, 1, {});
  RunToTheEnd(sampler);
  EXPECT_EQ(sampler.Fit()->counts, (std::vector<int64_t>{1, 2, 3, 4, 5}));
}

TEST(SamplerTest, CountsStayUnderTheBoundOfBuffers) {
  Sampler sampler(Law(1e-5, 1e-7), {}, 1, {.most = 64});
  RunToTheEnd(sampler);
  EXPECT_LE(sampler.Fit()->counts.back(), 64);
}

// reports.md C14: 20 µs ± 8 % never reaches 0.5 %; it stops inside its budget and says so.
TEST(SamplerTest, NoisyKernelStopsInsideItsBudget) {
  Precision precision{.relative_half_width = 0.0005,
                      .min_blocks = 3,
                      .max_blocks = 10,
                      .block_seconds = 0.01,
                      .time_limit_s = 5};
  Sampler sampler(Law(0, 20e-6, 0.08), precision, 1, {});
  RunToTheEnd(sampler);
  EXPECT_EQ(sampler.state(), Sampler::State::kOutOfBlocks);
  EXPECT_EQ(sampler.blocks(), 10);
  const Interval slope = sampler.Fit()->per_count;
  EXPECT_GT(slope.relative_half_width(), 0.0005);
  EXPECT_LT(slope.lo, 20e-6);
  EXPECT_GT(slope.hi, 20e-6);
}

TEST(SamplerTest, TimeLimitEndsTheCase) {
  Precision precision{.relative_half_width = 1e-9,
                      .min_blocks = 3,
                      .max_blocks = 1000,
                      .block_seconds = 1,
                      .time_limit_s = 4};
  Sampler sampler(Law(0, 0.1, 0.05), precision, 1, {});
  RunToTheEnd(sampler);
  EXPECT_EQ(sampler.state(), Sampler::State::kOutOfTime);
}

// reports.md C3: the first run is slower (lazy initialisation) and must not enter the figure.
TEST(SamplerTest, FirstRunIsKeptApart) {
  int runs = 0;
  Sampler sampler(
      [&runs](int64_t count) -> Result<double> {
        return (runs++ == 0 ? 0.1 : 0) + 0.01 * static_cast<double>(count);
      },
      {}, 1, {});
  RunToTheEnd(sampler);
  EXPECT_NEAR(sampler.first_run_s(), 0.11, 1e-9);
  EXPECT_NEAR(sampler.Fit()->per_count.value, 0.01, 1e-9);
  EXPECT_NEAR(sampler.Fit()->intercept.value, 0, 1e-9);
}

// Two at once: one takes as long as two, three as long as four.
TEST(SamplerTest, RoundsThatRunSideBySideNeedLargerCounts) {
  const auto pairs = [](int64_t count) -> Result<double> {
    return 1e-5 + 0.01 * static_cast<double>((count + 1) / 2);
  };
  Sampler sampler(pairs, {}, 1, {.least_base = 4});
  RunToTheEnd(sampler);
  EXPECT_EQ(sampler.base(), 4);
  EXPECT_NEAR(sampler.Fit()->per_count.value, 0.005, 1e-9);
  EXPECT_GT(sampler.Fit()->r2, 0.999);
  Sampler few(pairs, {}, 1, {.most = 10, .least_base = 4});
  RunToTheEnd(few);
  EXPECT_EQ(few.base(), 2);
}

TEST(SamplerTest, TheLargestCountIsWarmBeforeTheFirstSample) {
  std::vector<int64_t> counts;
  Sampler sampler(
      [&counts](int64_t count) -> Result<double> {
        counts.push_back(count);
        return 0.01 * static_cast<double>(count);
      },
      {}, 1, {.warm_ups = 2});
  ASSERT_TRUE(sampler.Calibrate());
  EXPECT_EQ(counts, (std::vector<int64_t>{1, 1, 5, 5}));
}

TEST(SamplerTest, ErrorsOfARunComeThrough) {
  Sampler sampler([](int64_t) -> Result<double> { return Fail(Code::kInternal, "boom"); }, {}, 1,
                  {});
  const Status status = sampler.Calibrate();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "boom");
}

// Three passes share the blocks; the later ones use the counts of the first, and the fit is of all.
TEST(SamplerTest, PassesShareTheBlocks) {
  const Precision precision{.relative_half_width = 0,
                            .min_blocks = 3,
                            .max_blocks = 12,
                            .passes = 3,
                            .block_seconds = 0.01,
                            .time_limit_s = 100};
  std::vector<Sample> samples;
  int64_t base = 0;
  for (int pass = 0; pass < 3; ++pass) {
    const double round = 20e-6 * (1 + 0.1 * pass);
    Sampler sampler(Law(1e-5, round, 0.001), precision, 1 + static_cast<uint64_t>(pass), {});
    if (pass > 0) sampler.Continue(base, samples);
    RunToTheEnd(sampler);
    EXPECT_EQ(sampler.blocks(), 4);
    if (pass > 0) {
      EXPECT_EQ(sampler.base(), base);
    }
    base = sampler.base();
    samples = sampler.Samples();
    const auto fit = sampler.Fit();
    EXPECT_EQ(fit->pass_slopes.size(), static_cast<size_t>(pass) + 1);
    EXPECT_NEAR(fit->pass_slopes.back(), round, 0.01 * round);
    EXPECT_EQ(fit->block_slopes.size(), 4u * (static_cast<size_t>(pass) + 1));
  }
  EXPECT_NEAR(FitSlope(samples)->per_count.value, 22e-6, 0.3e-6);
  EXPECT_GT(FitSlope(samples)->per_count.relative_half_width(), 0.2);
}

// reports.md C15: more runs are more samples, never more work.
TEST(SamplerTest, C15TheRateDoesNotDependOnTheNumberOfRuns) {
  for (const int blocks : {1, 5, 20}) {
    Precision precision{.relative_half_width = 0,
                        .min_blocks = blocks,
                        .max_blocks = blocks,
                        .block_seconds = 0.01,
                        .time_limit_s = 100};
    Sampler sampler(Law(1e-5, 20e-6, 0.001), precision, 1, {});
    RunToTheEnd(sampler);
    EXPECT_EQ(sampler.blocks(), blocks);
    EXPECT_NEAR(sampler.Fit()->per_count.value, 20e-6, 20e-6 * 0.01) << blocks;
  }
}

// reports.md C13: 1.00 ms, then 1.35 ms.
TEST(DriftTest, AStepBetweenTheThirdsIsDrift) {
  const std::vector<double> stepped = {1.00, 1.00, 1.01, 1.00, 1.35, 1.36, 1.35, 1.34};
  EXPECT_TRUE(IsDrifting(stepped));
  EXPECT_NEAR(Drift(stepped), 0.35, 0.02);
}

TEST(DriftTest, NoiseIsNot) {
  EXPECT_FALSE(IsDrifting({1.00, 1.10, 0.95, 1.05, 1.02, 0.97, 1.08, 0.99}));
  // Two noisy blocks at either end that happen not to overlap.
  EXPECT_FALSE(IsDrifting({1.00, 1.08, 1.02, 1.11, 0.97, 1.05, 1.10, 1.18}));
  EXPECT_FALSE(IsDrifting({1.00, 1.35}));
  EXPECT_FALSE(IsDrifting({}));
}

}  // namespace
}  // namespace ridgeline::engine
