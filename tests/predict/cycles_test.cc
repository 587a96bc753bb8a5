#include "predict/cycles.h"

#include <gtest/gtest.h>

#include <string>

namespace ridgeline::predict {
namespace {

std::string Config(const std::string& cycles) {
  return R"({"flag_configs":[],"window_config":{"estimated_cycles":")" + cycles + R"("}})";
}

TEST(Cycles, AreReadWhereTheyAre) {
  EXPECT_EQ(EstimatedCycles(Config("13034")), 13034);
  EXPECT_EQ(EstimatedCycles(R"({"window_config":{}})"), std::nullopt);
  EXPECT_EQ(EstimatedCycles(""), std::nullopt);
  EXPECT_EQ(EstimatedCycles(R"({"estimated_cycles":"7"})"), std::nullopt);  // not the window's
}

TEST(Cycles, MarksOfUnknownAreNoCycles) {
  EXPECT_EQ(EstimatedCycles(Config("9223372036854775807")), std::nullopt);
  EXPECT_EQ(EstimatedCycles(Config("4611686018427387904")), std::nullopt);
  EXPECT_EQ(EstimatedCycles(Config("0")), std::nullopt);
  EXPECT_EQ(EstimatedCycles(Config("-1")), std::nullopt);
  EXPECT_EQ(EstimatedCycles(Config("many")), std::nullopt);
  EXPECT_EQ(EstimatedCycles(R"({"window_config":{"estimated_cycles":)"), std::nullopt);
}

}  // namespace
}  // namespace ridgeline::predict
