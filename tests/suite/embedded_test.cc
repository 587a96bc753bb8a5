// The suites that are compiled in, against the real benchmarks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "suite/suite.h"

namespace ridgeline::suite {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<Case> Cases(std::string_view name, std::vector<MeshAxis> axes) {
  const auto text = FindEmbeddedSuite(name);
  EXPECT_TRUE(text) << text.error().ToString();
  const auto shapes = EmbeddedShapes();
  EXPECT_TRUE(shapes) << shapes.error().ToString();
  const auto suite = ReadSuite(*text, name, benchmarks::AllBenchmarks(), *shapes);
  EXPECT_TRUE(suite) << suite.error().ToString();
  if (!suite) return {};
  EXPECT_EQ(suite->name, name);
  EXPECT_FALSE(suite->description.empty());
  ExpandOptions options;
  options.mesh.axes = std::move(axes);
  options.device_count = static_cast<int>(options.mesh.size());
  for (int d = 0; d < options.device_count; ++d) options.mesh.order.push_back(d);
  auto cases = ExpandSuite(*suite, options);
  EXPECT_TRUE(cases) << cases.error().ToString();
  return cases ? *cases : std::vector<Case>{};
}

TEST(EmbeddedSuites, AreThese) {
  EXPECT_THAT(ListEmbeddedSuites(),
              UnorderedElementsAre("network-smoke", "quick", "standard", "full", "network",
                                   "compute", "hbm", "host", "attention"));
  const auto missing = FindEmbeddedSuite("quik");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("did you mean 'quick'?"));
}

TEST(EmbeddedSuites, ExpandOnEveryMesh) {
  for (const std::string_view name : ListEmbeddedSuites()) {
    SCOPED_TRACE(name);
    for (const std::vector<MeshAxis>& axes :
         {std::vector<MeshAxis>{{"x", 1}}, {{"x", 2}}, {{"x", 4}}, {{"x", 2}, {"y", 4}}}) {
      const std::vector<Case> cases = Cases(name, axes);
      EXPECT_GT(cases.size(), 5u);
      EXPECT_LT(cases.size(), 2000u);
    }
  }
}

TEST(EmbeddedSuites, QuickIsQuickAndStandardHoldsEveryBenchmark) {
  const std::vector<Case> quick = Cases("quick", {{"x", 4}});
  EXPECT_GE(quick.size(), 25u);
  EXPECT_LE(quick.size(), 32u);
  std::map<Component, int> components;
  for (const Case& c : quick) ++components[c.component];
  EXPECT_EQ(components.size(), 5u);

  std::map<std::string, int> benches;
  for (const Case& c : Cases("standard", {{"x", 4}})) ++benches[c.bench];
  for (const benchmarks::Benchmark& benchmark : benchmarks::AllBenchmarks()) {
    if (benchmark.name == "imported") continue;  // needs a file of the user's
    EXPECT_GT(benches[benchmark.name], 0) << benchmark.name;
  }
}

// A case that no device could run is a mistake in the suite.
TEST(EmbeddedSuites, EveryCaseBuildsOrSaysWhatItNeeds) {
  Mesh mesh;
  mesh.axes = {{"x", 2}, {"y", 2}};
  mesh.order = {0, 1, 2, 3};
  for (const std::string_view name : ListEmbeddedSuites()) {
    for (const Case& c : Cases(name, mesh.axes)) {
      const auto benchmark = benchmarks::FindBenchmark(c.bench);
      ASSERT_TRUE(benchmark);
      benchmarks::Target target;
      target.mesh = &mesh;
      target.placement = c.placement;
      target.platform = "cpu";
      const auto program = (*benchmark)->build(c.params, target);
      EXPECT_TRUE(program || program.error().code != Code::kInvalidArgument)
          << name << ": " << c.id() << ": " << program.error().ToString();
    }
  }
}

}  // namespace
}  // namespace ridgeline::suite
