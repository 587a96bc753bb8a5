#include "report/labels.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/text.h"
#include "report/figures.h"

namespace ridgeline::report {
namespace {

bool IsBytes(const std::string& name) { return name == "bytes" || name.ends_with("_bytes"); }

// What varies between the cases of one benchmark.
struct Varying {
  std::set<std::string> params;
  bool placement = false;
};

std::string ValueText(const std::string& name, const ParamValue& value) {
  const auto* integer = std::get_if<int64_t>(&value);
  if (integer != nullptr && IsBytes(name)) return FormatBytes(*integer);
  return Printable(ToString(value));
}

std::string Label(const Measurement& m, const Varying& varying) {
  std::string label = Printable(m.bench);
  // Names that share a whole number, in the order of the first of them.
  std::vector<std::pair<std::string, int64_t>> extents;
  std::string rest;
  for (const auto& [name, value] : m.params.values()) {
    if (!varying.params.contains(name)) continue;
    const auto* integer = std::get_if<int64_t>(&value);
    if (name == "dtype" || IsBytes(name)) {
      label += " " + ValueText(name, value);
    } else if (integer != nullptr) {
      const auto same =
          std::ranges::find(extents, *integer, &std::pair<std::string, int64_t>::second);
      if (same != extents.end()) {
        same->first += "=" + name;
      } else {
        extents.emplace_back(name, *integer);
      }
    } else {
      rest += fmt::format(" {}={}", Printable(name), ValueText(name, value));
    }
  }
  for (const auto& [names, value] : extents)
    label += fmt::format(" {}={}", Printable(names), value);
  label += rest;
  if (varying.placement) label += fmt::format(" @{}", Printable(PlacementOf(m)));
  return label;
}

}  // namespace

std::vector<std::string> CaseLabels(std::span<const Measurement* const> measurements) {
  std::map<std::string, std::vector<const Measurement*>> by_bench;
  for (const Measurement* m : measurements) {
    by_bench[std::string(Name(m->component)) + "/" + m->bench].push_back(m);
  }
  std::map<std::string, Varying> varying;
  for (const auto& [key, members] : by_bench) {
    Varying& v = varying[key];
    for (const auto& [name, value] : members.front()->params.values()) {
      const bool same = std::ranges::all_of(members, [&n = name, &x = value](const Measurement* m) {
        const auto it = m->params.values().find(n);
        return it != m->params.values().end() && it->second == x;
      });
      const bool size = std::holds_alternative<int64_t>(value) || name == "dtype";
      if (!same || IsBytes(name) || (members.size() == 1 && size)) v.params.insert(name);
    }
    v.placement = std::ranges::any_of(members, [&first = *members.front()](const Measurement* m) {
      return PlacementOf(*m) != PlacementOf(first);
    });
  }
  std::vector<std::string> labels;
  for (const Measurement* m : measurements) {
    labels.push_back(Label(*m, varying[std::string(Name(m->component)) + "/" + m->bench]));
  }
  return labels;
}

}  // namespace ridgeline::report
