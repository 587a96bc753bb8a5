#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace ridgeline {
namespace {

TEST(Random, PermutationMeetsEveryIndexOnce) {
  for (const int64_t size : {1, 2, 3, 7, 64, 65, 1000, 65537}) {
    const Permutation permutation(42, size);
    std::vector<bool> seen(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = permutation(i);
      ASSERT_GE(at, 0);
      ASSERT_LT(at, size);
      ASSERT_FALSE(seen[static_cast<size_t>(at)]) << size << ": " << at << " twice";
      seen[static_cast<size_t>(at)] = true;
    }
  }
}

TEST(Random, PermutationIsNotTheIdentityAndFollowsTheSeed) {
  const Permutation a(1, 10000);
  const Permutation b(2, 10000);
  int fixed = 0;
  int same = 0;
  for (int64_t i = 0; i < 10000; ++i) {
    fixed += a(i) == i ? 1 : 0;
    same += a(i) == b(i) ? 1 : 0;
  }
  EXPECT_LT(fixed, 10);  // 1 is expected
  EXPECT_LT(same, 10);
}

TEST(Random, MomentsOfTheNormal) {
  constexpr int64_t kCount = 1 << 20;
  const RandomStream stream(3, 4);
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double v = stream.Normal(i);
    ASSERT_LT(std::fabs(v), 4.2);
    sum += v;
    squares += v * v;
    fourth += v * v * v * v;
  }
  EXPECT_NEAR(sum / kCount, 0, 4e-3);      // 4 standard errors
  EXPECT_NEAR(squares / kCount, 1, 8e-3);  // of which 2e-3 is missing in the cut tails
  EXPECT_NEAR(fourth / kCount, 3, 0.06);
}

TEST(Random, NormalsAreTheSameInBulk) {
  const RandomStream stream(5, 6);
  std::vector<double> values(1000);
  stream.Normals(77, values);
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(values[static_cast<size_t>(i)], stream.Normal(77 + i));
  }
}

TEST(Random, StreamsAndSeedsDiffer) {
  const RandomStream a(1, 0);
  std::set<uint64_t> seen;
  for (int64_t i = 0; i < 1000; ++i) seen.insert(a.Bits(i));
  EXPECT_EQ(seen.size(), 1000u);
  for (const RandomStream& other : {RandomStream(1, 1), RandomStream(2, 0), RandomStream(0, 1)}) {
    for (int64_t i = 0; i < 1000; ++i) EXPECT_FALSE(seen.contains(other.Bits(i)));
  }
}

TEST(Random, BelowCoversItsRangeEvenly) {
  const RandomStream stream(9, 9);
  std::vector<int> counts(10);
  for (int64_t i = 0; i < 100000; ++i) {
    const int64_t v = stream.Below(i, 10);
    ASSERT_GE(v, 0);
    ASSERT_LT(v, 10);
    ++counts[static_cast<size_t>(v)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);  // 5 standard deviations
  EXPECT_LT(stream.Below(0, int64_t{1} << 62), int64_t{1} << 62);
}

}  // namespace
}  // namespace ridgeline
