#include "predict/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridgeline::predict {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> Texts(const Result<std::vector<Flags>>& variants) {
  std::vector<std::string> texts;
  for (const Flags& flags : variants.value()) texts.push_back(ToString(flags));
  return texts;
}

TEST(Sweep, EveryCombinationAfterTheDefaults) {
  const Flags base = ParseFlags(std::vector<std::string>{"--xla_z=1"}).value();
  EXPECT_THAT(
      Texts(FlagSweep(base, std::vector<std::string>{"xla_a=1,2", "--xla_b=true,false"})),
      ::testing::ElementsAre("xla_z=1", "xla_a=1 xla_b=true xla_z=1", "xla_a=1 xla_b=false xla_z=1",
                             "xla_a=2 xla_b=true xla_z=1", "xla_a=2 xla_b=false xla_z=1"));
  EXPECT_THAT(Texts(FlagSweep({}, {})), ::testing::ElementsAre(""));
}

TEST(Sweep, ErrorsNameTheText) {
  const auto flag = [](const std::string& text) {
    return ParseFlags(std::vector<std::string>{text});
  };
  for (const char* text : {"xla_a", "", "=3", "--=3"}) {
    EXPECT_THAT(flag(text).error().message, HasSubstr("is no compiler flag")) << text;
  }
  const auto sweep = [](const std::vector<std::string>& texts) {
    return FlagSweep({{"xla_a", std::string("1")}}, texts);
  };
  for (const char* text : {"xla_b", "xla_b=", "xla_b=1,,2", "xla_b=1,"}) {
    EXPECT_THAT(sweep({text}).error().message, HasSubstr("is no sweep")) << text;
  }
  EXPECT_THAT(sweep({"xla_a=2"}).error().message, HasSubstr("xla_a is named twice"));
  EXPECT_THAT(sweep({"xla_b=1,2,3,4,5,6,7,8,9", "xla_c=1,2,3,4,5,6,7,8"}).error().message,
              HasSubstr("more than 64"));
}

TargetPrediction Taking(double seconds, Flags flags) {
  TargetPrediction one;
  one.target = "tpu-v6e:1x1";
  one.flags = std::move(flags);
  one.step.emplace().seconds = {seconds, seconds};
  return one;
}

TEST(Sweep, TheChangeIsAgainstTheDefaults) {
  std::vector<TargetPrediction> predictions = {Taking(2, {}),
                                               Taking(1.5, {{"xla_a", std::string("1")}})};
  TargetPrediction refused;
  refused.target = "tpu-v6e:1x1";
  refused.flags = {{"xla_no", std::string("1")}};
  refused.status = PredictionStatus::kRefused;
  refused.reason = "No such compile option: 'xla_no'";
  predictions.push_back(refused);
  EXPECT_DOUBLE_EQ(Change(predictions[1], predictions[0]).value(), -0.25);
  EXPECT_FALSE(Change(predictions[2], predictions[0]));
  const std::string text = SweepReport(predictions, {.table = {.width = 80}});
  EXPECT_THAT(text, HasSubstr("-25.0 %"));
  EXPECT_THAT(text, HasSubstr("the compiler's defaults"));
  EXPECT_THAT(text, HasSubstr("No such compile option: 'xla_no'"));
  EXPECT_THAT(text, HasSubstr("predicted"));
}

}  // namespace
}  // namespace ridgeline::predict
