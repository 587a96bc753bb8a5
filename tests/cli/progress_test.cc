#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridgeline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProgressLineTest, ShowsShareAndTimeLeft) {
  const std::string line = ProgressLine(10, 40, 30, "gemm sample", 120);
  EXPECT_THAT(line, HasSubstr("[#####...............] 10/40"));
  EXPECT_THAT(line, HasSubstr("1:30 left"));
  EXPECT_THAT(line, HasSubstr("gemm sample"));
}

TEST(ProgressLineTest, NoForecastFromTwoCases) {
  EXPECT_THAT(ProgressLine(2, 40, 30, "x", 120), Not(HasSubstr("left")));
}

TEST(ProgressLineTest, FitsTheTerminal) {
  EXPECT_EQ(ProgressLine(10, 40, 30, std::string(500, 'x'), 60).size(), 60u);
}

TEST(ProgressLineTest, NothingToDoIsAFullBar) {
  EXPECT_THAT(ProgressLine(0, 0, 0, "", 80), HasSubstr("[####################] 0/0"));
}

}  // namespace
}  // namespace ridgeline::cli
