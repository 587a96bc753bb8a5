#include "predict/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "predict/target_named.h"
#include "spec/shape.h"

namespace ridgeline::predict {
namespace {

using spec::Shape;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Targets, SlicesFollowTheSpec) {
  EXPECT_THAT(Slices(TargetNamed("tpu-v5e").spec),
              ElementsAre(Shape{1, 1}, Shape{2, 2}, Shape{2, 4}, Shape{4, 4}, Shape{4, 8},
                          Shape{8, 8}, Shape{8, 16}, Shape{16, 16}));
  const std::vector<Shape> v4 = Slices(TargetNamed("tpu-v4").spec);
  EXPECT_EQ(v4.front(), (Shape{2, 2, 1}));
  EXPECT_EQ(v4.back(), (Shape{16, 16, 16}));
  EXPECT_THAT(v4, Contains(Shape{4, 4, 8}));
  EXPECT_THAT(v4, Not(Contains(Shape{4, 8, 4})));  // the same slice, turned
  EXPECT_THAT(Slices(TargetNamed("tpu-v3").spec), Contains(Shape{32, 32}));
  EXPECT_THAT(Slices(TargetNamed("h100-sxm").spec), IsEmpty());
}

TEST(Targets, EverySliceIsLegalAndThereOnce) {
  const std::span<const spec::Spec> specs = spec::EmbeddedSpecs().value();
  for (const spec::Spec& spec : specs) {
    const std::vector<Shape> slices = Slices(spec);
    for (const Shape& shape : slices) {
      EXPECT_TRUE(spec::CheckSlice(*spec.network, shape)) << spec.name << spec::ToString(shape);
    }
    EXPECT_EQ(std::set<Shape>(slices.begin(), slices.end()).size(), slices.size()) << spec.name;
  }
}

TEST(Targets, EveryCompilerBelongsToASpec) {
  const std::span<const spec::Spec> specs = spec::EmbeddedSpecs().value();
  const std::span<const TpuCompiler> compilers = TpuCompilers().value();
  for (const TpuCompiler& one : compilers) {
    const auto spec = spec::FindSpec(specs, one.spec);
    ASSERT_TRUE(spec) << one.spec;
    EXPECT_EQ(PluginFor(**spec), "tpu");
    EXPECT_LT(one.cycles_least, one.cycles_most) << one.spec;
  }
}

TEST(Targets, TheTopologyIsWhatLibtpuCallsIt) {
  const pjrt::TopologyRequest v4 = TopologyOf(TargetNamed("tpu-v4:2x2x4"), "libtpu.so");
  EXPECT_EQ(v4.name, "v4:2x2x4");
  EXPECT_EQ(std::get<std::string>(v4.options.at("chip_config_name")), "megacore");
  const pjrt::TopologyRequest v7x = TopologyOf(TargetNamed("tpu-7x"), "libtpu.so");
  EXPECT_EQ(v7x.name, "tpu7x:2x2x1");
  EXPECT_THAT(v7x.options, IsEmpty());
}

TEST(Targets, WithoutACompilerThereAreTheRoofs) {
  const Target amd = TargetNamed("mi300x:8");
  EXPECT_FALSE(amd.compiles());
  EXPECT_EQ(amd.machine.devices, 8);
  EXPECT_EQ(PluginFor(amd.spec), "rocm");
  EXPECT_EQ(TargetNamed("mi300x").machine.devices, 1);
}

TEST(Targets, ErrorsNameThePlace) {
  const auto wrong = [](const std::string& change) {
    const Result<std::vector<TpuCompiler>> read = ReadTpuCompilers(
        "version: 1\ncompiler: c\nsystems:\n  - spec: s\n    topology: t\n" + change, "f.yaml");
    return read ? "no error" : read.error().ToString();
  };
  EXPECT_THAT(wrong("    clock_hz: fast\n"), HasSubstr("f.yaml:6:"));
  EXPECT_THAT(wrong("    clok_hz: 1e9\n"), HasSubstr("clock_hz"));
  EXPECT_THAT(wrong("    clock_hz: 1e9\n    clock_source: s\n"
                    "    cycles: {least: 1.2, most: 1.1, basis: b}\n"),
              HasSubstr("is above 'most'"));
  EXPECT_THAT(
      ReadTpuCompilers("version: 2\ncompiler: c\nsystems: []\n", "f.yaml").error().ToString(),
      HasSubstr("version"));
}

TEST(Targets, SeveralSlicesAreToldToLibtpu) {
  const Target two = TargetNamed("tpu-v5e:2x2,slices=2");
  EXPECT_EQ(two.name, "tpu-v5e:2x2,slices=2");
  EXPECT_EQ(two.chips(), 8);
  const pjrt::TopologyRequest request = TopologyOf(two, "libtpu.so");
  EXPECT_EQ(request.name, "v5e:2x2");
  EXPECT_EQ(std::get<int64_t>(request.options.at("num_slices")), 2);
}

}  // namespace
}  // namespace ridgeline::predict
