// What holds for every benchmark.
#include <gmock/gmock.h>

#include <charconv>
#include <set>

#include "benchmarks/cases.h"

namespace ridgeline::benchmarks {
namespace {

TEST(Benchmarks, EachStandsInTheTable) {
  std::set<std::string> covered;
  for (const Row& row : Rows()) covered.insert(row.bench);
  for (const Benchmark& benchmark : AllBenchmarks()) {
    EXPECT_TRUE(covered.contains(benchmark.name)) << benchmark.name;
  }
}

TEST(Benchmarks, AreFoundByNameAndComeInComponents) {
  Component last = Component::kNetwork;
  std::set<std::string> names;
  for (const Benchmark& benchmark : AllBenchmarks()) {
    EXPECT_EQ(FindBenchmark(benchmark.name).value()->name, benchmark.name);
    EXPECT_TRUE(names.insert(benchmark.name).second) << benchmark.name << " twice";
    EXPECT_FALSE(benchmark.summary.empty());
    EXPECT_GE(benchmark.component, last) << benchmark.name;
    last = benchmark.component;
    for (const ParamSpec& param : benchmark.params) {
      EXPECT_FALSE(param.help.empty()) << benchmark.name << " " << param.name;
    }
  }
  const auto unknown = FindBenchmark("traid");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, ::testing::HasSubstr("did you mean 'triad'?"));
}

TEST(Benchmarks, FallbacksBuild) {
  for (const Benchmark& benchmark : AllBenchmarks()) {
    if (benchmark.component == Component::kImported) continue;
    const auto program = TryBuild(benchmark.name, {}, {.devices = 4, .platform = "cuda"});
    EXPECT_TRUE(program.has_value()) << benchmark.name << ": " << program.error().ToString();
  }
}

// Bytes of the type that follows a constant's value: "dense<0.0> : tensor<4x8xf32>".
int64_t ConstantBytes(std::string_view type) {
  int64_t bytes = 8;  // of one element, at most
  size_t at = 0;
  while (at < type.size()) {
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(type.data() + at, type.data() + type.size(), extent);
    if (error != std::errc() || end == type.data() + type.size() || *end != 'x') break;
    bytes *= extent;
    at = static_cast<size_t>(end - type.data()) + 1;
  }
  return bytes;
}

// jax#10596: what is known at compile time is folded.
TEST(Benchmarks, NoProgramHoldsALargeConstant) {
  EXPECT_EQ(ConstantBytes("4x8xf32"), 256);
  for (const Row& row : Rows()) {
    const auto program = Build(row);
    if (!program) continue;
    SCOPED_TRACE(Name(row));
    const std::string& text = program->stablehlo;
    for (size_t at = text.find("stablehlo.constant"); at != std::string::npos;
         at = text.find("stablehlo.constant", at + 1)) {
      const size_t type = text.find(": tensor<", at) + 9;
      EXPECT_LE(ConstantBytes(std::string_view(text).substr(type, text.find('>', type) - type)),
                1024)
          << text.substr(at, 200);
    }
  }
}

// The text of a program does not depend on its data, so that its hash names the program.
TEST(Benchmarks, TextIsAFunctionOfTheParameters) {
  for (const Row& row : Rows()) {
    const auto once = Build(row);
    const auto again = Build(row);
    if (once) {
      EXPECT_EQ(once->stablehlo, again->stablehlo) << Name(row);
    }
  }
}

}  // namespace
}  // namespace ridgeline::benchmarks
