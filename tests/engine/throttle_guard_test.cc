// reports.md C13: what the guard asks for and what it makes of the blocks that come after.
#include "engine/throttle_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ridgeline::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<double> Normal(size_t n, double centre, double sigma, std::mt19937_64& random) {
  std::normal_distribution<double> normal(centre, sigma);
  std::vector<double> values(n);
  for (double& value : values) value = normal(random);
  return values;
}

void AddLevels(ThrottleGuard& guard, const std::vector<double>& levels, double timed_s = 0.01) {
  for (const double level : levels) {
    guard.Add({.round_s = level, .timed_s = timed_s, .host_mhz = std::nullopt});
  }
}

// The canned samples of C13.
TEST(SlowdownTest, C13_FiftyAndFiftyAreTwoHalves) {
  std::vector<double> levels(50, 1.00e-3);
  levels.insert(levels.end(), 50, 1.35e-3);
  const std::optional<Slowdown> found = FindSlowdown(levels);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, 50u);
  EXPECT_DOUBLE_EQ(found->before_s, 1.00e-3);
  EXPECT_DOUBLE_EQ(found->after_s, 1.35e-3);
}

TEST(SlowdownTest, C13_AStepAnywhereIsFoundInNoise) {
  std::mt19937_64 random(1);
  for (size_t at = 3; at <= 9; ++at) {
    std::vector<double> levels = Normal(at, 1, 0.01, random);
    const std::vector<double> slow = Normal(12 - at, 1.35, 0.01, random);
    levels.insert(levels.end(), slow.begin(), slow.end());
    const std::optional<Slowdown> found = FindSlowdown(levels);
    ASSERT_TRUE(found) << at;
    EXPECT_EQ(found->at, at);
  }
}

TEST(SlowdownTest, ADriftUpwardsIsOneAndWhatBecomesFasterIsNot) {
  std::vector<double> levels;
  for (int i = 0; i < 12; ++i) levels.push_back(1 + 0.02 * i);
  EXPECT_TRUE(FindSlowdown(levels));
  std::ranges::reverse(levels);
  EXPECT_FALSE(FindSlowdown(levels));
  EXPECT_FALSE(FindSlowdown({1.35, 1.35, 1.35, 1.35, 1, 1, 1, 1}));
  EXPECT_FALSE(FindSlowdown({1, 1, 1, 1.35, 1.35}));
}

TEST(SlowdownTest, NoiseIsSeldomTakenForOne) {
  std::mt19937_64 random(7);
  int found = 0;
  for (int i = 0; i < 2000; ++i) found += FindSlowdown(Normal(12, 1, 0.1, random)) ? 1 : 0;
  EXPECT_LT(found, 20);
}

TEST(OutlierTest, IsFlagged) {
  EXPECT_THAT(FindOutliers(std::vector<double>{1, 1.01, 3, 0.99, 1, 1.02}), ElementsAre(2));
  EXPECT_THAT(FindOutliers(std::vector<double>{1, 1, 1, 1, 1.04}), IsEmpty());
  EXPECT_THAT(FindOutliers(std::vector<double>{1, 9, 1}), IsEmpty());
}

TEST(GuardTest, C13_WhatComesBackLosesItsSlowBlocksOnly) {
  ThrottleGuard guard(10);
  AddLevels(guard, {1, 1, 1, 1.35, 1.35, 1.35});
  EXPECT_TRUE(guard.watching());
  EXPECT_DOUBLE_EQ(guard.RestNeeded(), 0.1);
  guard.Rested(0.1);
  AddLevels(guard, {1.35});
  EXPECT_DOUBLE_EQ(guard.RestNeeded(), 0.2);
  guard.Rested(0.2);
  AddLevels(guard, {1.01});
  EXPECT_FALSE(guard.watching());
  EXPECT_FALSE(guard.gave_up());
  EXPECT_THAT(guard.discarded(), ElementsAre(3, 4, 5, 6));
  EXPECT_EQ(guard.RestNeeded(), 0);
  EXPECT_EQ(
      guard.Words(),
      "throttled: a round took 1 s up to block 3, 1.35 s from there (+35 %); 4 slow blocks are "
      "left out");
  const Json json = guard.ToJson();
  EXPECT_EQ(json["throttled_blocks"], Json({3, 4, 5, 6}));
  EXPECT_EQ(json["discarded_blocks"], 4);
  EXPECT_EQ(json["block_s"].size(), 8u);
  EXPECT_EQ(json["rests"], 2);
  EXPECT_EQ(json["gave_up"], false);
}

TEST(GuardTest, C13_WhatDoesNotComeBackKeepsAllBlocksAndIsGivenUp) {
  ThrottleGuard guard(100);
  AddLevels(guard, {1, 1, 1, 1.35, 1.35, 1.35});
  double rested = 0;
  int rests = 0;
  while (guard.watching()) {
    ASSERT_LT(++rests, 20);
    rested += guard.RestNeeded();
    guard.Rested(guard.RestNeeded());
    AddLevels(guard, {1.35});
  }
  EXPECT_TRUE(guard.gave_up());
  EXPECT_THAT(guard.discarded(), IsEmpty());
  EXPECT_NEAR(rested, 6.3, 1e-9);
  EXPECT_THAT(guard.Words(), HasSubstr("did not come back after 6 rests, 6.3 s in all"));
  EXPECT_EQ(guard.ToJson()["gave_up"], true);
}

TEST(GuardTest, C13_RestsStayInsideTheTimeLimit) {
  ThrottleGuard guard(1);
  AddLevels(guard, {1, 1, 1, 1.35, 1.35, 1.35}, 0.1);  // 0.6 s of 1 s are gone
  guard.Rested(guard.RestNeeded());
  AddLevels(guard, {1.35}, 0.1);
  EXPECT_TRUE(guard.watching());
  guard.Rested(guard.RestNeeded());  // 0.2 s more make 1 s
  AddLevels(guard, {1.35}, 0.1);
  EXPECT_TRUE(guard.gave_up());
  ThrottleGuard none(0.5);
  AddLevels(none, {1, 1, 1, 1.35, 1.35, 1.35}, 0.1);
  EXPECT_TRUE(none.gave_up());
  EXPECT_THAT(none.Words(), HasSubstr("no time was left to let it rest"));
}

TEST(GuardTest, ASlowClockIsNamed) {
  ThrottleGuard guard(0);
  for (const double level : {1.0, 1.0, 1.0, 1.35, 1.35, 1.35}) {
    guard.Add({.round_s = level, .timed_s = 0.01, .host_mhz = level > 1 ? 2200 : 3000});
  }
  EXPECT_THAT(guard.Words(), HasSubstr("the host's clock fell from 3000 to 2200 MHz"));
}

TEST(GuardTest, SaysNothingOfAQuietCase) {
  ThrottleGuard guard(10);
  AddLevels(guard, {1, 1, 1.01, 1, 1, 1, 1, 1.02});
  EXPECT_FALSE(guard.watching() || guard.gave_up());
  EXPECT_EQ(guard.Words(), "");
  EXPECT_EQ(guard.ToJson().size(), 1u);
}

}  // namespace
}  // namespace ridgeline::engine
