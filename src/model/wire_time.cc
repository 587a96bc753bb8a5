#include "model/wire_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/collectives.h"
#include "model/group_axes.h"

namespace ridgeline::model {
namespace {

std::vector<const NetworkAxis*> AxesOf(const std::string& names, const Machine& machine) {
  // A measured machine may have "x+y" as a whole.
  if (const NetworkAxis* whole = machine.Axis(names); whole != nullptr) return {whole};
  std::vector<const NetworkAxis*> axes;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find('+', begin), names.size());
    const NetworkAxis* axis = machine.Axis(names.substr(begin, end - begin));
    if (axis == nullptr) return {};
    axes.push_back(axis);
    begin = end + 1;
  }
  return axes;
}

// Seconds of one call of `payload` bytes; nullopt: no closed form for it.
std::optional<double> TorusSeconds(const std::string& collective, double payload,
                                   std::span<const TorusAxis> axes) {
  if (collective == "all_gather" || collective == "reduce_scatter") {
    return TorusGatherSeconds(payload, axes);
  }
  if (collective == "all_reduce") return 2 * TorusGatherSeconds(payload, axes);
  if (collective == "collective_permute") return PermuteSeconds(payload, axes.front());
  if (collective != "all_to_all") return std::nullopt;
  // The payload is what one device holds; the closed form takes the sum over all.
  double devices = 1;
  for (const TorusAxis& axis : axes) devices *= static_cast<double>(axis.size);
  return TorusAllToAllSeconds(payload * devices, axes);
}

std::optional<double> SwitchSeconds(const std::string& collective, double payload,
                                    const SwitchedGroup& group) {
  if (collective == "all_gather" || collective == "reduce_scatter") {
    return RingGatherSeconds(payload, group);
  }
  if (collective == "all_reduce") return RingAllReduceSeconds(payload, group);
  if (collective == "all_to_all") return DirectAllToAllSeconds(payload * group.ranks, group);
  return std::nullopt;
}

// Devices behind one switch on several hosts: inside the hosts, then each device its share between
// them. A permute is as slow as the network between hosts.
std::optional<double> HostsSeconds(const std::string& collective, double payload,
                                   const SwitchedGroup& inside, const SwitchedGroup& between) {
  const HierarchicalTime both = HierarchicalAllReduceSeconds(
      payload, {inside.ranks, between.ranks, inside.bytes_per_s, between.bytes_per_s});
  if (collective == "all_reduce") return both.slice_s + both.dcn_s;
  if (collective == "all_gather" || collective == "reduce_scatter") {
    return (both.slice_s + both.dcn_s) / 2;
  }
  if (collective == "collective_permute") return payload / between.bytes_per_s;
  if (collective != "all_to_all") return std::nullopt;
  return std::max(payload * (1 - 1 / inside.ranks) / between.ranks / inside.bytes_per_s,
                  payload * (1 - 1 / between.ranks) / between.bytes_per_s);
}

// Slices, a torus each: inside them, then each device its share between them. A permute is as slow
// as the network between slices.
std::optional<double> SlicesSeconds(const std::string& collective, double payload,
                                    std::span<const TorusAxis> torus,
                                    const SwitchedGroup& between) {
  double inside = 1;
  for (const TorusAxis& axis : torus) inside *= static_cast<double>(axis.size);
  const double share = payload / inside * (1 - 1 / between.ranks) / between.bytes_per_s;
  if (collective == "all_gather" || collective == "reduce_scatter") {
    return TorusGatherSeconds(payload, torus) + share;
  }
  if (collective == "all_reduce") return 2 * (TorusGatherSeconds(payload, torus) + share);
  if (collective == "collective_permute") return payload / between.bytes_per_s;
  if (collective != "all_to_all") return std::nullopt;
  return std::max(TorusAllToAllSeconds(payload * inside, torus),
                  payload * (1 - 1 / between.ranks) / between.bytes_per_s);
}

std::optional<double> FormSeconds(const WireUse& use, const Machine& machine,
                                  std::span<const NetworkAxis* const> axes) {
  const double payload = use.payload_bytes / use.calls;
  std::vector<TorusAxis> torus;
  std::vector<SwitchedGroup> switched;
  for (const NetworkAxis* axis : axes) {
    if (!axis->size || !(use.calls > 0)) return std::nullopt;
    const double hop = axis->hop_s ? axis->hop_s->value : 0;
    const double link = machine.LinkRate(*axis).value_or(0);
    if (axis->fabric != Fabric::kTorus) {
      switched.push_back({static_cast<double>(*axis->size), link, hop});
      continue;
    }
    torus.push_back({*axis->size, link, axis->wrap, hop});
  }
  if (switched.empty()) return TorusSeconds(use.collective, payload, torus);
  if (!torus.empty() && switched.size() == 1) {
    return SlicesSeconds(use.collective, payload, torus, switched.front());
  }
  if (!torus.empty() || switched.size() > 2) return std::nullopt;
  if (switched.size() == 1) return SwitchSeconds(use.collective, payload, switched.front());
  // The names run from the hosts inwards, or from inside out.
  const bool outer_first = axes.front()->fabric == Fabric::kDcn;
  return HostsSeconds(use.collective, payload, switched[outer_first ? 1 : 0],
                      switched[outer_first ? 0 : 1]);
}

}  // namespace

std::optional<WireTime> TimeOf(const WireUse& use, const Machine& machine) {
  if (machine.axes.empty()) return std::nullopt;
  if (use.axis.empty() && !use.group.empty()) {
    const GroupAxes found = FindAxes(use.group, MeshOf(machine), machine);
    WireUse placed = use;
    placed.axis = found.names;
    placed.group.clear();
    std::optional<WireTime> time = TimeOf(placed, found.machine);
    if (time && !found.box) {
      time->note =
          "some groups fill no box of the mesh: their links are shared, which is not counted";
    }
    return time;
  }
  WireTime time;
  time.axis = use.axis;
  std::vector<const NetworkAxis*> axes = AxesOf(use.axis, machine);
  if (axes.empty()) {
    axes = {&machine.axes.front()};
    time.axis = axes.front()->name;
    if (!use.axis.empty()) {
      time.note = fmt::format("axis {} is not on this machine: {} is taken", use.axis, time.axis);
    }
  }
  if (axes.size() == 1) {
    const auto law = axes.front()->laws.find(use.collective);
    if (law != axes.front()->laws.end() && use.payload_bytes > 0) {
      time.figure = law->second.payload_bytes_per_s;
      time.seconds = use.calls * law->second.alpha_s.value + use.payload_bytes / time.figure.value;
      time.rate = use.wire_bytes / use.payload_bytes * time.figure.value;
      return time;
    }
  }
  // Without a rate between slices or hosts the others would carry it all.
  if (std::ranges::any_of(axes, [&machine](const NetworkAxis* axis) {
        return axis->fabric == Fabric::kDcn && !machine.LinkRate(*axis);
      })) {
    return std::nullopt;
  }
  for (const NetworkAxis* axis : axes) time.rate += machine.Egress(*axis).value_or(0);
  if (!(time.rate > 0)) return std::nullopt;
  time.figure = axes.front()->link_bytes_per_s.value_or(Figure{});
  const std::optional<double> form = FormSeconds(use, machine, axes);
  time.seconds = form ? use.calls * *form : use.wire_bytes / time.rate;
  return time;
}

}  // namespace ridgeline::model
