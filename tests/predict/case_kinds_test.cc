#include "predict/case_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/benchmark.h"
#include "suite/suite.h"

namespace ridgeline::predict {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::vector<Case> Expand(const std::string& cases, int64_t devices) {
  const auto suite =
      suite::ReadSuite("version: 1\ncases:\n" + cases, "test", benchmarks::AllBenchmarks(), {});
  EXPECT_TRUE(suite) << (suite ? "" : suite.error().ToString());
  Mesh mesh{.axes = {{"x", devices}}, .order = {}, .note = ""};
  return suite::ExpandSuite(*suite, {.mesh = mesh,
                                     .device_count = static_cast<int>(devices),
                                     .only = {},
                                     .filter = {},
                                     .precision = {}})
      .value();
}

TEST(CaseKinds, PairsOfManyDevicesAreOneProgram) {
  const std::vector<Case> cases = Expand("  - {bench: pair, bytes: [1KiB, 1MiB], pairs: all}\n", 8);
  ASSERT_EQ(cases.size(), 2u * 8 * 7);
  const std::vector<CaseKind> kinds = ExamplesOf(cases);
  ASSERT_EQ(kinds.size(), 4u);
  EXPECT_EQ(kinds[0].example.id(), cases[0].id());
  EXPECT_EQ(kinds[0].cases, 55);
  EXPECT_EQ(kinds[1].example.params.Integer("source"), 7);
  EXPECT_EQ(kinds[1].cases, 1);
  int64_t total = 0;
  for (const CaseKind& kind : kinds) total += kind.cases;
  EXPECT_EQ(total, 2 * 8 * 7);
}

TEST(CaseKinds, EachDeviceIsOneProgramAndAllOfThemAnother) {
  const std::vector<CaseKind> kinds =
      ExamplesOf(Expand("  - {bench: triad, bytes: 1MiB, devices: [each, all]}\n"
                        "  - {bench: triad, bytes: 2MiB}\n",
                        4));
  std::vector<std::string> ids;
  for (const CaseKind& kind : kinds) ids.push_back(kind.example.id());
  ASSERT_EQ(kinds.size(), 4u) << ::testing::PrintToString(ids);
  EXPECT_EQ(kinds[0].example.placement.device, 0);
  EXPECT_EQ(kinds[0].cases, 3);
  EXPECT_EQ(kinds[1].example.placement.device, 3);
  EXPECT_TRUE(kinds[2].example.placement.all);
  EXPECT_EQ(kinds[3].cases, 1);
}

}  // namespace
}  // namespace ridgeline::predict
