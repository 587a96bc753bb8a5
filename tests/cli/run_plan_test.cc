#include "cli/run_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run_header.h"

namespace ridgeline::cli {
namespace {

using ::testing::HasSubstr;

TEST(ParseDurationTest, SecondsMinutesHours) {
  EXPECT_EQ(ParseDuration("90").value(), 90);
  EXPECT_EQ(ParseDuration("90s").value(), 90);
  EXPECT_EQ(ParseDuration("10m").value(), 600);
  EXPECT_EQ(ParseDuration("1.5h").value(), 5400);
}

TEST(ParseDurationTest, AnythingElseIsRefused) {
  for (const char* text : {"", "m", "10x", "-3", "0", "nan", "inf", "1e99", "10 m"}) {
    EXPECT_FALSE(ParseDuration(text)) << text;
  }
}

TEST(EstimateTimeTest, MoreCasesAndLongerBlocksTakeLonger) {
  Case c;
  const TimeEstimate one = EstimateTime({c});
  EXPECT_GT(one.hi, one.lo);
  EXPECT_GT(one.lo, 0);
  EXPECT_NEAR(EstimateTime({c, c}).lo, 2 * one.lo, 1e-9);
  c.precision.block_seconds *= 10;
  EXPECT_GT(EstimateTime({c}).lo, one.lo);
}

RunPlan Plan() {
  RunPlan plan;
  plan.suite_name = "quick";
  plan.suite_text = "version: 1";
  plan.plugin.library = "/p.so";
  plan.plugin.sha256 = "abc";
  plan.mesh = MakeMesh(std::vector<DevicePlace>(4), {}).value();
  return plan;
}

Json HeaderOf(const RunPlan& plan) {
  return MakeRunHeader(plan, {}, {{"mesh", ToJson(plan.mesh)}, {"devices", Json::array()}});
}

TEST(ResumeConflictTest, TheSameRunGoesOn) {
  EXPECT_EQ(ResumeConflict(HeaderOf(Plan()), Plan(), {}), "");
}

TEST(ResumeConflictTest, EveryDifferenceIsNamed) {
  const Json header = HeaderOf(Plan());
  RunPlan plan = Plan();
  plan.suite_text = "version: 2";
  EXPECT_THAT(ResumeConflict(header, plan, {}), HasSubstr("another suite"));
  plan = Plan();
  plan.plugin.sha256 = "def";
  EXPECT_THAT(ResumeConflict(header, plan, {}), HasSubstr("another plugin"));
  plan = Plan();
  plan.mesh = MakeMesh(std::vector<DevicePlace>(8), {}).value();
  EXPECT_THAT(ResumeConflict(header, plan, {}), HasSubstr("begun with 4 devices, now there are 8"));
  RunOptions options;
  options.seed = 5;
  EXPECT_THAT(ResumeConflict(header, Plan(), options), HasSubstr("--seed 1"));
}

}  // namespace
}  // namespace ridgeline::cli
