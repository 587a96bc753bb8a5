#include "engine/batch.h"

#include <algorithm>
#include <memory>
#include <random>

#include "engine/host_state.h"

namespace ridgeline::engine {
namespace {

constexpr size_t kMostCases = 12;     // loaded at once
constexpr double kMemoryShare = 0.5;  // of the free memory for a batch

using Runners = std::vector<std::unique_ptr<CaseRunner>>;

void RunBatch(Runners batch, std::mt19937_64& shuffle, const CaseSinks& sinks) {
  const auto finish = [&sinks](CaseRunner& runner) {
    runner.Finish();
    if (runner.passed()) {
      sinks.passed(*runner.passed());
    } else {
      sinks.done(runner.measurement());
    }
  };
  Runners loaded;
  for (auto& runner : batch) {
    if (runner->Load()) {
      loaded.push_back(std::move(runner));
    } else {
      finish(*runner);
    }
  }
  while (!loaded.empty()) {
    std::ranges::shuffle(loaded, shuffle);
    Runners going;
    for (auto& runner : loaded) {
      if (runner->Sample()) {
        going.push_back(std::move(runner));
      } else {
        finish(*runner);
      }
    }
    loaded = std::move(going);
  }
  ReturnFreedMemory();
}

void RunComponent(RunContext& context, std::vector<Case> cases, std::mt19937_64& shuffle,
                  const CaseSinks& sinks) {
  std::ranges::shuffle(cases, shuffle);
  Runners batch;
  int64_t batch_bytes = 0;
  for (Case& c : cases) {
    auto runner = std::make_unique<CaseRunner>(context, std::move(c));
    if (!runner->Build()) {
      sinks.done(runner->measurement());
      continue;
    }
    const int64_t needed = runner->bytes_needed();
    const auto budget = static_cast<int64_t>(
        kMemoryShare * static_cast<double>(context.free_bytes(runner->measurement().devices)));
    if (!batch.empty() && (batch.size() >= kMostCases || batch_bytes + needed > budget)) {
      RunBatch(std::move(batch), shuffle, sinks);
      batch.clear();
      batch_bytes = 0;
    }
    batch_bytes += needed;
    batch.push_back(std::move(runner));
  }
  RunBatch(std::move(batch), shuffle, sinks);
}

}  // namespace

void RunCases(RunContext& context, std::vector<Case> cases, const CaseSinks& sinks) {
  std::mt19937_64 shuffle(context.seed + context.pass());
  std::ranges::stable_sort(cases, {}, [](const Case& c) { return c.component; });
  while (!cases.empty()) {
    const auto end = std::ranges::find_if(
        cases, [first = cases.front().component](const Case& c) { return c.component != first; });
    std::vector<Case> component(cases.begin(), end);
    cases.erase(cases.begin(), end);
    RunComponent(context, std::move(component), shuffle, sinks);
  }
}

}  // namespace ridgeline::engine
