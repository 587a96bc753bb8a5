// Bad suites: each error names the place, what was found, what is allowed, and the nearest name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/fake_benchmarks.h"
#include "suite/suite.h"

namespace ridgeline::suite {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const auto suite = ReadSuite(text, "s.yaml", FakeBenchmarks(), FakeShapes());
  if (!suite) return suite.error().ToString();
  ExpandOptions options;
  options.mesh.axes = {{"x", 2}, {"y", 2}};
  options.device_count = 4;
  const auto cases = ExpandSuite(*suite, options);
  return cases ? "accepted" : cases.error().ToString();
}

struct BadSuite {
  std::string name;
  std::string text;
  std::string error;  // the beginning of it
};

void PrintTo(const BadSuite& bad, std::ostream* out) { *out << bad.name; }

class BadSuiteTest : public ::testing::TestWithParam<BadSuite> {};

TEST_P(BadSuiteTest, IsNamed) {
  EXPECT_THAT(ErrorOf(GetParam().text), ::testing::StartsWith(GetParam().error));
}

// The case stands on line 3, after "version" and "cases:".
BadSuite InCase(std::string name, const std::string& text, std::string error) {
  return {std::move(name), "version: 1\ncases:\n  - {" + text + "}\n", std::move(error)};
}

INSTANTIATE_TEST_SUITE_P(
    Suites, BadSuiteTest,
    ::testing::Values(
        BadSuite{"empty", "", "s.yaml: the file is empty"},
        BadSuite{"not_yaml", "version: 1\ncases: [}\n", "s.yaml:2:9: not valid YAML: "},
        BadSuite{"two_documents", "version: 1\n---\nversion: 1\n",
                 "s.yaml:1:10: not valid YAML: the document ends here but more text follows"},
        // YAML::LoadAll never returns from this one.
        BadSuite{"text_after_the_end", "{version: 1},\n",
                 "s.yaml:1:11: not valid YAML: the document ends here but more text follows"},
        BadSuite{"a_list", "- 1\n", "s.yaml:1:1: a suite is a list; expected a mapping"},
        BadSuite{"no_version", "cases: [{bench: stream}]\n", "s.yaml:1:1: 'version' is missing"},
        BadSuite{"newer", "version: 2\ncases: [{bench: stream}]\n",
                 "s.yaml:1:10: version 2 is newer than this program reads; expected 1"},
        BadSuite{"version_text", "version: one\n",
                 "s.yaml:1:10: version is 'one'; expected a whole number"},
        BadSuite{"unknown_key", "version: 1\ncase: []\n",
                 "s.yaml:2:1: unknown key of a suite 'case'; allowed: version, name, description, "
                 "defaults, cases; did you mean 'cases'?"},
        BadSuite{"twice", "version: 1\nname: a\nname: b\n",
                 "s.yaml:3:1: key 'name' is given twice"},
        BadSuite{"no_cases", "version: 1\n", "s.yaml:1:1: 'cases' is missing"},
        BadSuite{"empty_cases", "version: 1\ncases: []\n",
                 "s.yaml:2:8: 'cases' is an empty list; expected a list of at least one item"},
        BadSuite{"null_cases", "version: 1\ncases:\n", "s.yaml:3:1: 'cases' is empty"},
        BadSuite{"bad_default", "version: 1\ndefaults: {dtpye: f32}\ncases: [{bench: stream}]\n",
                 "s.yaml:2:12: unknown key of 'defaults' 'dtpye'; allowed: "},
        BadSuite{"default_value",
                 "version: 1\ndefaults: {dtype: s32}\ncases:\n  - {bench: matmul}\n",
                 "s.yaml:2:19: parameter 'dtype' is 's32'; expected a dtype: f32, bf16, s8"},
        BadSuite{"default_precision", "version: 1\ndefaults: {precision: 3}\n",
                 "s.yaml:2:23: 'precision' is '3'; expected a number from 0.0001 to 1"},
        BadSuite{"scalar_case", "version: 1\ncases: [stream]\n",
                 "s.yaml:2:9: a case is 'stream'; expected a mapping"},
        InCase("no_bench", "bytes: 4", "s.yaml:3:5: a case without 'bench'"),
        InCase("unknown_bench", "bench: matnul",
               "s.yaml:3:13: unknown benchmark 'matnul'; allowed: matmul, sum, pair, stream, "
               "attend; did you mean 'matmul'?"),
        InCase("unknown_bench_in_list", "bench: [matmul, summ]",
               "s.yaml:3:22: unknown benchmark 'summ'; allowed: "),
        InCase("key_of_one_bench", "bench: [matmul, stream], m: 4",
               "s.yaml:3:31: unknown key of a case of stream 'm'"),
        InCase("unknown_param", "bench: stream, byte: 4",
               "s.yaml:3:21: unknown key of a case of stream 'byte'; allowed: bench, each, shapes, "
               "devices, data, bytes, "),
        InCase("bad_dtype", "bench: matmul, dtype: [f32, bf61]",
               "s.yaml:3:34: parameter 'dtype' is 'bf61'; expected a dtype: f32, bf16, s8; did you "
               "mean 'bf16'?"),
        InCase("bad_size", "bench: stream, bytes: 4 Mb",
               "s.yaml:3:28: parameter 'bytes' is '4 Mb'; expected a size in bytes such as 64KiB"),
        InCase("too_small", "bench: matmul, m: 0",
               "s.yaml:3:24: parameter 'm' is 0; the least allowed value is 1"),
        InCase("not_whole", "bench: matmul, m: 1e3",
               "s.yaml:3:24: parameter 'm' is '1e3'; expected a whole number"),
        InCase("empty_value",
               "bench: matmul, m: ", "s.yaml:3:24: a value of 'm' is empty; expected text"),
        InCase("empty_list", "bench: matmul, m: []", "s.yaml:3:24: 'm' is an empty list"),
        InCase("nested_list", "bench: matmul, m: [[1]]",
               "s.yaml:3:25: a value of 'm' is a list; expected text"),
        InCase("range_of_words", "bench: matmul, dtype: {from: f32, to: bf16, add: 1}",
               "s.yaml:3:28: 'dtype' cannot be a range"),
        InCase("endless_range", "bench: matmul, m: {from: 1, to: 9, multiply: 1}",
               "s.yaml:3:24: multiply is 1; expected at least 2, or the range never ends"),
        InCase("range_of_zero", "bench: pair, source: {from: 0, to: 9, multiply: 2}",
               "s.yaml:3:27: the range goes from 0 to 9; expected 1 <= from <= to"),
        InCase("downward", "bench: stream, bytes: {from: 1MiB, to: 1KiB, multiply: 2}",
               "s.yaml:3:28: the range goes from 1048576 to 1024"),
        InCase("half_a_range", "bench: matmul, m: {from: 1, to: 9}",
               "s.yaml:3:24: a range has the keys from, to, and either multiply or add"),
        InCase("range_key", "bench: matmul, m: {from: 1, until: 9, add: 1}",
               "s.yaml:3:34: unknown key of a range 'until'; allowed: from, to, multiply, add"),
        InCase("long_range", "bench: matmul, m: {from: 1, to: 1000000, add: 1}",
               "s.yaml:3:24: 'm' has more than 100000 values"),
        InCase("missing", "bench: attend",
               "s.yaml:3:5: a case of attend needs 'size' (extent, no default)"),
        InCase("devices_of_mesh", "bench: sum, devices: 0",
               "s.yaml:3:18: sum runs on the whole mesh"),
        InCase("devices_word", "bench: stream, devices: every",
               "s.yaml:3:30: 'devices' is 'every'; expected a device number, each, all"),
        InCase("no_such_device", "bench: stream, devices: [0, 4]",
               "s.yaml:3:34: device 4 is asked for, but this run has 4: 0..3"),
        InCase("bad_group", "bench: sum, group: [all, z]",
               "s.yaml:3:18: unknown mesh axis or group 'z'; allowed: all, halves, x, y"),
        InCase("pairs_word", "bench: pair, pairs: some",
               "s.yaml:3:26: 'pairs' is 'some'; expected all or neighbours"),
        InCase("pairs_and_source", "bench: pair, pairs: all, source: 1",
               "s.yaml:3:31: 'pairs' gives source and target"),
        InCase("pairs_elsewhere", "bench: stream, pairs: all",
               "s.yaml:3:21: unknown key of a case of stream 'pairs'"),
        InCase("no_such_shapes", "bench: matmul, shapes: tin",
               "s.yaml:3:29: unknown list of shapes 'tin'; allowed: tiny, wide; did you mean "
               "'tiny'?"),
        InCase("foreign_shapes", "bench: matmul, shapes: wide",
               "s.yaml:3:29: shape 'odd' of list 'wide': 'batch' is no parameter of matmul"),
        InCase("given_twice", "bench: matmul, m: 1, each: [{m: 2}]",
               "s.yaml:3:27: 'm' is given twice, here and at s.yaml:3:21"),
        InCase("list_in_each", "bench: matmul, each: [{m: [1, 2]}]",
               "s.yaml:3:32: 'm' is a list; a value inside 'each' is a single one"),
        InCase("blocks", "bench: stream, min_blocks: 5, max_blocks: 4",
               "s.yaml:3:5: max_blocks is 4, less than min_blocks 5"),
        InCase("data", "bench: stream, data: zero",
               "s.yaml:3:27: unknown data mode 'zero'; allowed: normal, zeros, ones; did you mean "
               "'zeros'?"),
        InCase("precision_word", "bench: matmul, precision: highest",
               "s.yaml:3:32: 'precision' is 'highest'; expected a number from 0.0001 to 1"),
        InCase("precision_config", "bench: matmul, precision_config: hihgest",
               "s.yaml:3:39: parameter 'precision_config' is 'hihgest'; expected text: default, "
               "highest; did you mean 'highest'?"),
        InCase("too_many",
               "bench: matmul, m: {from: 1, to: 400, add: 1}, n: {from: 1, to: 400, add: 1}",
               "s.yaml:3:5: with this case the suite has more than 100000 cases")),
    [](const auto& test) { return test.param.name; });

TEST(SuiteErrors, DeepNestingIsRefused) {
  const std::string deep(100, '[');
  EXPECT_THAT(ErrorOf("version: 1\ncases: " + deep + std::string(100, ']')),
              HasSubstr("nested more than 16 deep"));
  EXPECT_THAT(ErrorOf("version: " + std::string(100'000, '[')), HasSubstr("not valid YAML"));
}

// 10^9 nodes in 200 bytes.
TEST(SuiteErrors, AliasBombsAreRefused) {
  std::string text = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j ? ",*a" : "*a") + std::to_string(i - 1);
    text += "]\n";
  }
  EXPECT_THAT(ErrorOf(text), HasSubstr("more than 200000 nodes"));
}

TEST(SuiteErrors, HugeFilesAreRefused) {
  EXPECT_THAT(ErrorOf("version: 1\n#" + std::string(size_t{1} << 20, 'x')),
              HasSubstr("s.yaml: the file has 1048588 bytes; at most 1048576 are read"));
}

TEST(SuiteErrors, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_THAT(ErrorOf("version: 1\ncases: [{bench: \"\\e[2J\"}]\n"), HasSubstr("'\\x1b[2J'"));
}

}  // namespace
}  // namespace ridgeline::suite
