#include "pjrt/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace ridgeline::pjrt {
namespace {

using ::testing::HasSubstr;

TEST(ChildTest, HandsOverLongTexts) {
  const std::string text(1 << 20, 'x');
  const ChildResult result = RunInChild([&] { return text; }, {.seconds = 30});
  EXPECT_TRUE(result.finished) << result.problem;
  EXPECT_EQ(result.output, text);
}

TEST(ChildTest, ItsLogIsKeptApart) {
  const ChildResult result = RunInChild(
      []() -> std::string {
        std::fputs("a word\n", stderr);
        return "text";
      },
      {.seconds = 30});
  EXPECT_EQ(result.log, "a word\n");
  EXPECT_EQ(result.output, "text");
}

TEST(ChildTest, AnAbortCostsTheChildOnly) {
  const ChildResult result = RunInChild([]() -> std::string { std::abort(); }, {.seconds = 30});
  EXPECT_FALSE(result.finished);
  EXPECT_THAT(result.problem, HasSubstr("signal 6"));
}

TEST(ChildTest, AnEarlyExitIsNoAnswer) {
  const ChildResult result = RunInChild([]() -> std::string { _exit(3); }, {.seconds = 30});
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
      {.seconds = 0.2});
  EXPECT_FALSE(result.finished);
  EXPECT_THAT(result.problem, HasSubstr("no answer within 0.2 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
}

TEST(ChildTest, EndsWhenItsAnswerIsNotNeeded) {
  int looks = 0;
  const ChildResult result = RunInChild(
      []() -> std::string {
        sleep(60);
        return "too late";
      },
      {.seconds = 50, .enough = [&looks] { return ++looks > 3; }});
  EXPECT_FALSE(result.finished);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.problem, "");
}

TEST(ChildTest, MemoryIsLimited) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow memory knows no limit";
#endif
  const ChildResult result = RunInChild(
      []() -> std::string {
        const std::string large(size_t{1} << 30, 'x');
        return large.substr(0, 1);
      },
      {.seconds = 30, .memory_bytes = int64_t{100} << 20});
  EXPECT_FALSE(result.finished);
  EXPECT_THAT(result.problem, HasSubstr("signal 6"));
}

TEST(ChildTest, RecursesDeeply) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer's own stack of calls is shorter";
#endif
  const std::function<int(int)> sum = [&sum](int n) {
    volatile char frame[1024] = {};
    return n == 0 ? frame[0] : sum(n - 1) + 1;
  };
  const ChildResult result =
      RunInChild([&] { return std::to_string(sum(100000)); }, {.seconds = 30});
  EXPECT_EQ(result.output, "100000");
}

}  // namespace
}  // namespace ridgeline::pjrt
