// The spec files that come with the program: all read, no two claim one name or device kind, and
// the figures are those of their sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "spec/spec.h"

namespace ridgeline::spec {
namespace {

std::span<const Spec> All() { return EmbeddedSpecs().value(); }
const Spec& Named(std::string_view name) { return *FindSpec(All(), name).value(); }

TEST(Catalogue, EverySystemIsThere) {
  std::vector<std::string> names;
  for (const Spec& spec : All()) names.push_back(spec.name);
  EXPECT_THAT(names, testing::ElementsAre(
                         "a100-sxm-40", "a100-sxm-80", "b200", "b300", "gb200", "gb300",
                         "h100-pcie", "h100-sxm", "h200-sxm", "l4", "mi300x", "mi325x", "mi355x",
                         "mi455x", "t4", "tpu-7x", "tpu-8i", "tpu-8t", "tpu-v2", "tpu-v3", "tpu-v4",
                         "tpu-v4-lite", "tpu-v5e", "tpu-v5p", "tpu-v6e", "v100-sxm2-16", "vr200"));
}

TEST(Catalogue, NamesAndKindsAreClaimedOnce) {
  std::set<std::string> names;
  std::set<std::string> kinds;
  for (const Spec& spec : All()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    for (const std::string& alias : spec.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
    for (const std::string& kind : spec.device_kinds) {
      EXPECT_TRUE(kinds.insert(kind).second) << kind;
    }
  }
}

TEST(Catalogue, EverySystemHasComputeAndMemory) {
  for (const Spec& spec : All()) {
    const Result<Machine> machine = MakeMachine(spec, {});
    ASSERT_TRUE(machine.has_value()) << spec.name;
    ASSERT_NE(machine->Level("hbm"), nullptr) << spec.name;
    EXPECT_TRUE(machine->Level("hbm")->capacity_bytes.has_value()) << spec.name;
    EXPECT_TRUE(machine->Level("hbm")->bytes_per_s.contains(Pattern::kSequential)) << spec.name;
    EXPECT_FALSE(machine->peaks.at(ComputeUnit::kMatrix).empty()) << spec.name;
    for (const auto& [unit, peaks] : machine->peaks) {
      for (const auto& [dtype, figure] : peaks) {
        EXPECT_FALSE(figure.source.empty() || figure.as_of.empty()) << spec.name << " " << dtype;
      }
    }
  }
}

struct Expected {
  std::string_view name;
  double bf16;
  double hbm;
  double link;
};

TEST(Catalogue, FiguresAreThoseOfTheSources) {
  for (const Expected& e :
       {Expected{"tpu-v4", 2.75e14, 1.2e12, 4.5e10}, Expected{"tpu-v5e", 1.97e14, 8.19e11, 5e10},
        Expected{"tpu-v5p", 4.59e14, 2.765e12, 1e11}, Expected{"tpu-v6e", 9.18e14, 1.638e12, 1e11},
        Expected{"tpu-7x", 2.307e15, 7.38e12, 1e11},
        Expected{"a100-sxm-80", 3.12e14, 2.03904e12, 3e11},
        Expected{"h100-sxm", 9.89e14, 3.35232e12, 4.5e11}, Expected{"b200", 2.25e15, 8e12, 9e11}}) {
    const Spec& spec = Named(e.name);
    EXPECT_EQ(spec.compute.at(ComputeUnit::kMatrix).at("bf16").figure.value, e.bf16) << e.name;
    EXPECT_EQ(spec.memory.front().bytes_per_s->figure.value, e.hbm) << e.name;
    EXPECT_EQ(OneWay(spec.network->link.figure), e.link) << e.name;
  }
}

// The practical link of model.md section 0.1 is kept beside the nominal one, and named so.
TEST(Catalogue, PracticalFiguresStandBesideNominalOnes) {
  const SpecFigure& link = Named("tpu-v5e").network->link;
  EXPECT_EQ(link.figure.kind, FigureKind::kNominal);
  ASSERT_EQ(link.alternatives.size(), 1u);
  EXPECT_EQ(link.alternatives[0].figure.value, 4.5e10);
  EXPECT_EQ(link.alternatives[0].figure.kind, FigureKind::kPractical);
}

TEST(Catalogue, FoundByNameAndAlias) {
  EXPECT_EQ(Named("v5e").name, "tpu-v5e");
  EXPECT_EQ(Named("ironwood").name, "tpu-7x");
  const auto unknown = FindSpec(All(), "tpu-v5f");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, Code::kNotFound);
  EXPECT_THAT(unknown.error().message, testing::HasSubstr("did you mean 'tpu-v5"));
}

TEST(Catalogue, DeviceKindsAreMatchedWhole) {
  const auto match = [](std::string_view kind) {
    const Spec* spec = MatchDeviceKind(All(), kind);
    return spec ? spec->name : std::string();
  };
  EXPECT_EQ(match("TPU v5 lite"), "tpu-v5e");
  EXPECT_EQ(match("TPU v5"), "tpu-v5p") << "the kind of v5p is a prefix of that of v5e";
  EXPECT_EQ(match("TPU v6 lite"), "tpu-v6e");
  EXPECT_EQ(match("TPU7x"), "tpu-7x");
  EXPECT_EQ(match("NVIDIA H100 80GB HBM3"), "h100-sxm");
  EXPECT_EQ(match("NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(match("NVIDIA A100-SXM4-80GB"), "a100-sxm-80");
  EXPECT_EQ(match("NVIDIA A100-SXM4-40GB"), "a100-sxm-40");
  for (const std::string_view unknown :
       {"NVIDIA H100 NVL", "H100", "NVIDIA H100", "tpu v5", "TPU v5 ", "TPU", "cpu", "",
        "NVIDIA A100-PCIE-40GB", "TPU v9"}) {
    EXPECT_EQ(match(unknown), "") << unknown;
  }
}

TEST(Catalogue, JsonHasTheSourceOfEveryFigure) {
  const Json json = ToJson(Named("tpu-7x"));
  const Json& f8 = json["compute"]["matrix"]["f8e4m3fn"];
  EXPECT_EQ(f8["value"], 4.614e15);
  EXPECT_EQ(f8["scope"], "chip");
  EXPECT_EQ(f8["confidence"], "official");
  EXPECT_THAT(f8["source"].get<std::string>(), testing::HasSubstr("TPU7x (Ironwood)"));
  EXPECT_EQ(json["compute"]["matrix"]["s8"]["emulated_as"], "bf16");
  EXPECT_EQ(json["network"]["wrap"], "cubes_of_4");
  EXPECT_EQ(json["prices"][0]["per"], "chip-hour");
}

}  // namespace
}  // namespace ridgeline::spec
