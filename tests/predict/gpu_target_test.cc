#include "predict/gpu_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "predict/target_named.h"

namespace ridgeline::predict {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string OptionOf(const pjrt::TopologyRequest& request, const std::string& name) {
  return std::get<std::string>(request.options.at(name));
}

TEST(GpuTarget, TheDescriptionIsMadeOfSpecAndFacts) {
  const Target a100 = TargetNamed("a100-sxm-80");
  ASSERT_NE(a100.gpu, nullptr);
  EXPECT_TRUE(a100.compiles());
  EXPECT_THAT(
      TargetConfig(*a100.gpu, a100.spec),
      AllOf(HasSubstr("core_count: 108\n"), HasSubstr("memory_bandwidth: 2039040000000\n"),
            HasSubstr("device_memory_size: 85100068864\n"), HasSubstr("l2_cache_size: 41943040\n"),
            HasSubstr("clock_rate_ghz: 1.41\n"), HasSubstr("major: 8\n    minor: 0\n"),
            HasSubstr("active_links: 12\n"), HasSubstr("name: \"NVIDIA A100-SXM4-80GB\"\n"),
            Not(HasSubstr("feature_extension"))));
  const Target h100 = TargetNamed("h100-sxm");
  EXPECT_THAT(TargetConfig(*h100.gpu, h100.spec),
              AllOf(HasSubstr("feature_extension: ACCELERATED_FEATURES\n"),
                    HasSubstr("shared_memory_per_block_optin: 232448\n")));
}

TEST(GpuTarget, DevicesStandOnAsFewHostsAsHoldThem) {
  EXPECT_EQ(OptionOf(TopologyOf(TargetNamed("a100-sxm-80:2"), "p.so"), "topology"), "1x1x2");
  EXPECT_EQ(OptionOf(TopologyOf(TargetNamed("h100-sxm:16"), "p.so"), "topology"), "1x2x8");
  EXPECT_EQ(OptionOf(TopologyOf(TargetNamed("gb200:8"), "p.so"), "topology"), "1x2x4");
  EXPECT_EQ(OptionOf(TopologyOf(TargetNamed("l4"), "p.so"), "topology"), "1x1x1");
  EXPECT_TRUE(TopologyOf(TargetNamed("l4"), "p.so").dumps);
}

TEST(GpuTarget, TheHostsAreTheOuterAxis) {
  const Mesh two = MeshOf(TargetNamed("h100-sxm:16"), std::vector<DevicePlace>(16)).value();
  EXPECT_EQ(two.axes, (std::vector<MeshAxis>{{"dcn", 2}, {"node", 8}}));
  const Mesh one = MeshOf(TargetNamed("h100-sxm:8"), std::vector<DevicePlace>(8)).value();
  EXPECT_EQ(one.axes, (std::vector<MeshAxis>{{"node", 8}}));
  EXPECT_EQ(MeshOf(TargetNamed("l4"), {DevicePlace{}}).value().size(), 1);
  EXPECT_FALSE(MeshOf(TargetNamed("h100-sxm:8"), std::vector<DevicePlace>(4)));
}

TEST(GpuTarget, EveryGpuBelongsToASpecOfItsVendor) {
  const std::span<const spec::Spec> specs = spec::EmbeddedSpecs().value();
  const std::span<const GpuCompiler> gpus = GpuCompilers().value();
  EXPECT_GE(gpus.size(), 12u);
  for (const GpuCompiler& one : gpus) {
    SCOPED_TRACE(one.spec);
    const auto spec = spec::FindSpec(specs, one.spec);
    ASSERT_TRUE(spec);
    EXPECT_EQ(PluginFor(**spec), "cuda");
    EXPECT_LT(one.matrix_least, one.matrix_most);
    // FP32 lanes times two at the boost clock are the spec's own vector peak.
    const Figure* peak = TargetNamed(one.spec).machine.Peak(ComputeUnit::kVector, "f32");
    ASSERT_NE(peak, nullptr);
    const double lanes = static_cast<double>(one.multiprocessors * one.generation.f32_lanes);
    EXPECT_NEAR(2 * lanes * one.clock_hz / peak->value, 1, 0.12);
  }
}

TEST(GpuTarget, ErrorsNameThePlace) {
  const auto wrong = [](const std::string& generation, const std::string& system) {
    const auto read = ReadGpuCompilers("version: 1\ncompiler: c\ncudnn: 9.1.0\ngenerations:\n  - " +
                                           generation + "\nsystems:\n  - " + system + "\n",
                                       "f.yaml");
    return read ? "no error" : read.error().ToString();
  };
  const std::string good =
      "{capability: '8.0', f32_lanes: 64, threads: 2048, shared_bytes: 1, shared_per_block: 1, "
      "source: s}";
  EXPECT_THAT(wrong("{capability: new}", "{}"), AllOf(HasSubstr("f.yaml:5:"), HasSubstr("'9.0'")));
  EXPECT_THAT(wrong(good, "{spec: a, capability: '8.1'}"),
              AllOf(HasSubstr("f.yaml:7:"), HasSubstr("'8.1' is not among")));
  EXPECT_THAT(wrong(good, "{spec: a, capability: '8.0', cores: 1}"), HasSubstr("cores"));
  EXPECT_THAT(wrong(good,
                    "{spec: a, capability: '8.0', multiprocessors: 1, clock_hz: 1e9, source: "
                    "s, matrix_share: {least: 0.9, most: 0.8, basis: b}}"),
              HasSubstr("is above 'most'"));
}

}  // namespace
}  // namespace ridgeline::predict
