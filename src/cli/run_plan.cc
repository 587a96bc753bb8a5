#include "cli/run_plan.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "cli/common.h"
#include "cli/suite_choice.h"
#include "suite/suite.h"

namespace ridgeline::cli {
namespace {

// Seconds of a case beside its samples, as seen on two CPU cores: compile, inputs, check.
constexpr double kLeastOverhead = 0.2;
constexpr double kMostOverhead = 3;

// The mesh of the run. The CPU plugin's virtual devices have no place; any other plugin is asked.
Result<Mesh> PlanMesh(const RunPlan& plan) {
  std::vector<DevicePlace> places;
  if (plan.plugin.name == "cpu") {
    places.resize(static_cast<size_t>(plan.devices));
    return MakeMesh(places, plan.axes);
  }
  RL_ASSIGN(const Json description, DescribeDevices(plan.plugin, plan.devices));
  for (const Json& device : description["devices"]) {
    if (!BoolOr(device, "addressable", true)) continue;
    DevicePlace place{.coords = {}, .core = static_cast<int>(IntegerOr(device, "core"))};
    for (const Json& coordinate : device["coords"])
      place.coords.push_back(coordinate.get<int64_t>());
    places.push_back(std::move(place));
  }
  if (plan.devices > 0) places.resize(static_cast<size_t>(plan.devices));
  return MakeMesh(places, plan.axes);
}

Status RefuseNetworkOnOne(const std::set<Component>& only, const Mesh& mesh) {
  if (only == std::set{Component::kNetwork} && mesh.size() < 2) {
    return Fail(Code::kUnavailable,
                fmt::format("the network component needs 2 devices, this run has {}", mesh.size()),
                "", "give --devices 2 or more, or leave --only network out");
  }
  return {};
}

}  // namespace

Result<double> ParseDuration(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || scale == 0 || !(value > 0) || value > 1e7) {
    return Fail(Code::kInvalidArgument,
                fmt::format("'{}' is not a time; expected seconds, or a number with s, m or h, for "
                            "example 10m",
                            Printable(text)));
  }
  return value * scale;
}

Result<RunPlan> MakePlan(const RunOptions& options) {
  RunPlan plan;
  suite::ExpandOptions expand;
  for (const std::string& name : options.only) {
    RL_ASSIGN(const Component component, ParseComponent(name));
    expand.only.insert(component);
  }
  if (!options.time_limit.empty()) {
    RL_ASSIGN(plan.time_limit_s, ParseDuration(options.time_limit));
  }
  if (!options.mesh.empty()) {
    RL_ASSIGN(plan.axes, ParseAxes(options.mesh));
  }
  RL_ASSIGN(ChosenSuite chosen, ChooseSuite(options.suite));
  plan.suite_name = std::move(chosen.name);
  plan.suite_text = std::move(chosen.text);
  RL_ASSIGN(plan.plugin, ChoosePlugin(options.plugin));
  plan.devices = options.devices;
  if (plan.devices == 0 && plan.plugin.name == "cpu") {
    plan.devices = kDefaultCpuDevices;
    if (!plan.axes.empty()) {
      int64_t product = 1;
      for (const MeshAxis& axis : plan.axes) product *= axis.size;
      if (product <= 1024) plan.devices = static_cast<int>(product);
    }
  }
  RL_ASSIGN(plan.mesh, PlanMesh(plan));
  RL_CHECK_OK(RefuseNetworkOnOne(expand.only, plan.mesh));
  expand.mesh = plan.mesh;
  expand.device_count = static_cast<int>(plan.mesh.size());
  expand.filter = options.filter;
  if (options.precision > 0) expand.precision.relative_half_width = options.precision;
  if (options.passes > 0) expand.precision.passes = options.passes;
  RL_ASSIGN(plan.cases, suite::ExpandSuite(chosen.suite, expand));
  return plan;
}

TimeEstimate EstimateTime(const std::vector<Case>& cases) {
  TimeEstimate estimate;
  for (const Case& c : cases) {
    const Precision& p = c.precision;
    // Calibration and warm-up cost about half a block each time.
    estimate.lo += p.passes * kLeastOverhead + p.min_blocks * p.block_seconds * 1.2;
    estimate.hi += p.passes * kMostOverhead + std::max(p.max_blocks * p.block_seconds * 1.5, 1.0);
  }
  return estimate;
}

}  // namespace ridgeline::cli
