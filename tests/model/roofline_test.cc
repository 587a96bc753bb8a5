// Bounds and confirmation away from the worked examples: one roof, none, infinite intensity.
#include "model/roofline.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ridgeline::model {
namespace {

TEST(Classify, OneRoofIsCertain) {
  const Bound bound = Classify(std::vector<RoofTime>{{"compute", 2.0}, {"memory", 0.0}});
  EXPECT_EQ(bound.label, "compute");
  EXPECT_EQ(bound.second, "");
  EXPECT_EQ(bound.margin, 1);
  EXPECT_EQ(bound.confidence, 1);
  EXPECT_EQ(bound.lower_s, 2);
  EXPECT_EQ(bound.upper_s, 2);
}

TEST(Classify, NoWorkHasNoBound) {
  EXPECT_EQ(Classify({}).label, "none");
  EXPECT_EQ(Classify(std::vector<RoofTime>{{"compute", 0.0}}).label, "none");
}

TEST(Classify, WithinATenthIsBalanced) {
  const auto label = [](double second) {
    return Classify(std::vector<RoofTime>{{"memory", 1.0}, {"compute", second}}).label;
  };
  EXPECT_EQ(label(0.91), "balanced compute/memory");
  EXPECT_EQ(label(0.89), "memory");
  EXPECT_EQ(label(1.0), "balanced compute/memory");
}

// reports.md C11: no bytes is an infinite intensity: compute-bound, at the peak.
TEST(Attainable, C11InfiniteIntensity) {
  EXPECT_EQ(Attainable(1e12, std::numeric_limits<double>::infinity(), 1e9), 1e12);
  EXPECT_EQ(Attainable(1e12, 10, 1e9), 1e10);
  EXPECT_EQ(Attainable(1e12, 0, 1e9), 0);
}

TEST(Confirm, SaysWhatTheMeasuredTimeMeans) {
  // reports.md B8, C6: faster than the roofs allow is a fault of the counts or the rates.
  EXPECT_EQ(Confirm(1.0, 2.0, 0.96).verdict, Confirmation::kTooFast);
  EXPECT_EQ(Confirm(1.0, 2.0, 0.98).verdict, Confirmation::kConfirmed);
  EXPECT_EQ(Confirm(1.0, 2.0, 1.25).verdict, Confirmation::kConfirmed);
  const Confirmed partly = Confirm(1.0, 2.0, 1.5);
  EXPECT_EQ(partly.verdict, Confirmation::kLimitedOverlap);
  EXPECT_EQ(partly.omega, 0.5);
  EXPECT_EQ(Confirm(1.0, 2.0, 2.1).verdict, Confirmation::kLimitedOverlap);
  const Confirmed late = Confirm(1.0, 2.0, 3.0);
  EXPECT_EQ(late.verdict, Confirmation::kUnexplained);
  EXPECT_EQ(late.residual_s, 1);
  EXPECT_EQ(late.omega, 0);
  EXPECT_EQ(Name(late.verdict), "unexplained");
}

TEST(Patterns, AnElementOfWholeGranulesWastesNothing) {
  EXPECT_EQ(StridedEfficiency(64, 128, 32), 1);
  EXPECT_EQ(GatherEfficiency(64, 32), 1);
}

TEST(CriticalBatch, NeverComputeBoundIsInfinite) {
  EXPECT_TRUE(std::isinf(ExactCriticalBatch(64, 64, 1e15, 1e9, 2, 2)));
}

}  // namespace
}  // namespace ridgeline::model
