// Work / Machine = Time: what enters which roof, and what is said when a figure is missing.
#include "model/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/collectives.h"
#include "model/wire_time.h"

namespace ridgeline::model {
namespace {

std::vector<std::string> Texts(const std::vector<Missing>& missing) {
  std::vector<std::string> texts;
  for (const Missing& one : missing) texts.push_back(one.what);
  return texts;
}

Figure Of(double value) { return Figure{.value = value, .source = "sheet"}; }

Machine SomeMachine() {
  Machine machine;
  machine.peaks[ComputeUnit::kMatrix] = {{"bf16", Of(100)}, {"f32", Of(10)}};
  machine.peaks[ComputeUnit::kVector] = {{"f32", Of(5)}};
  machine.memory.push_back({.name = "hbm"});
  machine.memory[0].bytes_per_s = {{Pattern::kSequential, Of(20)}, {Pattern::kGather, Of(4)}};
  NetworkAxis x;
  x.name = "x";
  x.size = 4;
  x.wrap = true;
  x.link_bytes_per_s = Of(2);
  machine.axes = {x};
  return machine;
}

const Term& TermOf(const Prediction& p, std::string_view what) {
  const auto it = std::ranges::find(p.terms, what, &Term::what);
  EXPECT_NE(it, p.terms.end()) << what;
  return *it;
}

TEST(Predict, DtypesAddUpAndUnitsRunSideBySide) {
  Work work;
  work.matrix_flops = {{DType::kBF16, 1000}, {DType::kF32, 50}};
  work.vector_flops = {{DType::kF32, 60}};
  const Prediction p = Predict(work, SomeMachine());
  EXPECT_EQ(p.compute_s, 10 + 5);
  EXPECT_EQ(p.bound.lower_s, 15);
  EXPECT_EQ(p.bound.upper_s, 15 + 12);
  EXPECT_EQ(p.bound.label, "compute");
  EXPECT_THAT(p.missing, testing::IsEmpty());
  EXPECT_TRUE(std::isinf(p.hbm_intensity));
}

TEST(Predict, EachPatternHasItsRoof) {
  Work work;
  work.hbm_bytes = 140;
  work.hbm_pattern_bytes = {{Pattern::kGather, 40}};
  const Prediction p = Predict(work, SomeMachine());
  EXPECT_EQ(TermOf(p, "hbm sequential").seconds, 5);
  EXPECT_EQ(TermOf(p, "hbm gather").seconds, 10);
  EXPECT_EQ(p.memory_s, 15);
  EXPECT_THAT(p.notes, testing::IsEmpty());
}

TEST(Predict, APatternWithoutARateIsSaid) {
  Work work;
  work.hbm_bytes = 20;
  work.hbm_pattern_bytes = {{Pattern::kStrided, 20}};
  const Prediction p = Predict(work, SomeMachine());
  EXPECT_EQ(p.memory_s, 1);
  EXPECT_THAT(p.notes, testing::ElementsAre(testing::HasSubstr("strided access has no rate")));
}

// reports.md B9: a dtype without a figure is named and takes no other's.
TEST(Predict, B9MissingFiguresAreNamed) {
  Work work;
  work.matrix_flops = {{DType::kF8E4M3FN, 1000}};
  work.transcendentals = 7;
  work.host_bytes = 1;
  work.launches = 1;
  const Prediction p = Predict(work, SomeMachine());
  EXPECT_EQ(p.compute_s, 0);
  EXPECT_THAT(Texts(p.missing),
              testing::ElementsAre("no rate for matrix f8e4m3fn", "no rate for transcendental f32",
                                   "no rate for the host link"));
  EXPECT_NEAR(p.missing[0].share + p.missing[1].share, 1, 1e-12);
  EXPECT_THAT(p.notes, testing::Contains(testing::HasSubstr("launch latency")));
  EXPECT_EQ(p.bound.label, "none");
}

TEST(Predict, HostLinkIsOneWayAndShared) {
  Machine machine;
  machine.devices_per_chip = 2;
  machine.host_to_device =
      Figure{.value = 80, .scope = Scope::kChip, .direction = Direction::kBoth};
  Work work;
  work.host_bytes = 40;
  EXPECT_EQ(Predict(work, machine).host_s, 2);
}

TEST(Predict, AChipsPeakIsShared) {
  Machine machine = SomeMachine();
  machine.devices_per_chip = 2;
  machine.peaks[ComputeUnit::kMatrix]["bf16"].scope = Scope::kChip;
  Work work;
  work.matrix_flops = {{DType::kBF16, 1000}};
  EXPECT_EQ(Predict(work, machine).compute_s, 20);
}

TEST(WireTime, ClosedFormsOfARing) {
  const Machine machine = SomeMachine();
  const TorusAxis axis{4, 2, true, 0};
  const auto seconds = [&](std::string collective, double wire) {
    return TimeOf({"x", std::move(collective), 1600, wire, 1}, machine).value().seconds;
  };
  EXPECT_EQ(seconds("all_gather", 1200), GatherSeconds(1600, axis));
  EXPECT_EQ(seconds("reduce_scatter", 1200), GatherSeconds(1600, axis));
  EXPECT_EQ(seconds("all_reduce", 2400), AllReduceSeconds(1600, axis));
  EXPECT_EQ(seconds("all_to_all", 1200), AllToAllSeconds(4 * 1600, axis));
  EXPECT_EQ(seconds("collective_permute", 1600), 800);
  EXPECT_EQ(seconds("broadcast", 1600), 400) << "no form: bytes over both links";
  EXPECT_EQ(TimeOf({"x", "all_gather", 1600, 1200, 1}, machine)->rate, 4);
}

TEST(WireTime, EveryCallPaysTheLatency) {
  Machine machine = SomeMachine();
  machine.axes[0].hop_s = Of(1);
  EXPECT_EQ(TimeOf({"x", "all_gather", 1600, 1200, 10}, machine)->seconds, 300 + 10 * 2);
}

TEST(WireTime, AMeasuredLawGoesFirst) {
  Machine machine = SomeMachine();
  machine.axes[0].laws["all_gather"] = {Of(3), Of(8)};
  const WireTime time = TimeOf({"x", "all_gather", 1600, 1200, 2}, machine).value();
  EXPECT_EQ(time.seconds, 2 * 3 + 200);
  EXPECT_EQ(time.rate, 6) << "bytes on the wire, not of the array";
}

TEST(WireTime, SwitchesAndSeveralAxes) {
  Machine machine = SomeMachine();
  machine.axes.push_back(machine.axes[0]);
  machine.axes[1].name = "y";
  const std::vector<TorusAxis> both(2, TorusAxis{4, 2, true, 0});
  EXPECT_EQ(TimeOf({"x+y", "all_gather", 1600, 1500, 1}, machine)->seconds,
            TorusGatherSeconds(1600, both));
  NetworkAxis node = machine.axes[0];
  node.name = "node";
  node.fabric = Fabric::kSwitch;
  machine.axes = {node};
  EXPECT_EQ(TimeOf({"node", "all_reduce", 1600, 2400, 1}, machine)->seconds, 1200);
  const WireTime other = TimeOf({"q", "all_reduce", 1600, 2400, 1}, machine).value();
  EXPECT_EQ(other.axis, "node");
  EXPECT_EQ(other.note, "axis q is not on this machine: node is taken");
}

TEST(WireTime, NoNetworkNoTime) {
  Machine machine = SomeMachine();
  machine.axes[0].link_bytes_per_s.reset();
  EXPECT_FALSE(TimeOf({"x", "all_gather", 1600, 1200, 1}, machine).has_value());
  machine.axes.clear();
  Work work;
  work.wire_bytes = 4;
  EXPECT_THAT(Texts(Predict(work, machine).missing),
              testing::ElementsAre("no link for wire bytes"));
}

TEST(RoofAt, IsTheLowerOfBothRoofs) {
  const Machine machine = SomeMachine();
  const auto at = [&](Pattern pattern, double intensity) {
    return RoofAt(machine, ComputeUnit::kMatrix, "bf16", pattern, intensity);
  };
  EXPECT_EQ(at(Pattern::kSequential, 2), 40);
  EXPECT_EQ(at(Pattern::kSequential, 50), 100);
  EXPECT_EQ(at(Pattern::kGather, 2), 8);
  EXPECT_EQ(at(Pattern::kStrided, 2), std::nullopt);
}

// Inside each slice, then every device its share between them.
TEST(WireTime, SlicesOfATorus) {
  Machine machine = SomeMachine();
  NetworkAxis between = machine.axes[0];
  between.name = "dcn";
  between.fabric = Fabric::kDcn;
  between.size = 2;
  between.link_bytes_per_s = Of(0.5);
  machine.axes.push_back(between);
  const std::vector<TorusAxis> inside = {TorusAxis{4, 2, true, 0}};
  const auto seconds = [&](std::string collective, double wire) {
    return TimeOf({"dcn+x", std::move(collective), 1600, wire, 1}, machine).value().seconds;
  };
  const double gather = TorusGatherSeconds(1600, inside);
  EXPECT_EQ(seconds("all_gather", 1400), gather + 400 / 2 / 0.5);
  EXPECT_EQ(seconds("all_reduce", 2800), 2 * (gather + 400 / 2 / 0.5));
  EXPECT_EQ(seconds("all_to_all", 1400),
            std::max(TorusAllToAllSeconds(4 * 1600, inside), 1600 / 2 / 0.5));
  EXPECT_EQ(seconds("collective_permute", 1600), 1600 / 0.5);
  // A rate that nobody knows is not that of the torus.
  machine.axes.back().link_bytes_per_s.reset();
  EXPECT_FALSE(TimeOf({"dcn+x", "all_gather", 1600, 1400, 1}, machine));
}

}  // namespace
}  // namespace ridgeline::model
