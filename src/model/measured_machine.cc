#include "model/measured_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "core/alpha_beta.h"
#include "core/plateaus.h"
#include "model/nominal.h"

namespace ridgeline::model {
namespace {

// What the figure of one case comes to for one device.
struct Candidate {
  const Measurement* measurement = nullptr;
  double value = 0;
  double lo = 0;
};

// Rates of several devices at once are shared out among them.
std::optional<Candidate> CandidateOf(const Measurement& m, std::string_view rate_name) {
  const auto rate = std::ranges::find(m.rates, rate_name, &Rate::name);
  if (rate == m.rates.end() || !(rate->value.value > 0) || !std::isfinite(rate->value.lo)) {
    return std::nullopt;
  }
  const double devices = m.scope == Scope::kAll ? std::max(1, m.devices) : 1;
  return Candidate{&m, rate->value.value / devices, rate->value.lo / devices};
}

bool MayBeARoof(const Measurement& m) {
  return IsUsable(m.status) && m.executed_as.empty() && !m.simulated && !m.predicted &&
         m.check_status != "failed" && m.data_mode == "normal";
}

std::string TextParam(const Measurement& m, const std::string& name) {
  const auto it = m.params.values().find(name);
  return it == m.params.values().end() ? "" : ToString(it->second);
}

// One device alone says what a device can do; all at once say what they leave one another.
bool Better(const Candidate& a, const Candidate& b) {
  const bool a_alone = a.measurement->scope != Scope::kAll;
  const bool b_alone = b.measurement->scope != Scope::kAll;
  return a_alone != b_alone ? a_alone : a.lo > b.lo;
}

class Builder {
 public:
  Builder(const store::ResultFile& results, const MeasuredOptions& options)
      : header_(results.header), options_(options) {
    for (const Measurement& m : results.measurements) {
      if (MayBeARoof(m)) usable_.push_back(m);
    }
    AttachAlphaBeta(usable_);
  }

  Machine Build() {
    Describe();
    AddPeaks();
    AddMemory();
    AddAxes();
    AddHostLink();
    AddLaunch();
    return std::move(machine_);
  }

 private:
  void Describe() {
    machine_.name = options_.file_name;
    const Json* devices = Member(header_, "devices");
    if (devices != nullptr && devices->is_array() && !devices->empty()) {
      machine_.devices = static_cast<int64_t>(devices->size());
      machine_.title = StringOr(devices->front(), "kind");
    }
    if (options_.spec != nullptr) machine_.devices_per_chip = options_.spec->devices_per_chip;
  }

  // The figure, marked against what the spec gives one device; nullopt when it is impossible.
  std::optional<Figure> FigureOf(const Candidate& best, std::optional<double> spec,
                                 std::string_view what) {
    const Measurement& m = *best.measurement;
    Figure figure{.value = best.value,
                  .kind = FigureKind::kMeasured,
                  .source = m.id,
                  .as_of = std::string(options_.file_name)};
    const double share = spec ? best.value / *spec : 0;
    if (share > kImpossibleShare) {
      machine_.notes.push_back(fmt::format("{}: {} is {} of the spec: impossible, left out ({})",
                                           what, FormatNumber(best.value), FormatShare(share),
                                           Printable(m.id)));
      return std::nullopt;
    }
    if (share > 1) {
      figure.note = AboveSpecRemark(share, m.component);
      machine_.notes.push_back(fmt::format("{}: {}", what, figure.note));
    }
    const auto add = [&figure](std::string_view text) {
      figure.note += (figure.note.empty() ? "" : "; ") + std::string(text);
    };
    if (m.scope == Scope::kAll) add("a device's share of all at once");
    if (m.status == CaseStatus::kUnconverged) add("unconverged");
    for (const std::string& label : m.labels) {
      if (label.find(", not a ") != std::string::npos) add(label);
    }
    return figure;
  }

  // Best case for each key, one figure each.
  using Best = std::map<std::pair<ComputeUnit, std::string>, Candidate>;
  static void Consider(Best& best, ComputeUnit unit, const std::string& dtype,
                       const std::optional<Candidate>& candidate) {
    if (!candidate) return;
    const auto [it, first] = best.emplace(std::pair(unit, dtype), *candidate);
    if (!first && Better(*candidate, it->second)) it->second = *candidate;
  }

  void AddPeaks() {
    Best best;
    for (const Measurement& m : usable_) {
      if (m.component != Component::kCompute) continue;
      if (PeakDType(m).empty()) continue;
      Consider(best, UnitOf(m), m.dtype, CandidateOf(m, "flops"));
      if (m.work.transcendentals > 0) {
        Consider(best, ComputeUnit::kTranscendental, m.dtype, CandidateOf(m, "op_rate"));
      }
    }
    for (const auto& [key, candidate] : best) {
      const Figure* spec = options_.spec ? options_.spec->Peak(key.first, key.second) : nullptr;
      const std::optional<Figure> figure =
          FigureOf(candidate, spec ? std::optional(options_.spec->PerDevice(*spec)) : std::nullopt,
                   fmt::format("{} {}", Name(key.first), key.second));
      if (figure) machine_.peaks[key.first][key.second] = *figure;
    }
  }

  static std::optional<Pattern> PatternOf(const Measurement& m) {
    static const std::set<std::string_view> kSequential = {"copy",  "scale", "add",
                                                           "triad", "read",  "write"};
    if (m.component != Component::kHbm) return std::nullopt;
    if (kSequential.contains(m.bench)) return Pattern::kSequential;
    if (m.bench == "strided") return Pattern::kStrided;
    if (m.bench == "gather" || m.bench == "scatter") return Pattern::kGather;
    return std::nullopt;
  }

  std::optional<double> LastCache() const {
    if (options_.last_cache_bytes || options_.spec == nullptr) return options_.last_cache_bytes;
    return LastCacheBytes(*options_.spec);
  }

  struct Sweep {
    Pattern pattern = Pattern::kSequential;
    std::vector<const Measurement*> members;
    PlateauReport report;
  };

  std::vector<Sweep> Sweeps() const {
    std::map<std::string, Sweep> sweeps;
    for (const Measurement& m : usable_) {
      const std::optional<Pattern> pattern = PatternOf(m);
      if (!pattern || !CandidateOf(m, "hbm_bw")) continue;
      Params others;
      for (const auto& [name, value] : m.params.values()) {
        if (name != "bytes") others.Set(name, value);
      }
      Sweep& sweep = sweeps[fmt::format("{}/{}@{}", m.bench, others.Canonical(), Name(m.scope))];
      sweep.pattern = *pattern;
      sweep.members.push_back(&m);
    }
    std::vector<Sweep> found;
    for (auto& [key, sweep] : sweeps) {
      std::vector<RatePoint> points;
      for (const Measurement* m : sweep.members) {
        points.push_back(
            {static_cast<double>(m->working_set_bytes), CandidateOf(*m, "hbm_bw")->value});
      }
      sweep.report = FindPlateaus(points, LastCache());
      found.push_back(std::move(sweep));
    }
    return found;
  }

  static Candidate At(const Sweep& sweep, const Plateau& plateau) {
    const auto it = std::ranges::find_if(sweep.members, [&plateau](const Measurement* m) {
      return static_cast<double>(m->working_set_bytes) == plateau.to_bytes;
    });
    return *CandidateOf(**it, "hbm_bw");
  }

  void AddMemory() {
    const std::vector<Sweep> sweeps = Sweeps();
    MemoryLevel hbm{.name = "hbm"};
    std::map<Pattern, std::pair<Candidate, const Sweep*>> best;
    for (const Sweep& sweep : sweeps) {
      if (!sweep.report.memory) {
        if (sweep.pattern == Pattern::kSequential) hbm.note = "not measured: " + sweep.report.note;
        continue;
      }
      const Candidate candidate = At(sweep, *sweep.report.memory);
      const auto [it, first] = best.emplace(sweep.pattern, std::pair(candidate, &sweep));
      if (!first && Better(candidate, it->second.first)) it->second = {candidate, &sweep};
    }
    const MemoryLevel* spec = options_.spec ? options_.spec->Level("hbm") : nullptr;
    for (const auto& [pattern, found] : best) {
      std::optional<double> nominal;
      if (spec != nullptr && spec->bytes_per_s.contains(Pattern::kSequential)) {
        nominal = options_.spec->PerDevice(spec->bytes_per_s.at(Pattern::kSequential));
      }
      const std::optional<Figure> figure =
          FigureOf(found.first, nominal, fmt::format("hbm {}", Name(pattern)));
      if (figure) hbm.bytes_per_s[pattern] = *figure;
    }
    if (hbm.bytes_per_s.contains(Pattern::kSequential)) {
      hbm.note.clear();
    } else if (hbm.note.empty()) {
      hbm.note = "not measured";
    }
    machine_.memory.push_back(std::move(hbm));
    AddLevels(sweeps);
  }

  // The nearer levels, as the sequential sweep with the most of them shows them.
  void AddLevels(const std::vector<Sweep>& sweeps) {
    const Sweep* richest = nullptr;
    for (const Sweep& sweep : sweeps) {
      if (sweep.pattern != Pattern::kSequential) continue;
      if (richest == nullptr || sweep.report.plateaus.size() > richest->report.plateaus.size()) {
        richest = &sweep;
      }
    }
    if (richest == nullptr) return;
    const auto& memory = richest->report.memory;
    for (const Plateau& plateau : richest->report.plateaus) {
      if (memory && plateau.to_bytes == memory->to_bytes) continue;
      MemoryLevel level{.name = "working sets " + plateau.name()};
      level.bytes_per_s[Pattern::kSequential] =
          *FigureOf(At(*richest, plateau), std::nullopt, level.name);
      machine_.memory.push_back(std::move(level));
    }
  }

  // Names of the mesh axes that a group spans, joined by '+'; "" when it is no set of axes.
  static std::string AxisName(const Measurement& m) {
    std::string group = StringOr(m.mesh, "group");
    if (group == "halves" || group.empty()) return "";
    if (group != "all") return group;
    std::string names;
    const Json axes = ObjectOr(m.mesh, "axes");
    for (const auto& [name, size] : axes.items()) {
      if (!size.is_number_integer() || size.get<int64_t>() < 2) continue;
      names += (names.empty() ? "" : "+") + name;
    }
    return names;
  }

  static int64_t AxisSize(const Measurement& m, const std::string& names) {
    int64_t size = 1;
    const Json axes = ObjectOr(m.mesh, "axes");
    for (size_t begin = 0; begin <= names.size();) {
      const size_t end = std::min(names.find('+', begin), names.size());
      size *= IntegerOr(axes, names.substr(begin, end - begin), 1);
      begin = end + 1;
    }
    return size;
  }

  void AddAxes() {
    std::map<std::string, Candidate> best;
    std::map<std::pair<std::string, std::string>, const Measurement*> laws;  // largest message
    for (const Measurement& m : usable_) {
      if (m.component != Component::kNetwork || TextParam(m, "direction") == "both_ways") continue;
      const std::string axis = AxisName(m);
      const std::optional<Candidate> candidate = CandidateOf(m, "busbw");
      if (axis.empty() || !candidate) continue;
      const auto [it, first] = best.emplace(axis, *candidate);
      if (!first && candidate->lo > it->second.lo) it->second = *candidate;
      if (!m.alpha_beta) continue;
      const Measurement*& law = laws[{axis, m.bench}];
      if (law == nullptr || m.params.Integer("bytes") > law->params.Integer("bytes")) law = &m;
    }
    for (const auto& [name, candidate] : best) AddAxis(name, candidate, laws);
  }

  void AddAxis(const std::string& name, const Candidate& candidate,
               const std::map<std::pair<std::string, std::string>, const Measurement*>& laws) {
    const NetworkAxis* spec = nullptr;
    if (options_.spec != nullptr) {
      spec = options_.spec->Axis(name);
      if (spec == nullptr && !options_.spec->axes.empty()) spec = &options_.spec->axes.front();
    }
    NetworkAxis axis;
    axis.name = name;
    axis.size = AxisSize(*candidate.measurement, name);
    // What one device sends, whatever links carry it.
    axis.fabric = Fabric::kSwitch;
    axis.link_bytes_per_s = FigureOf(candidate, spec ? options_.spec->Egress(*spec) : std::nullopt,
                                     "bus bandwidth of " + name);
    if (!axis.link_bytes_per_s) return;
    axis.link_bytes_per_s->direction = Direction::kOneWay;
    for (const auto& [key, m] : laws) {
      if (key.first != name) continue;
      Figure figure{.value = m->alpha_beta->alpha_s,
                    .kind = FigureKind::kMeasured,
                    .source = m->id,
                    .as_of = std::string(options_.file_name)};
      CollectiveLaw& law = axis.laws[key.second];
      law.alpha_s = figure;
      figure.value = m->alpha_beta->bytes_per_s;
      law.payload_bytes_per_s = figure;
    }
    machine_.axes.push_back(std::move(axis));
  }

  void AddHostLink() {
    machine_.host_to_device = HostFigure("host_to_device");
    machine_.device_to_host = HostFigure("device_to_host");
  }

  std::optional<Figure> HostFigure(std::string_view bench) {
    std::optional<Candidate> best;
    std::optional<Candidate> largest;
    for (const Measurement& m : usable_) {
      if (m.bench != bench) continue;
      const std::optional<Candidate> candidate = CandidateOf(m, "host_bw");
      if (!candidate) continue;
      if (!best || Better(*candidate, *best)) best = candidate;
      if (!largest || m.working_set_bytes > largest->measurement->working_set_bytes) {
        largest = candidate;
      }
    }
    if (!best) return std::nullopt;
    std::optional<double> nominal;
    if (options_.spec != nullptr && options_.spec->host_to_device) {
      Figure one_way = *options_.spec->host_to_device;
      one_way.value = OneWay(one_way);
      nominal = options_.spec->PerDevice(one_way);
    }
    std::optional<Figure> figure = FigureOf(*best, nominal, bench);
    if (!figure) return std::nullopt;
    figure->direction = Direction::kOneWay;
    constexpr double kDrop = 0.1;
    if (largest->value < (1 - kDrop) * best->value) {
      figure->note += fmt::format("{}{} at the largest size, {}", figure->note.empty() ? "" : "; ",
                                  FormatRate(largest->value, "B/s"),
                                  FormatBytes(largest->measurement->working_set_bytes));
    }
    if (!best->measurement->memory_kind.empty()) {
      figure->note += (figure->note.empty() ? "" : "; ") + best->measurement->memory_kind;
    }
    return figure;
  }

  // Of one device where that is known: starting several together takes longer.
  void AddLaunch() {
    const Measurement* least = nullptr;
    const auto key = [](const Measurement& m) { return std::pair(m.devices, m.launch_s->value); };
    for (const Measurement& m : usable_) {
      if (!m.launch_s || !m.launch_resolved || m.scope == Scope::kAll) continue;
      if (!(m.launch_s->value > 0)) continue;
      if (least == nullptr || key(m) < key(*least)) least = &m;
    }
    if (least == nullptr) return;
    machine_.launch_s = Figure{.value = least->launch_s->value,
                               .kind = FigureKind::kMeasured,
                               .source = least->id,
                               .as_of = std::string(options_.file_name)};
  }

  const Json& header_;
  const MeasuredOptions& options_;
  std::vector<Measurement> usable_;
  Machine machine_;
};

}  // namespace

Machine MeasuredMachine(const store::ResultFile& results, const MeasuredOptions& options) {
  return Builder(results, options).Build();
}

}  // namespace ridgeline::model
