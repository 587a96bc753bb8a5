#include "predict/case_kinds.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "benchmarks/benchmark.h"

namespace ridgeline::predict {
namespace {

// The case's id with every device that it names set to the first one.
std::string KindOf(const Case& c) {
  Case anywhere = c;
  anywhere.placement.device = 0;
  const Result<const benchmarks::Benchmark*> benchmark = benchmarks::FindBenchmark(c.bench);
  if (!benchmark) return c.id();
  for (const ParamSpec& spec : (*benchmark)->params) {
    if (spec.names_device) anywhere.params.Set(spec.name, int64_t{0});
  }
  return anywhere.id();
}

}  // namespace

std::vector<CaseKind> ExamplesOf(std::span<const Case> cases) {
  struct Members {
    size_t first = 0, last = 0;
    int64_t count = 0;
  };
  std::unordered_map<std::string, Members> kinds;
  for (size_t i = 0; i < cases.size(); ++i) {
    Members& kind = kinds.try_emplace(KindOf(cases[i]), Members{i, i, 0}).first->second;
    kind.last = i;
    ++kind.count;
  }
  std::vector<std::pair<size_t, int64_t>> chosen;
  for (const auto& [name, kind] : kinds) {
    chosen.emplace_back(kind.first, std::max<int64_t>(kind.count - 1, 1));
    if (kind.count > 1) chosen.emplace_back(kind.last, 1);
  }
  std::ranges::sort(chosen);
  std::vector<CaseKind> examples;
  for (const auto& [at, count] : chosen) examples.push_back({cases[at], count});
  return examples;
}

}  // namespace ridgeline::predict
