// Closed forms that the worked examples leave out, against hand-made values.
#include "model/collectives.h"

#include <gtest/gtest.h>

namespace ridgeline::model {
namespace {

TEST(Torus, AnAxisOfTwoIsALine) {
  EXPECT_EQ(GatherSeconds(100, {2, 10, true, 0}), GatherSeconds(100, {2, 10, false, 0}));
  EXPECT_EQ(GatherSeconds(100, {2, 10, true, 0}), 5);
}

// reports.md A10: an axis without wrap takes twice as long.
TEST(Torus, A10WrapHalvesAGather) {
  EXPECT_NEAR(GatherSeconds(8388608, {4, 45e9, true, 0}) * 1e6, 69.9, 0.05);
  EXPECT_NEAR(GatherSeconds(8388608, {4, 45e9, false, 0}) * 1e6, 139.8, 0.05);
}

TEST(Torus, LatencyIsPaidAHop) {
  EXPECT_EQ(GatherSeconds(0, {8, 1, true, 1}), 4);
  EXPECT_EQ(GatherSeconds(0, {8, 1, false, 1}), 7);
  EXPECT_EQ(AllReduceSeconds(0, {8, 1, true, 1}), 8);
  EXPECT_EQ(AllToAllSeconds(0, {8, 1, true, 1}), 4);
  EXPECT_EQ(PermuteSeconds(100, {8, 10, true, 1}, 3), 33);
}

TEST(Torus, OneChipNeedsNothing) {
  const TorusAxis one{1, 10, true, 1};
  EXPECT_EQ(GatherSeconds(100, one), 0);
  EXPECT_EQ(AllToAllSeconds(100, one), 0);
}

// An axis without wrap brings half of what a ring brings.
TEST(Torus, MixedAxesAddTheirLinks) {
  const std::vector<TorusAxis> axes = {{4, 10, true, 0}, {4, 10, false, 0}};
  EXPECT_DOUBLE_EQ(TorusGatherSeconds(1600, axes), 1600.0 * 15 / 16 / 30);
}

TEST(Switch, LogarithmicForms) {
  const SwitchedGroup group{8, 10, 1};
  EXPECT_DOUBLE_EQ(RecursiveDoublingGatherSeconds(80, group), 3 + 7);
  EXPECT_DOUBLE_EQ(DoubleTreeAllReduceSeconds(80, group), 6 + 16);
  EXPECT_DOUBLE_EQ(BruckAllToAllSeconds(160, group), 3 * (1 + 1));
  EXPECT_DOUBLE_EQ(DirectAllToAllSeconds(640, group), 7 + 7);
  const double at = RabenseifnerCrossoverBytes(group);
  EXPECT_NEAR(RabenseifnerAllReduceSeconds(at, group), RecursiveDoublingAllReduceSeconds(at, group),
              1e-12);
}

TEST(Nccl, OneRankANodePaysTheNetwork) {
  // 8 ranks on 8 nodes: 14 steps, all over the network, at the tree's latency.
  EXPECT_NEAR(NcclAllReduceLatency(NcclAlgorithm::kRing, NcclProtocol::kLL, 8, 8),
              (6.6 + 14 * 5.0) * 1e-6, 1e-12);
  EXPECT_EQ(NcclLinkRate(70), std::nullopt) << "no figure: none of a neighbour's";
}

}  // namespace
}  // namespace ridgeline::model
