// Faults that users of other tools have met (each named after its report), on our spec figures.
#include <gtest/gtest.h>

#include "spec/spec.h"

namespace ridgeline::spec {
namespace {

Machine Of(std::string_view name) {
  return MakeMachine(*FindSpec(EmbeddedSpecs().value(), name).value(), {}).value();
}

double Peak(const Machine& machine, std::string_view dtype) {
  const Figure* figure = machine.Peak(ComputeUnit::kMatrix, dtype);
  return figure ? machine.PerDevice(*figure) : 0;
}

double Hbm(const Machine& machine) {
  return machine.PerDevice(machine.Level("hbm")->bytes_per_s.at(Pattern::kSequential));
}

// A6: 900 GB/s counts both directions; 410 GB/s one way is 91.1 %, not 45.6 %.
TEST(Reports, A6BothDirections) {
  constexpr std::string_view kText = R"(version: 1
name: mine
sources: {s: {title: t, as_of: today}}
network:
  fabric: switch
  link_bytes_per_s: {value: 900 GB/s, direction: both, source: [s]}
)";
  const Spec spec = ReadSpec(kText, "f").value();
  const Machine machine = MakeMachine(spec, {8}).value();
  EXPECT_NEAR(410e9 / machine.Egress(machine.axes.front()).value(), 0.911, 0.0005);

  std::string unsaid(kText);
  unsaid.erase(unsaid.find(", direction: both"), std::string(", direction: both").size());
  const Result<Spec> refused = ReadSpec(unsaid, "f");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().where, "f:6:21");
  EXPECT_NE(refused.error().message.find("direction: one_way"), std::string::npos);
  // The GPU of that report, as shipped.
  const Machine h100 = Of("h100-sxm");
  EXPECT_NEAR(410e9 / h100.Egress(*h100.Axis("node")).value(), 0.911, 0.0005);
}

// B1: 100 Gbit/s is 12.5 GB/s.
TEST(Reports, B1BitsAreEighthsOfBytes) {
  const Spec spec = ReadSpec(
                        "version: 1\nname: m\nsources: {s: {title: t, as_of: d}}\n"
                        "dcn: [{value: 100 Gbit/s, direction: one_way, source: [s]}]\n",
                        "f")
                        .value();
  EXPECT_EQ(spec.dcn.front().figure.value, 12.5e9);
}

// B5: 3210 GB/s on one of two devices of a 7380 GB/s chip is 87.0 %, not 43.5 %.
TEST(Reports, B5ChipAndDevice) {
  const Machine tpu7x = Of("tpu-7x");
  EXPECT_EQ(tpu7x.devices_per_chip, 2);
  EXPECT_NEAR(3210e9 / Hbm(tpu7x), 0.870, 0.0005);
  EXPECT_EQ(Peak(tpu7x, "bf16"), 1.1535e15);
}

TEST(Reports, B5DevicesPerChip) {
  EXPECT_EQ(Of("tpu-v2").devices_per_chip, 2);
  EXPECT_EQ(Of("tpu-v3").devices_per_chip, 2);
  for (const std::string_view one : {"tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "h100-sxm"}) {
    EXPECT_EQ(Of(one).devices_per_chip, 1) << one;
  }
}

// B6: 700 TFLOP/s are 70.8 % of the dense rate; no sparse rate stands in its place.
TEST(Reports, B6DenseNotSparse) {
  const Machine h100 = Of("h100-sxm");
  EXPECT_EQ(Peak(h100, "bf16"), 989e12);
  EXPECT_NEAR(700e12 / Peak(h100, "bf16"), 0.708, 0.0005);
  EXPECT_EQ(Peak(Of("l4"), "f16"), 121e12) << "the sheet leads with 242, sparse";
  EXPECT_EQ(Peak(Of("l4"), "f8e4m3fn"), 242.5e12) << "the sheet leads with 485, sparse";
}

// B9: a dtype that is not in the spec has no peak: not bf16's, not another chip's.
TEST(Reports, B9NoNeighboursNumber) {
  EXPECT_EQ(Of("tpu-v5e").Peak(ComputeUnit::kMatrix, "f8e4m3fn"), nullptr);
  EXPECT_EQ(Of("a100-sxm-80").Peak(ComputeUnit::kMatrix, "f8e4m3fn"), nullptr);
  EXPECT_EQ(Of("t4").Peak(ComputeUnit::kMatrix, "bf16"), nullptr);
  EXPECT_EQ(Of("tpu-v5e").Peak(ComputeUnit::kVector, "f32"), nullptr);
  EXPECT_EQ(MatchDeviceKind(EmbeddedSpecs().value(), "NVIDIA H100 NVL"), nullptr);
}

// E3: a type that the chip emulates has no roof; AMD's older 8-bit floats are other types.
TEST(Reports, E3EmulatedTypesAreNoRoof) {
  EXPECT_EQ(Of("tpu-7x").Peak(ComputeUnit::kMatrix, "s8"), nullptr);
  EXPECT_EQ(Of("tpu-v6e").Peak(ComputeUnit::kMatrix, "f32"), nullptr);
  EXPECT_EQ(Of("mi300x").Peak(ComputeUnit::kMatrix, "f8e4m3fn"), nullptr);
  EXPECT_NE(Of("mi300x").Peak(ComputeUnit::kMatrix, "f8e4m3fnuz"), nullptr);
  EXPECT_NE(Of("mi355x").Peak(ComputeUnit::kMatrix, "f8e4m3fn"), nullptr);
}

}  // namespace
}  // namespace ridgeline::spec
