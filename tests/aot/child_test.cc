#include "child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace ridgeline::tools {
namespace {

using ::testing::HasSubstr;

TEST(ChildTest, HandsOverLongTexts) {
  const std::string text(1 << 20, 'x');
  const ChildResult result = RunInChild([&] { return text; }, 30);
  EXPECT_TRUE(result.finished) << result.problem;
  EXPECT_EQ(result.output, text);
}

TEST(ChildTest, ItsLogIsKeptApart) {
  const ChildResult result = RunInChild(
      []() -> std::string {
        std::fputs("a word\n", stderr);
        return "text";
      },
      30);
  EXPECT_EQ(result.log, "a word\n");
  EXPECT_EQ(result.output, "text");
}

TEST(ChildTest, AnAbortCostsTheChildOnly) {
  const ChildResult result = RunInChild([]() -> std::string { std::abort(); }, 30);
  EXPECT_FALSE(result.finished);
  EXPECT_THAT(result.problem, HasSubstr("signal 6"));
}

TEST(ChildTest, AnEarlyExitIsNoAnswer) {
  const ChildResult result = RunInChild([]() -> std::string { _exit(3); }, 30);
  EXPECT_FALSE(result.finished);
  EXPECT_THAT(result.problem, HasSubstr("code 3"));
}

TEST(ChildTest, AHangEndsAtItsLimit) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult result = RunInChild(
      []() -> std::string {
        sleep(60);
        return "too late";
      },
      0.2);
  EXPECT_FALSE(result.finished);
  EXPECT_THAT(result.problem, HasSubstr("no answer within 0.2 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
}

}  // namespace
}  // namespace ridgeline::tools
