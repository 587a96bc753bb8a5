// Slices: which exist, which axes wrap, and the machine that they make (model.md 2.2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec.h"

namespace ridgeline::spec {
namespace {

Result<Machine> Slice(std::string_view text) {
  RL_ASSIGN(const Target target, ParseTarget(text));
  RL_ASSIGN(const std::span<const Spec> specs, EmbeddedSpecs());
  RL_ASSIGN(const Spec* spec, FindSpec(specs, target.name));
  return MakeMachine(*spec, target.shape, target.slices);
}

// "x=4 ring, y=4 line" of a slice, or the error.
std::string Axes(std::string_view text) {
  const Result<Machine> machine = Slice(text);
  if (!machine) return machine.error().message;
  std::string axes;
  for (const NetworkAxis& axis : machine->axes) {
    if (!axes.empty()) axes += ", ";
    axes += axis.name + "=" + (axis.size ? std::to_string(*axis.size) : "any");
    axes += axis.fabric == Fabric::kTorus ? (axis.wrap ? " ring" : " line")
                                          : " " + std::string(Name(axis.fabric));
  }
  return axes;
}

TEST(Slice, V5eWrapsOnlyAnAxisOf16) {
  EXPECT_EQ(Axes("tpu-v5e:4x4"), "x=4 line, y=4 line");
  EXPECT_EQ(Axes("tpu-v5e:8x16"), "x=8 line, y=16 ring");
  EXPECT_EQ(Axes("tpu-v5e:16x16"), "x=16 ring, y=16 ring");
  EXPECT_EQ(Axes("tpu-v5e:8x4"), "x=8 line, y=4 line");
  EXPECT_EQ(Axes("tpu-v6e:16x8"), "x=16 ring, y=8 line");
  EXPECT_EQ(Axes("tpu-v5e:1x1"), "");
}

TEST(Slice, CubesOf4WrapOnEveryAxis) {
  EXPECT_EQ(Axes("tpu-v4:4x4x4"), "x=4 ring, y=4 ring, z=4 ring");
  EXPECT_EQ(Axes("tpu-v5p:8x8x16"), "x=8 ring, y=8 ring, z=16 ring");
  EXPECT_EQ(Axes("tpu-v4:2x2x4"), "x=2 line, y=2 line, z=4 line");
  EXPECT_EQ(Axes("tpu-v5p:2x4x4"), "x=2 line, y=4 line, z=4 line");
  EXPECT_EQ(Axes("tpu-v4:2x2x1"), "x=2 line, y=2 line");
}

TEST(Slice, OlderPodsWrapWhenWhole) {
  EXPECT_EQ(Axes("tpu-v3:32x32"), "x=32 ring, y=32 ring");
  EXPECT_EQ(Axes("tpu-v3:8x8"), "x=8 line, y=8 line");
}

TEST(Slice, TwoDevicesOfAChipAreAnAxis) {
  EXPECT_EQ(Axes("tpu-7x:4x4x4"), "x=4 ring, y=4 ring, z=4 ring, core=2 line");
  EXPECT_EQ(Axes("tpu-7x:1x1x1"), "core=2 line");
  const Machine machine = Slice("tpu-7x:4x4x4").value();
  EXPECT_EQ(machine.devices, 128);
  EXPECT_EQ(machine.Egress(*machine.Axis("core")), 6e11);
  // Both directions of an axis, shared by the two devices of a chip.
  EXPECT_EQ(machine.Egress(*machine.Axis("x")), 1e11);
}

TEST(Slice, GpusFillSwitches) {
  EXPECT_EQ(Axes("h100-sxm:8"), "node=8 switch");
  EXPECT_EQ(Axes("h100-sxm:4"), "node=4 switch");
  EXPECT_EQ(Axes("h100-sxm:16"), "node=8 switch, dcn=2 dcn");
  EXPECT_EQ(Axes("gb200:72"), "node=72 switch");
  const Machine machine = Slice("h100-sxm:16").value();
  EXPECT_EQ(machine.Egress(*machine.Axis("node")), 4.5e11);
  EXPECT_EQ(machine.Egress(*machine.Axis("dcn")), 5e10);
}

TEST(Slice, ABareSpecHasOneAxisOfAnySize) {
  EXPECT_EQ(Axes("tpu-v5e"), "x=any ring, dcn=any dcn");
  EXPECT_EQ(Axes("h100-sxm"), "node=any switch, dcn=any dcn");
  EXPECT_EQ(Axes("tpu-8i"), "") << "no network figure: no network roof";
  const Machine machine = Slice("tpu-v5e").value();
  EXPECT_EQ(machine.devices, std::nullopt);
  EXPECT_EQ(machine.Egress(*machine.Axis("x")), 1e11);
}

TEST(Slice, WhatDoesNotExistIsRefused) {
  EXPECT_EQ(Axes("tpu-v5e:4x4x4"), "slice 4x4x4 has 3 axes; this torus has 2");
  EXPECT_EQ(Axes("tpu-v5e:32x32"), "slice 32x32 has 1024 chips; a pod has 256");
  EXPECT_THAT(Axes("tpu-v5e:3x5"), testing::StartsWith("there is no slice 3x5; allowed: 1x1, "));
  EXPECT_THAT(Axes("tpu-v4:4x4x2x2"), testing::HasSubstr("is no shape"));
  EXPECT_THAT(Axes("tpu-v4:4x4x6"), testing::HasSubstr("and multiples of 4 along every axis"));
  EXPECT_EQ(Axes("h100-sxm:12"),
            "12 chips of h100-sxm: 8 are behind one switch; expected a multiple");
  EXPECT_THAT(Axes("h100-sxm:2x4"), testing::HasSubstr("give the number of chips"));
  EXPECT_THAT(Axes("l4:8"), testing::HasSubstr("no network in its spec"));
  EXPECT_THAT(Axes("tpu-v5e:"), testing::HasSubstr("'' is no shape"));
  EXPECT_THAT(Axes("tpu-v5e:4x"), testing::HasSubstr("'4x' is no shape"));
  EXPECT_THAT(Axes("tpu-v5e:0x4"), testing::HasSubstr("'0x4' is no shape"));
}

TEST(Slice, SeveralSlicesAreJoinedByTheDataCentreNetwork) {
  EXPECT_EQ(Axes("tpu-v5e:4x4,slices=2"), "x=4 line, y=4 line, dcn=2 dcn");
  EXPECT_EQ(Axes("tpu-v5e:4x4,slices=1"), Axes("tpu-v5e:4x4"));
  const Machine machine = Slice("tpu-v5e:4x4,slices=2").value();
  EXPECT_EQ(machine.name, "tpu-v5e:4x4,slices=2");
  EXPECT_EQ(machine.devices, 32);
  EXPECT_EQ(machine.LinkRate(*machine.Axis("dcn")), 3.125e9);
  EXPECT_EQ(Axes("h100-sxm:8,slices=2"),
            "h100-sxm has no torus, so that it has no slices: give the number of chips");
  for (const char* text : {"tpu-v5e:4x4,slices=0", "tpu-v5e:4x4,2", "tpu-v5e:4x4,slices=2x",
                           "tpu-v5e:4x4,", "tpu-v5e:4x4,slices=99999"}) {
    EXPECT_NE(Axes(text).find("expected slices=N"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace ridgeline::spec
