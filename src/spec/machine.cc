#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "spec/shape.h"
#include "spec/spec.h"

namespace ridgeline::spec {
namespace {

constexpr std::array<std::string_view, 3> kAxisNames = {"x", "y", "z"};

std::optional<Figure> Plain(const std::optional<SpecFigure>& figure) {
  return figure ? std::optional(figure->figure) : std::nullopt;
}

NetworkAxis AxisOf(std::string_view name, Fabric fabric, const SpecFigure& link,
                   std::optional<int64_t> size) {
  NetworkAxis axis;
  axis.name = name;
  axis.size = size;
  axis.fabric = fabric;
  axis.link_bytes_per_s = link.figure;
  return axis;
}

// The devices of one chip, where there are several and their link is known.
void AddCoreAxis(const Spec& spec, Machine& machine) {
  if (!spec.network || !spec.network->core_link) return;
  machine.axes.push_back(
      AxisOf("core", Fabric::kTorus, *spec.network->core_link, spec.devices_per_chip));
}

void AddDcnAxis(const Spec& spec, std::optional<int64_t> size, Machine& machine) {
  if (spec.dcn.empty()) return;
  machine.axes.push_back(AxisOf("dcn", Fabric::kDcn, spec.dcn.front(), size));
  if (spec.dcn.size() < 2) return;
  std::vector<std::string> others;
  for (const SpecFigure& figure : spec.dcn) {
    others.push_back(fmt::format("{} {}", figure.hosts, FormatRate(OneWay(figure.figure), "B/s")));
  }
  machine.notes.push_back(fmt::format("dcn: the rate of {} is taken; one chip's share by host: {}",
                                      spec.dcn.front().hosts, fmt::join(others, ", ")));
}

Status LayOutTorus(const Spec& spec, const Shape& shape, Machine& machine) {
  const SpecNetwork& network = *spec.network;
  RL_CHECK_OK(CheckSlice(network, shape));
  const std::vector<bool> wraps = WrapsOf(network, shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    NetworkAxis axis = AxisOf(kAxisNames[i], Fabric::kTorus, network.link, shape[i]);
    axis.wrap = wraps[i];
    axis.hop_s = Plain(network.hop);
    machine.axes.push_back(std::move(axis));
  }
  return {};
}

Status LayOutSwitches(const Spec& spec, int64_t chips, Machine& machine) {
  const int64_t behind_one = spec.network->max_chips.value_or(chips);
  if (chips > behind_one && (chips % behind_one != 0 || spec.dcn.empty())) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{} chips of {}: {} are behind one switch{}", chips, spec.name, behind_one,
                    spec.dcn.empty() ? ", and the spec has no rate between hosts"
                                     : "; expected a multiple"));
  }
  machine.axes.push_back(
      AxisOf("node", Fabric::kSwitch, spec.network->link, std::min(chips, behind_one)));
  if (chips > behind_one) AddDcnAxis(spec, chips / behind_one, machine);
  return {};
}

// One axis of any size for each fabric, so that one chip has network roofs too.
void AddAnyAxes(const Spec& spec, Machine& machine) {
  if (spec.network) {
    const bool torus = spec.network->fabric == Fabric::kTorus;
    NetworkAxis axis = AxisOf(torus ? "x" : "node", spec.network->fabric, spec.network->link, {});
    axis.wrap = torus && spec.network->wrap != WrapRule::kNever;
    axis.hop_s = Plain(spec.network->hop);
    machine.axes.push_back(std::move(axis));
    AddCoreAxis(spec, machine);
  }
  AddDcnAxis(spec, {}, machine);
}

Status LayOut(const Spec& spec, const Shape& shape, Machine& machine) {
  machine.devices = Chips(shape) * spec.devices_per_chip;
  if (Chips(shape) == 1) {
    AddCoreAxis(spec, machine);
    return {};
  }
  if (!spec.network) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{} has no network in its spec; several chips cannot be laid out", spec.name));
  }
  if (spec.network->fabric == Fabric::kTorus) {
    RL_CHECK_OK(LayOutTorus(spec, shape, machine));
  } else if (shape.size() != 1) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} has no torus: give the number of chips, such as {}:8, not {}",
                            spec.name, spec.name, ToString(shape)));
  } else {
    RL_CHECK_OK(LayOutSwitches(spec, shape.front(), machine));
  }
  AddCoreAxis(spec, machine);
  return {};
}

Status JoinSlices(const Spec& spec, int64_t slices, Machine& machine) {
  if (!spec.network || spec.network->fabric != Fabric::kTorus) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} has no torus, so that it has no slices: give the number of chips",
                            spec.name));
  }
  *machine.devices *= slices;
  if (!spec.dcn.empty()) {
    AddDcnAxis(spec, slices, machine);
    return {};
  }
  NetworkAxis axis;
  axis.name = "dcn";
  axis.size = slices;
  axis.fabric = Fabric::kDcn;
  machine.axes.push_back(std::move(axis));
  machine.notes.push_back("the spec has no rate between slices");
  return {};
}

}  // namespace

Result<Machine> MakeMachine(const Spec& spec, const Shape& shape, int64_t slices) {
  Machine machine;
  machine.name = shape.empty() ? spec.name : fmt::format("{}:{}", spec.name, ToString(shape));
  if (slices > 1) machine.name += fmt::format(",slices={}", slices);
  machine.title = spec.title;
  machine.devices_per_chip = spec.devices_per_chip;
  for (const auto& [unit, rates] : spec.compute) {
    for (const auto& [dtype, rate] : rates) {
      if (rate.emulated_as.empty()) machine.peaks[unit][dtype] = rate.figure;
    }
  }
  for (const SpecLevel& level : spec.memory) {
    MemoryLevel& out = machine.memory.emplace_back();
    out.name = level.name;
    out.capacity_bytes = Plain(level.capacity_bytes);
    if (level.bytes_per_s) out.bytes_per_s[Pattern::kSequential] = level.bytes_per_s->figure;
  }
  machine.host_to_device = Plain(spec.host_link);
  machine.device_to_host = Plain(spec.host_link);
  if (!spec.prices.empty()) machine.price = spec.prices.front().price;
  machine.notes = spec.notes;
  if (shape.empty()) {
    AddAnyAxes(spec, machine);
  } else {
    RL_CHECK_OK(LayOut(spec, shape, machine));
  }
  if (slices > 1) RL_CHECK_OK(JoinSlices(spec, slices, machine));
  return machine;
}

}  // namespace ridgeline::spec
