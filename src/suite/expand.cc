#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "suite/suite.h"

namespace ridgeline::suite {
namespace {

// n·(n-1) ordered pairs stay under kMaxCases.
constexpr int64_t kMaxPairDevices = 316;

bool IsGroup(const Assignment& assignment, std::string_view value) {
  const auto it = assignment.find("group");
  return it != assignment.end() && ToString(it->second) == value;
}

// "axes" becomes one alternative for each mesh axis with more than one device. On a mesh of one
// such axis that is what "all" says already; a mesh of one device keeps a single row, so that the
// report can say why nothing was measured.
void ExpandGroupAxes(const Mesh& mesh, Axis& axis) {
  std::vector<std::string> names;
  for (const MeshAxis& one : mesh.axes) {
    if (one.size > 1) names.push_back(one.name);
  }
  const bool all_given =
      std::ranges::any_of(axis.alternatives, [](const Assignment& a) { return IsGroup(a, "all"); });
  if (names.size() <= 1 && all_given) {
    names.clear();
  } else if (names.empty()) {
    names = {"all"};
  }
  std::vector<Assignment> expanded;
  for (const Assignment& assignment : axis.alternatives) {
    if (!IsGroup(assignment, "axes")) {
      expanded.push_back(assignment);
      continue;
    }
    for (const std::string& name : names) {
      expanded.push_back(assignment);
      expanded.back()["group"] = name;
    }
  }
  axis.alternatives = std::move(expanded);
}

Status CheckGroups(const Mesh& mesh, const Axis& axis) {
  for (const Assignment& assignment : axis.alternatives) {
    const auto it = assignment.find("group");
    if (it == assignment.end()) continue;
    const auto groups = mesh.Groups(ToString(it->second));
    // A group that this mesh is too small for is a row that says so; a name it lacks is an error.
    if (!groups && groups.error().code == Code::kInvalidArgument) {
      return Fail(Code::kInvalidArgument, groups.error().message, axis.where);
    }
  }
  return {};
}

Axis PairAxis(Pairs pairs, int64_t devices, const std::string& where) {
  Axis axis{where, {}};
  const auto add = [&axis](int64_t source, int64_t target) {
    axis.alternatives.push_back({{"source", source}, {"target", target}});
  };
  for (int64_t source = 0; source < devices; ++source) {
    if (pairs == Pairs::kNeighbours) {
      if (devices > 1) add(source, (source + 1) % devices);
      continue;
    }
    for (int64_t target = 0; target < devices; ++target) {
      if (source != target) add(source, target);
    }
  }
  // One device has no pair: a row that says so.
  if (axis.alternatives.empty()) add(0, 1);
  return axis;
}

Result<std::vector<Placement>> Placements(const CaseTemplate& from, int device_count) {
  if (from.benchmark->uses_mesh) return std::vector{Placement{true, 0}};
  std::vector<Placement> placements;
  for (const DeviceChoice& choice : from.devices) {
    switch (choice.kind) {
      case DeviceChoice::Kind::kEach:
        for (int device = 0; device < device_count; ++device) placements.push_back({false, device});
        break;
      case DeviceChoice::Kind::kAll:
        // All of one device is that device.
        placements.push_back(device_count > 1 ? Placement{true, 0} : Placement{false, 0});
        break;
      case DeviceChoice::Kind::kOne:
        if (choice.device >= device_count) {
          return Fail(Code::kInvalidArgument,
                      fmt::format("device {} is asked for, but this run has {}: 0..{}",
                                  choice.device, device_count, device_count - 1),
                      choice.where);
        }
        placements.push_back({false, choice.device});
        break;
    }
  }
  return placements;
}

Precision Overridden(Precision precision, const PrecisionOverride& by) {
  precision.relative_half_width = by.relative_half_width.value_or(precision.relative_half_width);
  precision.min_blocks = by.min_blocks.value_or(precision.min_blocks);
  precision.max_blocks =
      std::max(by.max_blocks.value_or(precision.max_blocks), precision.min_blocks);
  precision.passes = by.passes.value_or(precision.passes);
  precision.block_seconds = by.block_seconds.value_or(precision.block_seconds);
  precision.time_limit_s = by.time_limit_s.value_or(precision.time_limit_s);
  return precision;
}

Result<std::vector<Axis>> MeshAxes(const CaseTemplate& from, const Mesh& mesh) {
  std::vector<Axis> axes = from.axes;
  if (from.benchmark->uses_mesh) {
    for (Axis& axis : axes) {
      ExpandGroupAxes(mesh, axis);
      RL_CHECK_OK(CheckGroups(mesh, axis));
    }
  }
  if (from.pairs != Pairs::kAsWritten) {
    if (from.pairs == Pairs::kAll && mesh.size() > kMaxPairDevices) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("'pairs' over {} devices makes more than {} cases", mesh.size(), kMaxCases),
          from.where, "use 'pairs: neighbours' or name source and target");
    }
    axes.push_back(PairAxis(from.pairs, mesh.size(), from.where));
  }
  return axes;
}

class Expander {
 public:
  explicit Expander(const ExpandOptions& options) : options_(options) {}

  Status Add(const CaseTemplate& from) {
    RL_ASSIGN(const auto axes, MeshAxes(from, options_.mesh));
    RL_ASSIGN(const auto placements, Placements(from, options_.device_count));
    if (placements.empty()) return {};
    int64_t combinations = static_cast<int64_t>(placements.size());
    for (const Axis& axis : axes) {
      // Both factors are at most about kMaxCases, so the product does not overflow.
      combinations *= static_cast<int64_t>(axis.alternatives.size());
      if (combinations > kMaxCases) break;
    }
    combinations_ += combinations;
    if (combinations_ > kMaxCases) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("with this case the suite has more than {} cases", kMaxCases),
                  from.where, "shorten a list or a range, or make several suites");
    }
    std::vector<size_t> chosen(axes.size());
    for (int64_t i = 0; i < combinations / static_cast<int64_t>(placements.size()); ++i) {
      Assignment assignment;
      for (size_t a = 0; a < axes.size(); ++a) {
        for (const auto& [name, value] : axes[a].alternatives[chosen[a]]) assignment[name] = value;
      }
      Result<Params> params = ResolveParams(from.benchmark->params, assignment);
      if (!params) return Fail(params.error().code, params.error().message, from.where);
      for (const Placement& placement : placements) Emit(from, *params, placement);
      // Next combination, the last axis fastest.
      for (size_t a = axes.size(); a-- > 0;) {
        if (++chosen[a] < axes[a].alternatives.size()) break;
        chosen[a] = 0;
      }
    }
    return {};
  }

  std::vector<Case> Take() {
    std::ranges::stable_sort(cases_, {}, &Case::component);
    return std::move(cases_);
  }

 private:
  void Emit(const CaseTemplate& from, const Params& params, const Placement& placement) {
    Case c;
    c.component = from.benchmark->component;
    c.bench = from.benchmark->name;
    c.params = params;
    c.placement = placement;
    c.precision = Overridden(from.precision, options_.precision);
    c.data_mode = from.data_mode;
    if (!options_.only.empty() && !options_.only.contains(c.component)) return;
    std::string id = c.id();
    if (!MatchesFilter(options_.filter, id)) return;
    if (seen_.insert(std::move(id)).second) cases_.push_back(std::move(c));
  }

  const ExpandOptions& options_;
  int64_t combinations_ = 0;
  std::unordered_set<std::string> seen_;
  std::vector<Case> cases_;
};

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool MatchesFilter(std::string_view filter, std::string_view id) {
  if (filter.find_first_of("*?") == std::string_view::npos) {
    return id.find(filter) != std::string_view::npos;
  }
  return MatchesGlob(filter, id);
}

Result<std::vector<Case>> ExpandSuite(const Suite& suite, const ExpandOptions& options) {
  Expander expander(options);
  for (const CaseTemplate& one : suite.cases) RL_CHECK_OK(expander.Add(one));
  std::vector<Case> cases = expander.Take();
  if (cases.empty()) {
    std::string wanted;
    for (const Component component : options.only) {
      wanted += fmt::format(" of component {}", Name(component));
    }
    if (!options.filter.empty()) {
      wanted += fmt::format(" that matches '{}'", Printable(options.filter));
    }
    return Fail(Code::kNotFound, fmt::format("suite '{}' has no case{}", suite.name, wanted));
  }
  return cases;
}

}  // namespace ridgeline::suite
