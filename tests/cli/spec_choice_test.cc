// Which spec a command line and a run's devices mean.
#include "cli/spec_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace ridgeline::cli {
namespace {

Json Header(const std::string& kind, const std::vector<std::vector<int64_t>>& coords) {
  Json devices = Json::array();
  for (const auto& at : coords) devices.push_back({{"kind", kind}, {"coords", at}});
  return {{"devices", devices}};
}

// Coordinates of a box, as libtpu gives them: three, whatever the torus.
std::vector<std::vector<int64_t>> Box(int64_t x, int64_t y) {
  std::vector<std::vector<int64_t>> coords;
  for (int64_t i = 0; i < x; ++i) {
    for (int64_t j = 0; j < y; ++j) coords.push_back({i, j, 0});
  }
  return coords;
}

TEST(ChooseSpec, NamesShapesAndFiles) {
  EXPECT_EQ(ChooseSpec("v5e:4x4")->spec.name, "tpu-v5e");
  EXPECT_EQ(ChooseSpec("v5e:4x4")->shape, (spec::Shape{4, 4}));
  EXPECT_THAT(ChooseSpec("tpu-v5").error().message, testing::HasSubstr("unknown spec 'tpu-v5'"));
  EXPECT_EQ(ChooseSpec("missing.yaml").error().where, "missing.yaml");
  const std::string path = testing::TempDir() + "spec_choice_test.yaml";
  std::ofstream(path) << "version: 1\nname: mine\nsources: {s: {title: t, as_of: d}}\n"
                         "network: {fabric: switch, link_bytes_per_s: {value: 1 GB/s, "
                         "direction: one_way, source: [s]}}\n";
  EXPECT_EQ(ChooseSpec(path)->spec.name, "mine");
  EXPECT_EQ(ChooseSpec(path + ":8")->shape, spec::Shape{8});
  std::remove(path.c_str());
}

TEST(SpecOfRun, TheDeviceKindDecides) {
  const Machine machine = SpecOfRun("", Header("TPU v5 lite", Box(4, 4))).value().value();
  EXPECT_EQ(machine.name, "tpu-v5e:4x4");
  EXPECT_EQ(machine.axes.size(), 2u);
  EXPECT_EQ(SpecOfRun("", Header("TPU7x", Box(1, 1)))->value().devices_per_chip, 2);
  // reports.md B9: no likeness.
  EXPECT_FALSE(SpecOfRun("", Header("NVIDIA H100 NVL", {{}})).value().has_value());
  EXPECT_FALSE(SpecOfRun("", Header("cpu", {{}, {}})).value().has_value());
  EXPECT_FALSE(SpecOfRun("", Json::object()).value().has_value());
}

TEST(SpecOfRun, PartsOfASliceHaveNoAxes) {
  const Machine machine = SpecOfRun("", Header("TPU v5 lite", Box(3, 4))).value().value();
  EXPECT_EQ(machine.name, "tpu-v5e");
  EXPECT_TRUE(machine.axes.empty());
  EXPECT_NE(machine.Peak(ComputeUnit::kMatrix, "bf16"), nullptr);
}

TEST(SpecOfRun, GpusAreCounted) {
  const Machine machine =
      SpecOfRun("", Header("NVIDIA H100 80GB HBM3", {{}, {}, {}, {}})).value().value();
  EXPECT_EQ(machine.name, "h100-sxm:4");
  EXPECT_EQ(machine.axes.front().size, 4);
}

TEST(SpecOfRun, AChoiceGoesBeforeTheKind) {
  EXPECT_EQ(SpecOfRun("tpu-v4:2x2x1", Header("TPU v5 lite", Box(4, 4)))->value().name,
            "tpu-v4:2x2x1");
  EXPECT_FALSE(SpecOfRun("tpu-v4:3x3x3", Json::object()).has_value());
}

}  // namespace
}  // namespace ridgeline::cli
