#include "programs/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "programs/product_check.h"

namespace ridgeline::programs {
namespace {

using ::testing::HasSubstr;

TEST(Comparison, ElementsWithinTheirBounds) {
  Comparison comparison("all");
  comparison.Expect(1, 1.25, 0.5, "x", 0);
  comparison.ExpectEqual(2, 2, "x", 1);
  const CheckResult result = comparison.Finish();
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.detail, "all: 2 elements, worst error 50.0 % of its bound");
}

TEST(Comparison, OneWrongElementIsNamed) {
  Comparison comparison("all");
  comparison.Expect(1, 1, 0.5, "x", 0);
  comparison.Expect(1, 2, 0.5, "x", 41);
  comparison.Expect(1, 3, 0.5, "x", 42);
  const CheckResult result = comparison.Finish();
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(
      result.detail,
      HasSubstr("2 of 3 elements wrong; first x[41]: expected 1, got 2, allowed error 0.5"));
}

TEST(Comparison, NothingComparedAndNaNFail) {
  EXPECT_FALSE(Comparison("none").Finish().passed);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [expected, actual] :
       {std::pair{1.0, kNaN}, std::pair{kNaN, 1.0}, std::pair{kNaN, kNaN}}) {
    Comparison comparison("nan");
    comparison.Expect(expected, actual, std::numeric_limits<double>::infinity(), "x", 0);
    EXPECT_FALSE(comparison.Finish().passed);
  }
}

TEST(Comparison, SpansAsSingleElements) {
  const std::vector<double> expected = {1, 2, 3, 4};
  const std::vector<double> bound = {0.1, 0, 0.1, 0.1};
  std::vector<double> actual = {1.05, 2, 3, 4};
  Comparison good("span");
  good.ExpectEach(expected, actual, bound, "x", 0);
  EXPECT_THAT(good.Finish().detail, HasSubstr("4 elements, worst error 50.0 %"));
  for (size_t i = 0; i < actual.size(); ++i) {
    std::vector<double> wrong = actual;
    wrong[i] += 0.2;
    Comparison bad("span");
    bad.ExpectEach(expected, actual, bound, "x", 0);
    bad.ExpectEach(expected, wrong, bound, "x", 100);
    const CheckResult result = bad.Finish();
    EXPECT_FALSE(result.passed);
    EXPECT_THAT(result.detail, HasSubstr("x[" + std::to_string(100 + i) + "]"));
    EXPECT_EQ(bad.compared(), 8);
  }
  actual[2] = std::numeric_limits<double>::quiet_NaN();
  Comparison nan("span");
  nan.ExpectEach(expected, actual, bound, "x", 0);
  EXPECT_FALSE(nan.Finish().passed);
}

// What matrix units do: f32 sums in the order of k. Their error grows with eps·K, and the bound
// has to hold it; an error of a hundredth of a typical element must not hide in it.
TEST(Bounds, HoldASumInOrder) {
  for (const int64_t k : {16, 1024, 65536}) {
    const RandomStream a(1, 0);
    const RandomStream b(1, 1);
    double worst = 0;
    for (int64_t trial = 0; trial < (1 << 22) / k; ++trial) {
      float sum = 0;
      double exact = 0;
      for (int64_t i = 0; i < k; ++i) {
        const auto x = static_cast<float>(a.Normal(trial * k + i));
        const auto y = static_cast<float>(b.Normal(trial * k + i));
        sum += x * y;
        exact += static_cast<double>(x) * y;
      }
      worst = std::max(worst, std::fabs(sum - exact));
    }
    const double bound = DotBound(DType::kF32, DType::kF32, k, 1, 1);
    EXPECT_LT(worst, bound) << k;
    EXPECT_LT(bound, 0.01 * std::sqrt(static_cast<double>(k)) * 8) << k;
    // design.md section 3.7, with the norms sqrt(K) of both vectors.
    const auto terms = static_cast<double>(k);
    EXPECT_LE(bound, 2 * kErrorFactor * Epsilon(DType::kF32) * std::sqrt(terms) * terms);
  }
  EXPECT_EQ(DotBound(DType::kS8, DType::kS32, 1000, 5, 5), 0);
}

// Products that are too large to compare element by element.
class WideProduct : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 48;
  static constexpr int64_t kN = 2048;
  static constexpr int64_t kK = 4096;  // 4.03e8 multiply-adds, just over the budget

  struct Run : CheckInput {
    explicit Run(DType result) : c(Shape{result, {kRows, kN}}) {}
    InputSource Input(int, int input) const override {
      const Shape shape{DType::kBF16, input == 0 ? std::vector{kRows, kK} : std::vector{kK, kN}};
      return {{"x", shape, {}}, input, 0, 1, "normal"};
    }
    const HostTensor& Output(int, int) const override { return c; }
    int partitions() const override { return 1; }
    HostTensor c;
  };

  // f32 sums in the order of k.
  static const Run& Right() {
    static const Run kRight = [] {
      Run right(DType::kBF16);
      const std::vector<double> a = right.Input(0, 0).Values();
      const std::vector<double> b = right.Input(0, 1).Values();
      std::vector<float> b32(b.begin(), b.end());
      for (int64_t i = 0; i < kRows; ++i) {
        std::vector<float> row(kN);
        for (int64_t x = 0; x < kK; ++x) {
          const auto factor = static_cast<float>(a[static_cast<size_t>(i * kK + x)]);
          const float* const line = b32.data() + x * kN;
          for (size_t j = 0; j < kN; ++j) row[j] += factor * line[j];
        }
        for (int64_t j = 0; j < kN; ++j) right.c.set(i * kN + j, row[static_cast<size_t>(j)]);
      }
      return right;
    }();
    return kRight;
  }

  static CheckResult Check(const Run& input) {
    return CheckMatmul({.batch = 1,
                        .m = kRows,
                        .n = kN,
                        .k = kK,
                        .types = {.operand = DType::kBF16, .result = DType::kBF16}},
                       input);
  }
};

TEST_F(WideProduct, RightOnePasses) {
  const CheckResult result = Check(Right());
  EXPECT_TRUE(result.passed) << result.detail;
  EXPECT_THAT(result.detail, HasSubstr("sampled rows"));
}

TEST_F(WideProduct, OneWrongElementAnywhereFails) {
  for (const int64_t index : {int64_t{0}, kN - 1, 7 * kN + 13, 31 * kN + 1024, kRows * kN - 1}) {
    Run wrong = Right();
    // Off by one typical element, sqrt(K).
    wrong.c.set(index, wrong.c.at(index) + std::sqrt(static_cast<double>(kK)));
    EXPECT_FALSE(Check(wrong).passed) << index;
  }
}

TEST_F(WideProduct, SwappedNeighboursFail) {
  int caught = 0;
  for (int64_t column = 100; column < 106; ++column) {
    Run wrong = Right();
    const int64_t at = 20 * kN + column;
    const double left = wrong.c.at(at);
    wrong.c.set(at, wrong.c.at(at + 1));
    wrong.c.set(at + 1, left);
    caught += Check(wrong).passed ? 0 : 1;
  }
  EXPECT_GE(caught, 4);  // two that are nearly equal may pass
}

TEST_F(WideProduct, SwappedRowsAndMissingTermsFail) {
  Run wrong = Right();
  for (int64_t j = 0; j < kN; ++j) {
    const double up = wrong.c.at(5 * kN + j);
    wrong.c.set(5 * kN + j, wrong.c.at(6 * kN + j));
    wrong.c.set(6 * kN + j, up);
  }
  EXPECT_FALSE(Check(wrong).passed);
  Run empty(DType::kBF16);
  EXPECT_FALSE(Check(empty).passed);
}

}  // namespace
}  // namespace ridgeline::programs
