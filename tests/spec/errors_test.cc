// A bad spec file gets the place, the bad value, what is allowed and the nearest name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec.h"

namespace ridgeline::spec {
namespace {

constexpr std::string_view kGood = R"(version: 1
name: mine
sources:
  sheet: {title: My sheet, as_of: 2026-01-01}
compute:
  matrix:
    bf16: {value: 100 TFLOP/s, source: [sheet]}
memory:
  hbm:
    bytes_per_s: {value: 1 TB/s, source: [sheet]}
network:
  fabric: switch
  link_bytes_per_s: {value: 900 GB/s, direction: both, source: [sheet]}
prices:
  - {value: 1.5, currency: EUR, per: vm-hour, includes: 8 chips, source: [sheet]}
)";

std::string With(std::string_view from, std::string_view to) {
  std::string text(kGood);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// "where: message" of what With(from, to) is refused with.
std::string Refused(std::string_view from, std::string_view to) {
  const Result<Spec> spec = ReadSpec(With(from, to), "mine.yaml");
  return spec ? "accepted" : spec.error().where + ": " + spec.error().message;
}

TEST(SpecFile, AUsersOwnIsRead) {
  const Spec spec = ReadSpec(kGood, "mine.yaml").value();
  EXPECT_EQ(spec.title, "mine");
  const SpecFigure& bf16 = spec.compute.at(ComputeUnit::kMatrix).at("bf16");
  EXPECT_EQ(bf16.figure.value, 1e14);
  EXPECT_EQ(bf16.figure.source, "My sheet");
  EXPECT_EQ(bf16.figure.as_of, "2026-01-01");
  EXPECT_EQ(bf16.figure.scope, Scope::kChip);
  EXPECT_EQ(OneWay(spec.network->link.figure), 450e9);
  EXPECT_EQ(spec.prices[0].price.per, "vm-hour");
  EXPECT_EQ(MakeMachine(spec, {}).value().price->currency, "EUR");
}

TEST(SpecFile, UnknownKeysNameTheNearest) {
  EXPECT_EQ(Refused("memory:", "memori:").substr(0, 30), "mine.yaml:8:1: unknown key of ");
  EXPECT_THAT(Refused("memory:", "memori:"), testing::HasSubstr("did you mean 'memory'"));
  EXPECT_THAT(Refused("bf16:", "bf61:"), testing::AllOf(testing::StartsWith("mine.yaml:7:5: "),
                                                        testing::HasSubstr("did you mean 'bf16'")));
  EXPECT_THAT(Refused("matrix:", "matrx:"), testing::HasSubstr("did you mean 'matrix'"));
  EXPECT_THAT(Refused("direction: both", "direction: bth"),
              testing::AllOf(testing::StartsWith("mine.yaml:13:"),
                             testing::HasSubstr("did you mean 'both'")));
  EXPECT_THAT(Refused("per: vm-hour", "per: vm-houre"), testing::HasSubstr("'vm-hour'"));
  EXPECT_THAT(Refused("fabric: switch", "fabric: dcn"), testing::HasSubstr("torus"));
}

TEST(SpecFile, FiguresNeedTheirSource) {
  EXPECT_THAT(Refused(", source: [sheet]}\nmemory", "}\nmemory"),
              testing::AllOf(testing::StartsWith("mine.yaml:7:11: "),
                             testing::HasSubstr("has no 'source'")));
  EXPECT_THAT(Refused("source: [sheet]}\nmemory", "source: [sheat]}\nmemory"),
              testing::HasSubstr("did you mean 'sheet'"));
  EXPECT_THAT(Refused("source: [sheet]}\nmemory", "source: []}\nmemory"),
              testing::HasSubstr("names no source"));
  EXPECT_THAT(Refused(", as_of: 2026-01-01", ""), testing::HasSubstr("has no 'as_of'"));
  EXPECT_THAT(Refused("sources:\n  sheet: {title: My sheet, as_of: 2026-01-01}\n", ""),
              testing::HasSubstr("a spec has no 'sources'"));
}

TEST(SpecFile, BadValuesAreNamed) {
  EXPECT_EQ(
      Refused("100 TFLOP/s", "100 TFLOPS"),
      "mine.yaml:7:19: 'value': '100 TFLOPS' is no positive quantity of the kind 197 TFLOP/s");
  EXPECT_THAT(Refused("100 TFLOP/s", "-1"), testing::HasSubstr("'-1' is no positive quantity"));
  EXPECT_THAT(Refused("version: 1", "version: 2"), testing::HasSubstr("newer"));
  EXPECT_THAT(Refused("name: mine\n", ""), testing::HasSubstr("a spec has no 'name'"));
  EXPECT_THAT(Refused("fabric: switch", "fabric: torus"), testing::HasSubstr("needs 'axes'"));
  EXPECT_THAT(Refused("fabric: switch", "fabric: torus\n  axes: 2\n  wrap: full_pod"),
              testing::HasSubstr("needs 'pod' with 2 axes"));
  EXPECT_THAT(Refused("fabric: switch", "fabric: torus\n  axes: 2\n  shapes: [4x4x4]"),
              testing::HasSubstr("shape 4x4x4 does not have 2 axes"));
}

// reports.md G8: a price without its unit, or without what it covers, is refused.
TEST(SpecFile, G8APriceNeedsItsUnit) {
  EXPECT_THAT(Refused("per: vm-hour, ", ""), testing::HasSubstr("a price has no 'per'"));
  EXPECT_THAT(Refused("includes: 8 chips, ", ""), testing::HasSubstr("a price has no 'includes'"));
  EXPECT_THAT(Refused("currency: EUR, ", ""), testing::HasSubstr("a price has no 'currency'"));
}

TEST(SpecFile, NotYamlIsAnError) {
  EXPECT_FALSE(ReadSpec("", "f").has_value());
  EXPECT_FALSE(ReadSpec("[1, 2]", "f").has_value());
  EXPECT_FALSE(ReadSpec("version: 1\nname: [", "f").has_value());
  EXPECT_FALSE(ReadSpec("version: 1\nname: a\nsources: 3", "f").has_value());
}

}  // namespace
}  // namespace ridgeline::spec
