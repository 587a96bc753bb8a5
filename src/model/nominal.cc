#include "model/nominal.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/wire_time.h"

namespace ridgeline::model {
namespace {

constexpr double kPastCache = 4;

std::string TextParam(const Measurement& m, const std::string& name) {
  const auto it = m.params.values().find(name);
  return it == m.params.values().end() ? "" : ToString(it->second);
}

std::optional<double> PerDevice(const Figure* figure, const Machine& spec) {
  if (figure == nullptr) return std::nullopt;
  Figure one_way = *figure;
  one_way.value = OneWay(one_way);
  return spec.PerDevice(one_way);
}

std::optional<double> PeakRate(const Measurement& m, ComputeUnit unit, const Machine& spec) {
  return PerDevice(spec.Peak(unit, PeakDType(m)), spec);
}

std::optional<double> HbmRate(const Measurement& m, const Machine& spec) {
  const MemoryLevel* hbm = spec.Level("hbm");
  const std::optional<double> cache = LastCacheBytes(spec);
  const bool cached = cache && static_cast<double>(m.working_set_bytes) <= kPastCache * *cache;
  if (m.component != Component::kHbm || hbm == nullptr || cached) return std::nullopt;
  const auto rate = hbm->bytes_per_s.find(Pattern::kSequential);
  return rate == hbm->bytes_per_s.end() ? std::nullopt : PerDevice(&rate->second, spec);
}

std::optional<double> HostRate(const Measurement& m, const Machine& spec) {
  const auto to_device = PerDevice(spec.host_to_device ? &*spec.host_to_device : nullptr, spec);
  const auto to_host = PerDevice(spec.device_to_host ? &*spec.device_to_host : nullptr, spec);
  if (m.bench == "host_to_device") return to_device;
  if (m.bench == "device_to_host") return to_host;
  return to_device && to_host ? std::optional(*to_device + *to_host) : std::nullopt;
}

// The axes of the spec that a case's group spans: its own names on a torus, the one switch else.
std::string AxesOf(const Measurement& m, const Machine& spec) {
  if (spec.axes.size() == 1 && spec.axes.front().fabric == Fabric::kSwitch) {
    return spec.axes.front().name;
  }
  std::string group = StringOr(m.mesh, "group");
  if (group != "all") return group;
  std::string names;
  for (const NetworkAxis& axis : spec.axes) names += (names.empty() ? "" : "+") + axis.name;
  return names;
}

// Product of the sizes that `size_of` gives the axes of "x+y".
template <typename SizeOf>
int64_t Ranks(const std::string& names, const SizeOf& size_of) {
  int64_t ranks = 1;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find('+', begin), names.size());
    ranks *= size_of(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return ranks;
}

// Ranks of one group of the case; 0 when its mesh does not tell.
int64_t CaseRanks(const Measurement& m) {
  const std::string group = StringOr(m.mesh, "group");
  if (group == "all") return m.devices;
  if (group == "halves") return m.devices / 2;
  const Json axes = ObjectOr(m.mesh, "axes");
  return Ranks(group, [&axes](const std::string& name) { return IntegerOr(axes, name); });
}

// Ranks along axes of the spec; 0 when it does not have them all.
int64_t SpecRanks(const std::string& names, const Machine& spec) {
  return Ranks(names, [&spec](const std::string& name) {
    const NetworkAxis* axis = spec.Axis(name);
    return axis == nullptr ? 0 : axis->size.value_or(0);
  });
}

std::optional<double> BusRate(const Measurement& m, const Machine& spec) {
  const bool pair = m.bench == "pair" || m.bench == "send_recv";
  const std::string direction = TextParam(m, "direction");
  if (pair || direction == "both_ways" || !m.params.Has("bytes")) return std::nullopt;
  const std::string axes = AxesOf(m, spec);
  const int64_t ranks = CaseRanks(m);
  Machine no_latency = spec;
  for (NetworkAxis& axis : no_latency.axes) {
    axis.hop_s.reset();
    // Any part of a switch is a switch; a part of a torus is another one.
    if (axis.fabric == Fabric::kSwitch && ranks > 1) axis.size = ranks;
  }
  if (ranks < 2 || SpecRanks(axes, no_latency) != ranks) return std::nullopt;
  const auto payload = static_cast<double>(m.params.Integer("bytes"));
  const std::optional<WireTime> time =
      TimeOf({axes, m.bench, payload, m.work.wire_bytes, 1}, no_latency);
  if (!time || !(time->seconds > 0)) return std::nullopt;
  return m.work.wire_bytes / time->seconds;
}

}  // namespace

std::string PeakDType(const Measurement& m) {
  const std::string precision = TextParam(m, "precision");
  const bool lower = m.dtype == "f32" && !precision.empty() && precision != "highest";
  return lower && UnitOf(m) == ComputeUnit::kMatrix ? "" : m.dtype;
}

ComputeUnit UnitOf(const Measurement& m) {
  return m.work.total_matrix_flops() > m.work.total_vector_flops() ? ComputeUnit::kMatrix
                                                                   : ComputeUnit::kVector;
}

std::optional<double> LastCacheBytes(const Machine& spec) {
  std::optional<double> largest;
  for (const MemoryLevel& level : spec.memory) {
    if (level.name == "hbm" || !level.capacity_bytes) continue;
    largest = std::max(largest.value_or(0), spec.PerDevice(*level.capacity_bytes));
  }
  return largest;
}

std::optional<double> NominalRate(const Measurement& m, std::string_view rate,
                                  const Machine& spec) {
  if (!m.executed_as.empty()) return std::nullopt;
  const bool computes = m.component == Component::kCompute || m.component == Component::kAttention;
  std::optional<double> nominal;
  if (computes && (rate == "flops" || rate == "useful_flops")) {
    nominal = PeakRate(m, UnitOf(m), spec);
  } else if (computes && rate == "op_rate") {
    nominal = PeakRate(m, ComputeUnit::kTranscendental, spec);
  } else if (rate == "hbm_bw") {
    nominal = HbmRate(m, spec);
  } else if (rate == "host_bw") {
    nominal = HostRate(m, spec);
  } else if (rate == "busbw") {
    return BusRate(m, spec);  // of one rank, whatever the case's scope
  }
  if (nominal && m.scope == Scope::kAll) *nominal *= m.devices;
  return nominal;
}

std::string AboveSpecRemark(double share, Component component) {
  if (!(share > 1)) return "";
  if (share > kImpossibleShare) {
    return fmt::format(
        "impossible ({} of the spec): {}", FormatShare(share),
        component == Component::kNetwork
            ? "each process may have run alone, or another part than the spec's was measured"
            : "work may have been left out, or another part than the spec's was measured");
  }
  return fmt::format("above spec ({}): {}", FormatShare(share),
                     component == Component::kNetwork
                         ? "the network may reduce on its way and move fewer bytes than counted; "
                           "else check spec and counts"
                         : "check clock, spec and counts");
}

}  // namespace ridgeline::model
