#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/text.h"

namespace ridgeline::report {
namespace {

constexpr double kPastCache = 4;
constexpr double kShareOfLargest = 0.25;
constexpr std::array<std::string_view, 7> kRateOrder = {
    "busbw", "algbw", "useful_flops", "flops", "hbm_bw", "host_bw", "op_rate"};

std::vector<std::string_view> FigureNames(Component component) {
  switch (component) {
    case Component::kNetwork:
      return {"busbw", "algbw"};
    case Component::kCompute:
      return {"flops"};
    case Component::kHbm:
      return {"hbm_bw"};
    case Component::kHost:
      return {"host_bw"};
    case Component::kAttention:
      return {"useful_flops", "flops"};
    case Component::kImported:
      return {"useful_flops", "flops", "hbm_bw"};
  }
  return {};
}

double Size(const Measurement& m) { return static_cast<double>(m.working_set_bytes); }

// Drops what may not stand for the component, and says under which name the rest does.
std::string KeepComparable(const Json& header, Component component,
                           std::vector<const Measurement*>& of) {
  const auto whole = [](const Measurement* m) { return m->scope == Scope::kAll; };
  if (component != Component::kNetwork && !std::ranges::all_of(of, whole)) {
    std::erase_if(of, whole);
  }
  if (component != Component::kHbm || of.empty()) return "";
  const double largest = Size(**std::ranges::max_element(
      of, [](const Measurement* a, const Measurement* b) { return Size(*a) < Size(*b); }));
  const std::optional<double> cache = LastCacheBytes(header);
  if (cache && largest > kPastCache * *cache) {
    std::erase_if(of, [&cache](const Measurement* m) { return Size(*m) <= kPastCache * *cache; });
    return fmt::format("working sets past 4 x the last cache ({})",
                       FormatBytes(static_cast<int64_t>(*cache)));
  }
  std::erase_if(of,
                [largest](const Measurement* m) { return Size(*m) < kShareOfLargest * largest; });
  return fmt::format("working set {}, {}", FormatBytes(static_cast<int64_t>(largest)),
                     cache ? fmt::format("not past 4 x the last cache ({})",
                                         FormatBytes(static_cast<int64_t>(*cache)))
                           : "cache level unresolved");
}

ComponentSummary SummariseOne(const Json& header, Component component,
                              std::span<const Measurement> all) {
  ComponentSummary summary;
  summary.component = component;
  std::vector<const Measurement*> candidates;
  for (const Measurement& m : all) {
    if (m.component != component) continue;
    ++summary.cases;
    ++summary.statuses[m.status];
    if (m.check_status == "passed") ++summary.checks_passed;
    if (m.check_status == "failed") ++summary.checks_failed;
    const Rate* figure = FigureOf(m);
    if (IsUsable(m.status) && figure != nullptr && std::isfinite(figure->value.lo) &&
        figure->value.value > 0) {
      candidates.push_back(&m);
    }
  }
  summary.note = KeepComparable(header, component, candidates);
  double best_share = 0;
  for (const Measurement* m : candidates) {
    const Rate* figure = FigureOf(*m);
    const Interval& value = figure->value;
    if (summary.figure == nullptr || value.lo > summary.figure->value.lo) {
      summary.figure = figure;
      summary.best = m;
    }
    if (!figure->of_reference) continue;
    const double share = *figure->of_reference * value.lo / value.value;
    if (!summary.score || share > best_share) {
      best_share = share;
      summary.score = figure->of_reference;
      summary.score_case = m;
    }
  }
  return summary;
}

}  // namespace

const Rate* FigureOf(const Measurement& m) {
  for (const std::string_view name : FigureNames(m.component)) {
    const auto it = std::ranges::find(m.rates, name, &Rate::name);
    if (it != m.rates.end()) return &*it;
  }
  return nullptr;
}

std::vector<std::string> RateNames(Component component, std::span<const Measurement* const> of) {
  std::set<std::string> present;
  for (const Measurement* m : of) {
    for (const Rate& rate : m->rates) present.insert(rate.name);
  }
  std::vector<std::string> names;
  const auto take = [&](std::string_view name) {
    if (present.erase(std::string(name)) > 0) names.emplace_back(name);
  };
  for (const std::string_view name : FigureNames(component)) take(name);
  for (const std::string_view name : kRateOrder) take(name);
  names.insert(names.end(), present.begin(), present.end());
  return names;
}

int ComponentSummary::usable() const {
  int count = 0;
  for (const auto& [status, n] : statuses) count += IsUsable(status) ? n : 0;
  return count;
}

std::vector<ComponentSummary> Summarise(const Json& header, std::span<const Measurement> all) {
  std::vector<ComponentSummary> summaries;
  for (const Component component :
       {Component::kNetwork, Component::kCompute, Component::kHbm, Component::kHost,
        Component::kAttention, Component::kImported}) {
    ComponentSummary summary = SummariseOne(header, component, all);
    if (component == Component::kImported && summary.cases == 0) continue;
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::optional<double> LastCacheBytes(const Json& header) {
  if (StringOr(ObjectOr(header, "plugin"), "platform") != "cpu") return std::nullopt;
  const Json host = ObjectOr(header, "host");
  const Json* caches = Member(host, "data_cache_bytes");
  if (caches == nullptr || !caches->is_array() || caches->empty()) return std::nullopt;
  const Json& last = caches->back();
  return last.is_number() && last.get<double>() > 0 ? std::optional(last.get<double>())
                                                    : std::nullopt;
}

std::vector<LevelSweep> FindLevels(const Json& header, std::span<const Measurement* const> of) {
  std::map<std::string, std::vector<const Measurement*>> sweeps;
  for (const Measurement* m : of) {
    if (m->component != Component::kHbm || !IsUsable(m->status) || FigureOf(*m) == nullptr) {
      continue;
    }
    Params others;
    for (const auto& [name, value] : m->params.values()) {
      if (name != "bytes") others.Set(name, value);
    }
    sweeps[m->bench + "/" + others.Canonical() + "@" + std::string(PlacementOf(*m))].push_back(m);
  }
  std::vector<LevelSweep> found;
  for (const auto& [key, members] : sweeps) {
    if (members.size() < 3) continue;
    std::vector<RatePoint> points;
    for (const Measurement* m : members) points.push_back({Size(*m), FigureOf(*m)->value.value});
    found.push_back({members.front(), FindPlateaus(points, LastCacheBytes(header))});
  }
  return found;
}

std::string_view PlacementOf(const Measurement& m) {
  const size_t at = m.id.find_last_of('@');
  return at == std::string::npos ? std::string_view() : std::string_view(m.id).substr(at + 1);
}

}  // namespace ridgeline::report
