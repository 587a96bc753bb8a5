#include "suite/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>

#include "suite/fake_benchmarks.h"
#include "suite/precision_keys.h"

namespace ridgeline::suite {
namespace {

using ::testing::ElementsAre;
using Strings = std::vector<std::string>;

ExpandOptions On(std::vector<MeshAxis> axes) {
  ExpandOptions options;
  options.mesh.axes = std::move(axes);
  options.device_count = static_cast<int>(options.mesh.size());
  return options;
}

std::vector<Case> Expand(const std::string& cases,
                         const ExpandOptions& options = On({{"x", 2}, {"y", 2}})) {
  const auto suite =
      ReadSuite("version: 1\n" + cases, "dir/s.yaml", FakeBenchmarks(), FakeShapes());
  EXPECT_TRUE(suite) << suite.error().ToString();
  if (!suite) return {};
  auto expanded = ExpandSuite(*suite, options);
  EXPECT_TRUE(expanded) << expanded.error().ToString();
  return expanded ? *expanded : std::vector<Case>{};
}

// The values of one parameter over all cases, in order.
Strings Values(const std::vector<Case>& cases, const std::string& name) {
  Strings values;
  for (const Case& c : cases) values.push_back(ToString(c.params.values().at(name)));
  return values;
}

Strings Ids(const std::vector<Case>& cases) {
  Strings ids;
  for (const Case& c : cases) ids.push_back(c.id());
  return ids;
}

TEST(Suite, NameDescriptionAndDefaults) {
  const auto suite = ReadSuite(
      "version: 1\ndescription: d\ndefaults: {precision: 0.01, block_seconds: 0.25, data: zeros, "
      "min_blocks: 4}\ncases: [{bench: stream, time_limit_s: 7, precision: 0.5}]\n",
      "dir/fast.yaml", FakeBenchmarks(), FakeShapes());
  ASSERT_TRUE(suite) << suite.error().ToString();
  EXPECT_EQ(suite->name, "fast");
  EXPECT_EQ(suite->description, "d");
  const CaseTemplate& one = suite->cases.at(0);
  EXPECT_EQ(one.precision.relative_half_width, 0.5);
  EXPECT_EQ(one.precision.block_seconds, 0.25);
  EXPECT_EQ(one.precision.min_blocks, 4);
  EXPECT_EQ(one.precision.time_limit_s, 7);
  EXPECT_EQ(one.data_mode, "zeros");
}

TEST(Suite, SweepsAreTheProductInWrittenOrder) {
  const auto cases = Expand("cases: [{bench: matmul, dtype: [bf16, f32], m: [1, 2]}]");
  EXPECT_THAT(Values(cases, "dtype"), ElementsAre("bf16", "bf16", "f32", "f32"));
  EXPECT_THAT(Values(cases, "m"), ElementsAre("1", "2", "1", "2"));
}

TEST(Suite, SeveralBenchmarksShareACase) {
  const auto cases = Expand("cases: [{bench: [sum, pair], bytes: [4, 8]}]");
  EXPECT_THAT(
      Ids(cases),
      ElementsAre("sum/bytes=4,dtype=f32,group=all@all", "sum/bytes=8,dtype=f32,group=all@all",
                  "pair/bytes=4,source=0,target=1@all", "pair/bytes=8,source=0,target=1@all"));
}

TEST(Suite, Ranges) {
  EXPECT_THAT(Values(Expand("cases: [{bench: stream, bytes: {from: 1KiB, to: 1MiB, multiply: 8}}]"),
                     "bytes"),
              ElementsAre("1024", "8192", "65536", "524288"));
  EXPECT_THAT(Values(Expand("cases: [{bench: matmul, m: [7, {from: 127, to: 129, add: 1}]}]"), "m"),
              ElementsAre("7", "127", "128", "129"));
  // Up to the end of the type without an overflow.
  EXPECT_EQ(
      Expand("cases: [{bench: matmul, m: {from: 1, to: 9223372036854775807, multiply: 2}}]").size(),
      63u);
}

TEST(Suite, JoinedNamesTakeOneValue) {
  const auto cases = Expand("cases: [{bench: matmul, m+n+k: [32, 64], dtype: bf16}]");
  EXPECT_THAT(Ids(cases),
              ElementsAre("matmul/dtype=bf16,k=32,m=32,n=32,precision_config=default@device0",
                          "matmul/dtype=bf16,k=64,m=64,n=64,precision_config=default@device0"));
}

TEST(Suite, ShapesAndEachAreZipped) {
  const auto shapes = Expand("cases: [{bench: matmul, shapes: tiny, dtype: [f32, bf16]}]");
  EXPECT_THAT(Values(shapes, "m"), ElementsAre("1", "1", "4", "4"));
  EXPECT_THAT(Values(shapes, "k"), ElementsAre("3", "3", "6", "6"));
  const auto each = Expand("cases: [{bench: matmul, each: [{m: 1, n+k: 2}, {m: 3}]}]");
  EXPECT_THAT(Values(each, "m"), ElementsAre("1", "3"));
  EXPECT_THAT(Values(each, "n"), ElementsAre("2", "16"));
}

TEST(Suite, DefaultParametersApplyWhereTheBenchmarkHasThem) {
  const auto cases = Expand(
      "defaults: {dtype: [f32, bf16], bytes: 4KiB}\n"
      "cases: [{bench: matmul}, {bench: stream}, {bench: sum, dtype: s8, bytes: 8}]");
  EXPECT_THAT(Ids(cases),
              ElementsAre("sum/bytes=8,dtype=s8,group=all@all",
                          "matmul/dtype=f32,k=16,m=16,n=16,precision_config=default@device0",
                          "matmul/dtype=bf16,k=16,m=16,n=16,precision_config=default@device0",
                          "stream/bytes=4096@device0"));
}

TEST(Suite, PrecisionOfTheFigureAndOfTheProductAreTwoKeys) {
  const auto cases = Expand(
      "defaults: {precision: 0.02}\ncases: [{bench: matmul, precision_config: [default, highest]},"
      "{bench: matmul, m: 3, precision: 0.25}]");
  EXPECT_THAT(Values(cases, "precision_config"), ElementsAre("default", "highest", "default"));
  EXPECT_EQ(cases[1].precision.relative_half_width, 0.02);
  EXPECT_EQ(cases[2].precision.relative_half_width, 0.25);
}

TEST(Suite, NoParameterOfABenchmarkIsAKeyOfTheSuite) {
  for (const benchmarks::Benchmark& benchmark : benchmarks::AllBenchmarks()) {
    for (const ParamSpec& param : benchmark.params) {
      EXPECT_EQ(FindPrecisionKey(param.name), nullptr) << benchmark.name << " " << param.name;
      EXPECT_THAT((Strings{"bench", "data", "devices", "each", "shapes", "pairs"}),
                  ::testing::Not(::testing::Contains(param.name)))
          << benchmark.name;
    }
  }
}

TEST(Suite, ComponentsAreOrderedTheFileInsideThem) {
  const auto cases = Expand(
      "cases: [{bench: attend, size: 1}, {bench: matmul, m: 2}, {bench: stream}, {bench: matmul, "
      "m: 1}, {bench: sum}]");
  Strings benches;
  for (const Case& c : cases) benches.push_back(c.bench);
  EXPECT_THAT(benches, ElementsAre("sum", "matmul", "matmul", "stream", "attend"));
  EXPECT_EQ(cases[1].params.Integer("m"), 2);
}

TEST(Suite, Devices) {
  const auto placements = [](const std::string& devices, int count) {
    Strings text;
    for (const Case& c :
         Expand("cases: [{bench: stream, devices: " + devices + "}]", On({{"x", count}}))) {
      text.push_back(c.id().substr(c.id().find('@')));
    }
    return text;
  };
  EXPECT_THAT(placements("0", 3), ElementsAre("@device0"));
  EXPECT_THAT(placements("each", 3), ElementsAre("@device0", "@device1", "@device2"));
  EXPECT_THAT(placements("all", 3), ElementsAre("@all"));
  EXPECT_THAT(placements("[each, all, 2]", 3),
              ElementsAre("@device0", "@device1", "@device2", "@all"));
  // Of one device, "all" says nothing new.
  EXPECT_THAT(placements("[each, all]", 1), ElementsAre("@device0"));
}

TEST(Suite, GroupAxes) {
  const auto groups = [](const std::string& value, std::vector<MeshAxis> axes) {
    return Values(Expand("cases: [{bench: sum, group: " + value + "}]", On(std::move(axes))),
                  "group");
  };
  EXPECT_THAT(groups("[all, axes]", {{"x", 2}, {"y", 3}, {"z", 1}}), ElementsAre("all", "x", "y"));
  EXPECT_THAT(groups("[all, axes]", {{"x", 4}}), ElementsAre("all"));
  EXPECT_THAT(groups("axes", {{"x", 4}}), ElementsAre("x"));
  EXPECT_THAT(groups("[axes, all]", {{"x", 1}}), ElementsAre("all"));
  EXPECT_THAT(groups("axes", {{"x", 1}}), ElementsAre("all"));
  EXPECT_THAT(groups("[x, axes, x+y]", {{"x", 2}, {"y", 2}}), ElementsAre("x", "y", "x+y"));
  // Too few devices for it is a row of its own, not an error.
  EXPECT_THAT(groups("halves", {{"x", 2}}), ElementsAre("halves"));
}

TEST(Suite, Pairs) {
  const auto pairs = [](const std::string& value, int64_t devices) {
    Strings text;
    for (const Case& c :
         Expand("cases: [{bench: pair, pairs: " + value + "}]", On({{"x", devices}}))) {
      text.push_back(ToString(c.params.values().at("source")) + ">" +
                     ToString(c.params.values().at("target")));
    }
    return text;
  };
  EXPECT_THAT(pairs("all", 3), ElementsAre("0>1", "0>2", "1>0", "1>2", "2>0", "2>1"));
  EXPECT_THAT(pairs("neighbours", 3), ElementsAre("0>1", "1>2", "2>0"));
  EXPECT_THAT(pairs("neighbours", 2), ElementsAre("0>1", "1>0"));
  EXPECT_THAT(pairs("all", 1), ElementsAre("0>1"));
}

TEST(Suite, APairMatrixOfThousandsOfDevicesIsRefusedAtOnce) {
  const auto suite = ReadSuite("version: 1\ncases: [{bench: pair, pairs: all}]", "s.yaml",
                               FakeBenchmarks(), FakeShapes());
  ASSERT_TRUE(suite);
  EXPECT_FALSE(ExpandSuite(*suite, On({{"x", 100'000}})));
  EXPECT_TRUE(ExpandSuite(*suite, On({{"x", 316}})));
}

TEST(Suite, TheSameCaseTwiceIsOnce) {
  EXPECT_EQ(Expand("cases: [{bench: stream, bytes: [1KiB, 1024]}, {bench: stream}]").size(), 1u);
}

TEST(Suite, TheLimitIsOnTheWholeSuite) {
  const std::string half = "{bench: matmul, m: {from: 1, to: 50000, add: 1}, devices: 0}";
  const auto read = [](const std::string& cases) {
    return ReadSuite("version: 1\ncases: [" + cases + "]", "s.yaml", FakeBenchmarks(),
                     FakeShapes());
  };
  const auto at_limit = read(half + ", {bench: matmul, n: {from: 1, to: 50000, add: 1}}");
  ASSERT_TRUE(at_limit);
  EXPECT_TRUE(ExpandSuite(*at_limit, On({{"x", 1}})));
  const auto over = read(half + ", {bench: matmul, n: {from: 1, to: 50001, add: 1}}");
  ASSERT_TRUE(over);
  // Not to be hidden by a filter either.
  ExpandOptions filtered = On({{"x", 1}});
  filtered.filter = "m=7,";
  EXPECT_FALSE(ExpandSuite(*over, filtered));
}

TEST(Suite, FiltersAndComponents) {
  const std::string text = "cases: [{bench: stream, bytes: [1, 12]}, {bench: matmul, m: [1, 12]}]";
  ExpandOptions options = On({{"x", 1}});
  options.filter = "bytes=1";
  EXPECT_EQ(Expand(text, options).size(), 2u);
  options.filter = "*bytes=1@*";
  EXPECT_EQ(Expand(text, options).size(), 1u);
  options.filter = "stream/*";
  EXPECT_EQ(Expand(text, options).size(), 2u);
  options.filter = "";
  options.only = {Component::kCompute};
  EXPECT_EQ(Expand(text, options).size(), 2u);
  options.filter = "stream";
  const auto suite = ReadSuite("version: 1\n" + text, "s.yaml", FakeBenchmarks(), FakeShapes());
  ASSERT_TRUE(suite);
  const auto none = ExpandSuite(*suite, options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "suite 's' has no case of component compute that matches 'stream'");
}

TEST(Suite, Globs) {
  EXPECT_TRUE(MatchesFilter("", "anything"));
  EXPECT_TRUE(MatchesFilter("a*c", "abbc"));
  EXPECT_FALSE(MatchesFilter("a*c", "abcd"));
  EXPECT_TRUE(MatchesFilter("?b*", "ab"));
  EXPECT_FALSE(MatchesFilter("?", ""));
  EXPECT_TRUE(MatchesFilter("*a*b*", "xxaxxaxb"));
  // Linear in the worst case, where a naive matcher takes ages.
  EXPECT_FALSE(MatchesFilter("*a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST(Suite, PrecisionOverrides) {
  ExpandOptions options = On({{"x", 1}});
  options.precision = {.relative_half_width = 0.5, .min_blocks = 40, .time_limit_s = 2};
  const auto cases =
      Expand("cases: [{bench: stream, precision: 0.1, block_seconds: 0.5}]", options);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].precision.relative_half_width, 0.5);
  EXPECT_EQ(cases[0].precision.min_blocks, 40);
  EXPECT_EQ(cases[0].precision.max_blocks, 40);
  EXPECT_EQ(cases[0].precision.time_limit_s, 2);
  EXPECT_EQ(cases[0].precision.block_seconds, 0.5);
}

TEST(Suite, DecimalCommaLocalesChangeNothing) {
  const char* set = std::setlocale(LC_ALL, "de_DE.UTF-8");
  const auto cases = Expand("cases: [{bench: stream, precision: 0.25}]");
  std::setlocale(LC_ALL, "C");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].precision.relative_half_width, 0.25);
  if (set == nullptr) GTEST_LOG_(INFO) << "de_DE.UTF-8 is not installed";
}

TEST(Shapes, AreReadByName) {
  const auto table = ReadShapes(
      "version: 1\nshapes:\n  a: [{name: qkv, m: 1, n: 2KiB}]\n  b: [{name: o, m: 3}]\n", "l.yaml");
  ASSERT_TRUE(table) << table.error().ToString();
  EXPECT_EQ(table->at("a").at(0).name, "qkv");
  EXPECT_EQ(ToString(table->at("a").at(0).params.at("n")), "2KiB");
  EXPECT_EQ(table->size(), 2u);
  const auto error = [](const std::string& text) {
    const auto bad = ReadShapes(text, "l.yaml");
    return bad ? "accepted" : bad.error().ToString();
  };
  EXPECT_EQ(error("version: 1\nshapes: {a: [{m: 1}]}\n"),
            "l.yaml:2:14: a shape has a name and at least one parameter");
  EXPECT_EQ(error("version: 1\n"), "l.yaml:1:1: 'shapes' is missing; expected named lists");
  EXPECT_EQ(error("version: 1\nshape: {}\n"),
            "l.yaml:2:1: unknown key 'shape'; allowed: version, description, shapes; did you mean "
            "'shapes'?");
}

}  // namespace
}  // namespace ridgeline::suite
