// What a spec gives for the thing that a case measured, and when it gives nothing.
#include "model/nominal.h"

#include <gtest/gtest.h>

namespace ridgeline::model {
namespace {

Figure Of(double value, Scope scope = Scope::kChip) {
  return Figure{.value = value, .scope = scope};
}

// Two devices a chip, a ring of four and a line of two.
Machine Spec() {
  Machine spec;
  spec.devices_per_chip = 2;
  spec.peaks[ComputeUnit::kMatrix] = {{"bf16", Of(200)}, {"f32", Of(20)}};
  spec.memory = {{.name = "hbm"}, {.name = "vmem", .capacity_bytes = Of(2000)}};
  spec.memory[0].bytes_per_s[Pattern::kSequential] = Of(7380e9);
  spec.host_to_device = Figure{.value = 64e9, .scope = Scope::kChip, .direction = Direction::kBoth};
  spec.device_to_host = spec.host_to_device;
  for (const auto& [name, size] : {std::pair("x", 4), std::pair("y", 2)}) {
    NetworkAxis axis;
    axis.name = name;
    axis.size = size;
    axis.wrap = size == 4;
    axis.link_bytes_per_s = Of(50e9, Scope::kDevice);
    axis.hop_s = Of(1, Scope::kDevice);
    spec.axes.push_back(axis);
  }
  return spec;
}

Measurement Case(Component component, std::string bench, std::string dtype = "bf16") {
  Measurement m;
  m.component = component;
  m.bench = std::move(bench);
  m.dtype = std::move(dtype);
  return m;
}

Measurement Gemm(std::string dtype) {
  Measurement m = Case(Component::kCompute, "gemm", std::move(dtype));
  m.work.matrix_flops[DType::kBF16] = 1;
  return m;
}

TEST(Nominal, PeaksArePerDeviceAndDtype) {
  EXPECT_EQ(NominalRate(Gemm("bf16"), "flops", Spec()), 100);
  Measurement all = Gemm("bf16");
  all.scope = Scope::kAll;
  all.devices = 8;
  EXPECT_EQ(NominalRate(all, "flops", Spec()), 800);
  // reports.md B9: a dtype that is not there has no share.
  EXPECT_EQ(NominalRate(Gemm("f8e4m3fn"), "flops", Spec()), std::nullopt);
  Measurement vector = Case(Component::kCompute, "vector");
  vector.work.vector_flops[DType::kBF16] = 1;
  EXPECT_EQ(NominalRate(vector, "flops", Spec()), std::nullopt);
  EXPECT_EQ(NominalRate(Gemm("bf16"), "hbm_bw", Spec()), std::nullopt);
  // reports.md E3: what was computed in another type is held against nothing.
  Measurement emulated = Gemm("bf16");
  emulated.executed_as = "f32";
  EXPECT_EQ(NominalRate(emulated, "flops", Spec()), std::nullopt);
}

TEST(Nominal, F32NeedsItsPrecision) {
  Measurement m = Gemm("f32");
  m.params.Set("precision", std::string("default"));
  EXPECT_EQ(PeakDType(m), "");
  EXPECT_EQ(NominalRate(m, "flops", Spec()), std::nullopt);
  m.params.Set("precision", std::string("highest"));
  EXPECT_EQ(NominalRate(m, "flops", Spec()), 10);
}

// reports.md B5: one device of a chip is held against its share. C9: a cached set is no HBM.
TEST(Nominal, B5C9HbmOfOneDevicePastTheCaches) {
  Measurement m = Case(Component::kHbm, "copy");
  m.working_set_bytes = 4001;
  EXPECT_NEAR(3210e9 / NominalRate(m, "hbm_bw", Spec()).value(), 0.870, 0.0005);
  m.working_set_bytes = 4000;
  EXPECT_EQ(NominalRate(m, "hbm_bw", Spec()), std::nullopt);
}

TEST(Nominal, HostLinksAreOneWayUnlessBothAreUsed) {
  EXPECT_EQ(NominalRate(Case(Component::kHost, "host_to_device"), "host_bw", Spec()), 16e9);
  EXPECT_EQ(NominalRate(Case(Component::kHost, "device_to_host"), "host_bw", Spec()), 16e9);
  EXPECT_EQ(NominalRate(Case(Component::kHost, "host_both"), "host_bw", Spec()), 32e9);
}

Measurement Collective(std::string bench, std::string group, double bus_factor) {
  Measurement m = Case(Component::kNetwork, std::move(bench));
  m.devices = 8;
  m.mesh = {{"axes", {{"x", 4}, {"y", 2}}}, {"group", group}};
  m.params.Set("bytes", int64_t{1000});
  m.work.wire_bytes = bus_factor * 1000;
  return m;
}

TEST(Nominal, CollectivesHaveTheRateOfTheirForm) {
  const Machine spec = Spec();
  EXPECT_DOUBLE_EQ(NominalRate(Collective("all_gather", "x", 0.75), "busbw", spec).value(), 100e9);
  EXPECT_DOUBLE_EQ(NominalRate(Collective("all_reduce", "x", 1.5), "busbw", spec).value(), 100e9);
  EXPECT_DOUBLE_EQ(NominalRate(Collective("all_gather", "y", 0.5), "busbw", spec).value(), 50e9);
  EXPECT_DOUBLE_EQ(NominalRate(Collective("all_gather", "all", 0.875), "busbw", spec).value(),
                   150e9);
  EXPECT_EQ(NominalRate(Collective("all_gather", "halves", 0.75), "busbw", spec), std::nullopt);
  EXPECT_EQ(NominalRate(Collective("pair", "x", 1), "busbw", spec), std::nullopt);
  EXPECT_EQ(NominalRate(Collective("all_gather", "x", 0.75), "algbw", spec), std::nullopt);
  Measurement other = Collective("all_gather", "x", 0.75);
  other.mesh["axes"]["x"] = 8;
  EXPECT_EQ(NominalRate(other, "busbw", spec), std::nullopt) << "another axis than the spec's";
}

// reports.md A6: 410 GB/s one way on 900 GB/s of both ways is 91.1 %.
TEST(Nominal, A6AnyGroupBehindASwitch) {
  Machine spec;
  NetworkAxis node;
  node.name = "node";
  node.size = 8;
  node.fabric = Fabric::kSwitch;
  node.link_bytes_per_s = Figure{.value = 900e9, .direction = Direction::kBoth};
  spec.axes = {node};
  for (const std::string group : {"all", "x", "halves"}) {
    const double nominal =
        NominalRate(Collective("all_gather", group, 0.75), "busbw", spec).value();
    const double ranks = group == "all" ? 8 : 4;
    EXPECT_NEAR(nominal, 450e9 * 0.75 / ((ranks - 1) / ranks), 1) << group;
  }
  EXPECT_NEAR(410e9 / NominalRate(Collective("all_gather", "x", 0.75), "busbw", spec).value(),
              0.911, 0.0005);
}

}  // namespace
}  // namespace ridgeline::model
