#include "predict/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "predict/target_named.h"

namespace ridgeline::predict {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(MemoryWords, AreReadFromTheCompilersOwn) {
  const MemoryWords words = ReadMemoryWords(
      "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO "
      "temporaries (24.00G) exceeds available HBM (15.75G). HLO module: m.");
  EXPECT_EQ(words.needed, 24. * (1 << 30));
  EXPECT_EQ(words.available, 15.75 * (1 << 30));
  EXPECT_FALSE(ReadMemoryWords("no (numbers) here (12)").needed);
}

TEST(Cost, IsThatOfTheWholeSlice) {
  Target target = TargetNamed("tpu-7x:2x2x1");
  target.machine.price = {.value = 9,
                          .currency = "USD",
                          .per = "chip-hour",
                          .includes = "",
                          .source = "s",
                          .as_of = "d"};
  EXPECT_DOUBLE_EQ(CostOf({1800, 3600}, target)->per_step.lower, 18);
  EXPECT_DOUBLE_EQ(CostOf({1800, 3600}, target)->per_step.upper, 36);
  target.machine.price->per = "device-hour";
  EXPECT_DOUBLE_EQ(CostOf({1800, 3600}, target)->per_step.upper, 72);
  target.machine.price->per = "vm-hour";
  target.spec.chips_per_host = 4;
  EXPECT_DOUBLE_EQ(CostOf({1800, 3600}, target)->per_step.upper, 9);
  target.machine.price.reset();
  EXPECT_FALSE(CostOf({1, 2}, target));
}

workload::Workload SomeWork(double memory) {
  workload::Numbers numbers;
  numbers.flops = 1.97e14;
  numbers.bytes = 8.19e10;
  workload::Workload work = workload::FromNumbers(numbers).value();
  work.memory_bytes = memory;
  return work;
}

TEST(ByRoofs, TimeFitAndMoneyFollowFromTheSheet) {
  const TargetPrediction one =
      PredictByRoofs(SomeWork(1e9), TargetNamed("tpu-v5e:1x1"), "there is a reason");
  EXPECT_EQ(one.status, PredictionStatus::kPredicted);
  EXPECT_FALSE(one.compiled);
  EXPECT_TRUE(*one.fits);
  EXPECT_NEAR(one.step->seconds.lower, 1, 1e-9);
  EXPECT_NEAR(one.step->seconds.upper, 1.1, 1e-9);
  EXPECT_NEAR(one.mfu->upper, 1, 1e-9);
  EXPECT_NEAR(one.mfu->lower, 1 / 1.1, 1e-9);
  EXPECT_NEAR(one.cost->per_step.lower, 1.2 / 3600, 1e-9);
  EXPECT_THAT(one.notes, Contains(HasSubstr("there is a reason")));
  const Json json = ToJson(one);
  EXPECT_TRUE(BoolOr(json, "predicted"));
  EXPECT_EQ(StringOr(json, "by"), "roofs");
}

TEST(ByRoofs, WhatDoesNotFitIsSaid) {
  const TargetPrediction one =
      PredictByRoofs(SomeWork(20e9), TargetNamed("tpu-v5e:1x1"), "there is a reason");
  EXPECT_EQ(one.status, PredictionStatus::kDoesNotFit);
  const std::string text = PredictionReport(std::vector{one}, {});
  EXPECT_THAT(text, HasSubstr("does not fit: needs 18.63 GiB of 16 GiB on each device"));
  EXPECT_THAT(text, HasSubstr("All of it is predicted"));
}

}  // namespace
}  // namespace ridgeline::predict
