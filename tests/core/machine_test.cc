// The Machine type: directions, scopes, and what its JSON says of a figure.
#include "core/machine.h"

#include <gtest/gtest.h>

namespace ridgeline {
namespace {

Figure Link(double value, Direction direction) {
  return {.value = value, .source = "sheet", .as_of = "2026-01-01", .direction = direction};
}

NetworkAxis Ring(std::optional<int64_t> size, bool wrap) {
  return {.name = "x",
          .size = size,
          .fabric = Fabric::kTorus,
          .wrap = wrap,
          .link_bytes_per_s = Link(5e10, Direction::kOneWay)};
}

// reports.md A6: 900 GB/s counts both directions, a result counts one.
TEST(Machine, A6OneWayIsHalfOfBothDirections) {
  EXPECT_EQ(OneWay(Link(900e9, Direction::kBoth)), 450e9);
  EXPECT_EQ(OneWay(Link(450e9, Direction::kOneWay)), 450e9);
}

TEST(Machine, ARingSendsBothWays) {
  Machine machine;
  EXPECT_EQ(machine.Egress(Ring(16, true)), 1e11);
  EXPECT_EQ(machine.Egress(Ring(std::nullopt, true)), 1e11);
  EXPECT_EQ(machine.Egress(Ring(4, false)), 5e10);
  EXPECT_EQ(machine.Egress(Ring(2, true)), 5e10) << "an axis of two is one link";
  NetworkAxis node = Ring(8, false);
  node.fabric = Fabric::kSwitch;
  EXPECT_EQ(machine.Egress(node), 5e10);
  node.link_bytes_per_s.reset();
  EXPECT_EQ(machine.Egress(node), std::nullopt);
  // The devices of a chip share its links; a figure of both directions counts half.
  machine.devices_per_chip = 2;
  NetworkAxis shared = Ring(16, true);
  shared.link_bytes_per_s = Link(2e11, Direction::kBoth);
  shared.link_bytes_per_s->scope = Scope::kChip;
  EXPECT_EQ(machine.LinkRate(shared), 5e10);
}

// reports.md B5: a chip's figure is shared among its devices.
TEST(Machine, B5AChipsFigureIsSharedAmongItsDevices) {
  Machine machine;
  machine.devices_per_chip = 2;
  EXPECT_EQ(machine.PerDevice({.value = 7.38e12, .scope = Scope::kChip}), 3.69e12);
  EXPECT_EQ(machine.PerDevice({.value = 3.21e12, .scope = Scope::kDevice}), 3.21e12);
}

// reports.md B9: what is absent stays absent.
TEST(Machine, B9NoPeakOfANeighbour) {
  Machine machine;
  machine.peaks[ComputeUnit::kMatrix]["bf16"] = {.value = 1.97e14};
  ASSERT_NE(machine.Peak(ComputeUnit::kMatrix, "bf16"), nullptr);
  EXPECT_EQ(machine.Peak(ComputeUnit::kMatrix, "f8e4m3fn"), nullptr);
  EXPECT_EQ(machine.Peak(ComputeUnit::kVector, "bf16"), nullptr);
  EXPECT_EQ(machine.Level("hbm"), nullptr);
  EXPECT_EQ(machine.Axis("x"), nullptr);
}

TEST(Machine, JsonSaysWhereAFigureComesFrom) {
  Machine machine;
  machine.name = "m";
  machine.devices = 16;
  machine.peaks[ComputeUnit::kMatrix]["bf16"] = {.value = 1.97e14,
                                                 .kind = FigureKind::kMeasured,
                                                 .source = "gemm/m=1024@device0",
                                                 .as_of = "a.jsonl",
                                                 .scope = Scope::kChip,
                                                 .note = "a note"};
  machine.memory.push_back({.name = "hbm", .note = "not measured"});
  machine.axes.push_back(Ring(16, true));
  machine.axes.back().laws["all_reduce"] = {{.value = 1e-6}, {.value = 2e10}};
  machine.price = Price{1.2, "USD", "chip-hour", "VM included", "list", "2026-09-17"};
  const Json json = ToJson(machine);
  EXPECT_EQ(json["peaks"]["matrix"]["bf16"].dump(),
            R"({"value":197000000000000.0,"kind":"measured","source":"gemm/m=1024@device0",)"
            R"("as_of":"a.jsonl","scope":"chip","note":"a note"})");
  EXPECT_TRUE(json["memory"][0]["capacity_bytes"].is_null());
  EXPECT_EQ(json["memory"][0]["note"], "not measured");
  EXPECT_EQ(json["axes"][0]["link_bytes_per_s"]["direction"], "one_way");
  EXPECT_EQ(json["axes"][0]["egress_bytes_per_s"], 1e11);
  EXPECT_EQ(json["axes"][0]["laws"]["all_reduce"]["payload_bytes_per_s"]["value"], 2e10);
  EXPECT_EQ(json["price"]["per"], "chip-hour");
  EXPECT_TRUE(json["launch_s"].is_null());
}

TEST(Machine, NamesAreReadBack) {
  for (const FigureKind kind :
       {FigureKind::kNominal, FigureKind::kPractical, FigureKind::kMeasured}) {
    EXPECT_EQ(ParseFigureKind(Name(kind)), kind);
  }
  EXPECT_EQ(ParseDirection("both"), Direction::kBoth);
  EXPECT_EQ(ParseComputeUnit("vector"), ComputeUnit::kVector);
  EXPECT_EQ(ParseFabric("dcn"), Fabric::kDcn);
  EXPECT_NE(ParseFabric("toru").error().message.find("did you mean 'torus'"), std::string::npos);
}

// Parts of Work that are optional are not written when there are none: old readers see no change.
TEST(Work, PatternsAndWireThereAndBack) {
  Work work;
  work.hbm_bytes = 100;
  EXPECT_FALSE(ToJson(work).contains("wire"));
  EXPECT_FALSE(ToJson(work).contains("hbm_pattern"));
  EXPECT_FALSE(ToJson(work).contains("launches"));
  work.hbm_pattern_bytes = {{Pattern::kGather, 30}, {Pattern::kStrided, 20}};
  work.wire = {{"x", "all_gather", 64, 48, 2}};
  work.launches = 3;
  const Work back = WorkFromJson(ToJson(work)).value();
  EXPECT_EQ(back.hbm_pattern_bytes, work.hbm_pattern_bytes);
  EXPECT_EQ(back.wire, work.wire);
  EXPECT_EQ(back.launches, 3);
  EXPECT_EQ(back.hbm_bytes_by(Pattern::kSequential), 50);
  EXPECT_EQ(back.hbm_bytes_by(Pattern::kGather), 30);
  EXPECT_EQ(back.hbm_bytes_by(Pattern::kReused), 0);
  EXPECT_NE(ParsePattern("stridden").error().message.find("did you mean 'strided'"),
            std::string::npos);
}

}  // namespace
}  // namespace ridgeline
