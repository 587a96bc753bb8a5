#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridgeline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProgressLineTest, ShowsShareAndTimeLeft) {
  const std::string line = ProgressLine(0.25, 10, 40, 30, "gemm sample", 120);
  EXPECT_THAT(line, HasSubstr("[#####...............] 10/40"));
  EXPECT_THAT(line, HasSubstr("1:30 left"));
  EXPECT_THAT(line, HasSubstr("gemm sample"));
}

TEST(ProgressLineTest, NoForecastFromTwoCases) {
  EXPECT_THAT(ProgressLine(0.05, 2, 40, 30, "x", 120), Not(HasSubstr("left")));
}

// Two of three passes of all cases are over, none of the cases is.
TEST(ProgressLineTest, CasesHalfWayCount) {
  const std::string line = ProgressLine(2.0 / 3, 0, 40, 20, "gemm sample", 120);
  EXPECT_THAT(line, HasSubstr("[#############.......] 0/40, 0:10 left"));
}

TEST(ProgressLineTest, FitsTheTerminal) {
  EXPECT_EQ(ProgressLine(0.25, 10, 40, 30, std::string(500, 'x'), 60).size(), 60u);
}

TEST(ProgressLineTest, NothingToDoIsAFullBar) {
  EXPECT_THAT(ProgressLine(1, 0, 0, 0, "", 80), HasSubstr("[####################] 0/0"));
}

}  // namespace
}  // namespace ridgeline::cli
