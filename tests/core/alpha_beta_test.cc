#include "core/alpha_beta.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ridgeline {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1048576;

std::vector<SizePoint> Law(double alpha, double bandwidth, const std::vector<double>& sizes) {
  std::vector<SizePoint> points;
  for (const double bytes : sizes) points.push_back({bytes, alpha + bytes / bandwidth});
  return points;
}

TEST(FitAlphaBeta, ExactPointsGiveTheLawBack) {
  const auto law = FitAlphaBeta(Law(4.55e-6, 86.3e9, {kKiB, 16 * kKiB, kMiB, 64 * kMiB}));
  ASSERT_TRUE(law);
  EXPECT_NEAR(law->alpha_s, 4.55e-6, 1e-12);
  EXPECT_NEAR(law->bytes_per_s, 86.3e9, 1e3);
  ASSERT_TRUE(law->half_size_bytes);
  EXPECT_NEAR(*law->half_size_bytes, 4.55e-6 * 86.3e9, 1);
}

// Every pattern of 3 % up or down of a TPU's measured law, several samples a size.
TEST(FitAlphaBeta, ThreePercentNoiseMovesTheLawLittle) {
  const std::vector<double> noise = {1.03, 0.97, 1.01, 0.98, 1.0, 1.02, 0.99};
  std::vector<SizePoint> points;
  for (const SizePoint& exact : Law(4.55e-6, 86.3e9, {kKiB, 16 * kKiB, kMiB, 64 * kMiB})) {
    for (size_t i = 0; i < noise.size(); ++i) {
      points.push_back({exact.bytes, exact.seconds * noise[i]});
    }
  }
  const auto law = FitAlphaBeta(points);
  ASSERT_TRUE(law);
  EXPECT_NEAR(law->alpha_s, 4.55e-6, 0.1 * 4.55e-6);
  EXPECT_NEAR(law->bytes_per_s, 86.3e9, 0.02 * 86.3e9);
  EXPECT_NEAR(law->alpha_s + kMiB / law->bytes_per_s, 16.70e-6, 0.03 * 16.70e-6);
}

// An unweighted fit would be ruled by the largest point: 3 % of its 780 µs is five alphas.
TEST(FitAlphaBeta, ANoisyLargePointLeavesAlphaAlone) {
  for (const double factor : {0.97, 1.03}) {
    std::vector<SizePoint> points =
        Law(4.55e-6, 86.3e9, {kKiB, 4 * kKiB, 16 * kKiB, kMiB, 64 * kMiB});
    points.back().seconds *= factor;
    const auto law = FitAlphaBeta(points);
    ASSERT_TRUE(law);
    EXPECT_NEAR(law->alpha_s, 4.55e-6, 0.1 * 4.55e-6);
  }
}

TEST(FitAlphaBeta, HalfSizeOutsideTheSweepIsNotReached) {
  // alpha * bandwidth is 100 MB, the largest size 1 MiB.
  const auto law = FitAlphaBeta(Law(1e-3, 100e9, {4, kKiB, 16 * kKiB, kMiB}));
  ASSERT_TRUE(law);
  EXPECT_FALSE(law->half_size_bytes);
  // 100 bytes, the smallest size 1 KiB.
  EXPECT_FALSE(FitAlphaBeta(Law(1e-9, 100e9, {kKiB, kMiB}))->half_size_bytes);
}

TEST(FitAlphaBeta, AlphaIsNeverNegative) {
  const std::vector<SizePoint> points = {{1000, 1e-6}, {2000, 2.2e-6}, {4000, 5e-6}};
  const auto law = FitAlphaBeta(points);
  ASSERT_TRUE(law);
  EXPECT_EQ(law->alpha_s, 0);
  EXPECT_GT(law->bytes_per_s, 0);
}

TEST(FitAlphaBeta, WithoutTwoSizesOrGrowthThereIsNoLaw) {
  EXPECT_FALSE(FitAlphaBeta({}));
  EXPECT_FALSE(FitAlphaBeta(Law(1e-6, 1e9, {kKiB})));
  EXPECT_FALSE(FitAlphaBeta(Law(1e-6, 1e9, {kKiB, kKiB})));
  EXPECT_FALSE(FitAlphaBeta(std::vector<SizePoint>{{1000, 2e-6}, {2000, 1e-6}}));
  EXPECT_FALSE(FitAlphaBeta(std::vector<SizePoint>{{1000, 0}, {2000, std::nan("")}}));
}

Measurement Message(const std::string& bench, const std::string& group, int64_t bytes,
                    double seconds) {
  Measurement m;
  m.component = Component::kNetwork;
  m.bench = bench;
  m.params.Set("bytes", bytes);
  m.params.Set("group", group);
  m.time_s = Interval{seconds, seconds, seconds};
  return m;
}

TEST(AttachAlphaBeta, EachSweepGetsItsOwnLaw) {
  std::vector<Measurement> measurements;
  for (const int64_t bytes : {1024, 65536, 1048576}) {
    const auto size = static_cast<double>(bytes);
    measurements.push_back(Message("all_reduce", "all", bytes, 1e-6 + size / 1e9));
    measurements.push_back(Message("all_reduce", "x", bytes, 2e-6 + size / 4e9));
  }
  measurements.push_back(Message("all_gather", "all", 1024, 1e-6));
  measurements.push_back(Message("all_reduce", "all", 4, 1));
  measurements.back().status = CaseStatus::kSuspect;
  AttachAlphaBeta(measurements);
  for (size_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(measurements[i].alpha_beta);
    EXPECT_NEAR(measurements[i].alpha_beta->alpha_s, i % 2 == 0 ? 1e-6 : 2e-6, 1e-9);
    EXPECT_NEAR(measurements[i].alpha_beta->bytes_per_s, i % 2 == 0 ? 1e9 : 4e9, 1e6);
  }
  EXPECT_FALSE(measurements[6].alpha_beta);
  EXPECT_FALSE(measurements[7].alpha_beta);
}

}  // namespace
}  // namespace ridgeline
