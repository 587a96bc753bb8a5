// What a component's many measurements come to: its best figure, its score, its counts.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measurement.h"
#include "core/plateaus.h"
#include "store/results.h"

namespace ridgeline::report {

// The rate that stands for the component in this measurement: network busbw, compute flops, hbm
// hbm_bw, host host_bw, attention useful_flops (else flops). nullptr without one.
const Rate* FigureOf(const Measurement& m);
// Rates in the order in which reports show them: the figure first.
std::vector<std::string> RateNames(Component component, std::span<const Measurement* const> of);

struct ComponentSummary {
  Component component = Component::kNetwork;
  int cases = 0;
  std::map<CaseStatus, int> statuses;
  int checks_passed = 0;
  int checks_failed = 0;
  // Pointers into the span that Summarise was given.
  const Measurement* best = nullptr;  // usable, with the surest high figure
  const Rate* figure = nullptr;       // of `best`
  std::optional<double> score;        // best share of the reference; absent: no reference
  const Measurement* score_case = nullptr;
  std::string note;  // hbm: what the figure may be called

  int usable() const;
};

// The five components in order, measured or not, and `imported` when there is such a case.
// The best figure is the one with the highest lower end of its interval, so that noise never wins;
// the best share likewise. A best figure is that of one device where there is one (network: of the
// whole group). An hbm figure comes from working sets past four times the last cache, or, where no
// such was measured or the cache is not known, from at least a quarter of the largest working set.
std::vector<ComponentSummary> Summarise(const Json& header, std::span<const Measurement> all);

// Bytes of the last data cache, where the header tells: on a CPU, whose device memory lies behind
// the host's caches.
std::optional<double> LastCacheBytes(const Json& header);

// Levels of one benchmark's sweep over the working set.
struct LevelSweep {
  const Measurement* first = nullptr;  // any member, for its label
  PlateauReport levels;
};
std::vector<LevelSweep> FindLevels(const Json& header, std::span<const Measurement* const> of);

// Where the best figure lies against its expected range: the baseline's interval for that case, at
// least 5 % either way, as one run says little about how much runs differ.
std::string Expectation(const ComponentSummary& summary, const store::ResultFile* baseline);
// What the score is a share of: "no reference", "baseline", or "spec".
std::string_view ReferenceName(const ComponentSummary& summary, const store::ResultFile* baseline);
// The case of a baseline with that id, when it is usable; else nullptr.
const Measurement* FindUsable(const store::ResultFile& in, std::string_view id);
// The same rate, above zero, in another measurement.
const Rate* SameRate(const Measurement& in, const Rate& rate);

// "device0", "all", with the data mode when it is not the normal one: what follows '@' in an id.
std::string_view PlacementOf(const Measurement& m);

}  // namespace ridgeline::report
