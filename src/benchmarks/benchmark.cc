#include "benchmarks/benchmark.h"

#include "base/text.h"

namespace ridgeline::benchmarks {

#define RL_BENCHMARK(name) Benchmark name##_benchmark();
#include "benchmarks/benchmarks.def"
#undef RL_BENCHMARK

std::span<const Benchmark> AllBenchmarks() {
  static const std::vector<Benchmark> kAll = {
#define RL_BENCHMARK(name) name##_benchmark(),
#include "benchmarks/benchmarks.def"
#undef RL_BENCHMARK
  };
  return kAll;
}

Result<const Benchmark*> FindBenchmark(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Benchmark& benchmark : AllBenchmarks()) {
    if (benchmark.name == name) return &benchmark;
    names.push_back(benchmark.name);
  }
  return Fail(Code::kNotFound, UnknownName("benchmark", name, names), "", "see `ridgeline list`");
}

}  // namespace ridgeline::benchmarks
