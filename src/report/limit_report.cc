#include "report/limit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/text.h"

namespace ridgeline::report {
namespace {

constexpr size_t kOperationsShown = 10;
constexpr size_t kOperationsDrawn = 200;
constexpr std::string_view kNone = "-";

Origin OriginOf(FigureKind kind) {
  return kind == FigureKind::kMeasured ? Origin::kMeasured : Origin::kNominal;
}

std::string SourceOf(const Machine& machine, const Figure& figure) {
  std::string text = fmt::format("{}: {}", machine.name, figure.source);
  if (!figure.as_of.empty() && figure.as_of != machine.name) text += ", " + figure.as_of;
  return text;
}

std::string TimeOrNone(double seconds) {
  return seconds > 0 ? FormatSeconds(seconds) : std::string(kNone);
}

std::string Intensity(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : std::string(kNone);
}

std::string MeasuredCell(const verdict::Limit& limit) {
  if (!limit.measured) return std::string(limit.not_measured.empty() ? kNone : "none");
  const std::string time = FormatSeconds(limit.measured->seconds);
  return limit.measured->doubt.empty() ? time
                                       : fmt::format("{}, {}", time, Name(limit.measured->status));
}

// Whose figures they are: "tpu-v5e: one device, dense".
std::string ScopeLine(const Machine& machine) {
  return fmt::format("{}: {}, dense", machine.name,
                     machine.devices_per_chip > 1
                         ? fmt::format("one of {} devices of a chip", machine.devices_per_chip)
                         : "one device");
}

// One line a machine: its roofs for one device.
std::string MachineLine(const Machine& machine) {
  std::vector<std::string> parts;
  for (const auto& [unit, peaks] : machine.peaks) {
    for (const auto& [dtype, figure] : peaks) {
      if (unit != ComputeUnit::kMatrix) continue;
      parts.push_back(fmt::format("{} {}", dtype, FormatRate(machine.PerDevice(figure), "FLOP/s")));
    }
  }
  if (const MemoryLevel* hbm = machine.Level("hbm")) {
    for (const auto& [pattern, figure] : hbm->bytes_per_s) {
      parts.push_back(
          fmt::format("hbm {} {}", Name(pattern), FormatRate(machine.PerDevice(figure), "B/s")));
    }
  }
  for (const NetworkAxis& axis : machine.axes) {
    if (const std::optional<double> egress = machine.Egress(axis)) {
      parts.push_back(fmt::format("{}{} {} one way{}", axis.name,
                                  axis.size ? fmt::format("={}", *axis.size) : "",
                                  FormatRate(*egress, "B/s"), axis.wrap ? ", ring" : ""));
    }
  }
  return fmt::format("{}: {}", ScopeLine(machine), fmt::join(parts, "; "));
}

bool IsMeasured(const Machine& machine) {
  return std::ranges::any_of(machine.peaks, [](const auto& unit) {
    return std::ranges::any_of(
        unit.second, [](const auto& peak) { return peak.second.kind == FigureKind::kMeasured; });
  });
}

std::string TimeCell(const verdict::Limit& limit) {
  const model::Bound& bound = limit.prediction.bound;
  if (bound.first.empty()) return std::string(kNone);
  return fmt::format("{}{} .. {}", limit.lower_bound ? ">= " : "", TimeOrNone(bound.lower_s),
                     TimeOrNone(bound.upper_s));
}

std::string VerdictTable(std::span<const JudgedWorkload> judged, const TableOptions& options) {
  const Paint paint(options);
  std::vector<std::vector<std::string>> rows;
  for (const JudgedWorkload& one : judged) {
    for (const verdict::Limit& limit : one.limits) {
      const model::Prediction& p = limit.prediction;
      const std::string memory =
          limit.most_memory_s && p.memory_s > 0
              ? fmt::format("{} .. {}", TimeOrNone(p.memory_s), TimeOrNone(*limit.most_memory_s))
              : TimeOrNone(p.memory_s);
      std::vector<std::string>& row = rows.emplace_back(std::vector<std::string>{
          Printable(one.workload.name), Printable(limit.machine), p.bound.label,
          p.bound.first.empty() ? std::string(kNone) : FormatShare(p.bound.confidence),
          Intensity(p.hbm_intensity), Intensity(p.network_intensity), TimeOrNone(p.compute_s),
          memory, TimeOrNone(p.network_s), TimeOrNone(p.host_s), TimeCell(limit),
          MeasuredCell(limit)});
      for (std::string& cell : row) cell = paint.Text(cell);
    }
  }
  return RecordTable({"workload", "machine", "bound", "confidence", "FLOP/B", "FLOP/wire B",
                      "compute", "memory", "network", "host", "time", "measured"},
                     rows,
                     {false, false, false, true, true, true, true, true, true, true, true, true}, 2,
                     options.width);
}

std::string OperationTable(const verdict::Limit& limit, const TableOptions& options) {
  const Paint paint(options);
  // What the other columns take.
  constexpr int kOthers = 52;
  const int widest = options.width > 0 ? std::max(16, options.width - kOthers) : 1000;
  double sum = 0;
  for (const verdict::OperationLimit& one : limit.operations) {
    sum += one.prediction.bound.lower_s;
  }
  Table table({"operation", "times", "bound", "time", "share", "FLOP/B"},
              {false, true, false, true, true, true});
  size_t rows = 0;
  for (const verdict::OperationLimit& one : limit.operations) {
    const model::Prediction& p = one.prediction;
    if (rows++ == kOperationsShown || !(p.bound.lower_s > 0)) break;
    table.Row({paint.Text(Shorten(Printable(one.name), widest)), FormatNumber(one.count),
               p.bound.label, FormatSeconds(p.bound.lower_s), FormatShare(p.bound.lower_s / sum),
               Intensity(p.hbm_intensity)});
  }
  std::string text = table.ToString();
  if (limit.operations.size() > kOperationsShown) {
    text += fmt::format("  and {} more\n", limit.operations.size() - kOperationsShown);
  }
  return text;
}

void AddRoofs(const Machine& machine, RooflinePlot& plot) {
  for (const auto& [unit, peaks] : machine.peaks) {
    for (const auto& [dtype, figure] : peaks) {
      plot.roofs.push_back({RoofKind::kCompute, OriginOf(figure.kind), dtype,
                            std::string(Name(unit)), machine.PerDevice(figure),
                            SourceOf(machine, figure)});
    }
  }
  for (const MemoryLevel& level : machine.memory) {
    for (const auto& [pattern, figure] : level.bytes_per_s) {
      plot.roofs.push_back({RoofKind::kMemory, OriginOf(figure.kind), level.name,
                            std::string(Name(pattern)), machine.PerDevice(figure),
                            SourceOf(machine, figure)});
    }
  }
  for (const NetworkAxis& axis : machine.axes) {
    if (axis.link_bytes_per_s) {
      plot.roofs.push_back({RoofKind::kNetwork, OriginOf(axis.link_bytes_per_s->kind), axis.name,
                            "", machine.Egress(axis), SourceOf(machine, *axis.link_bytes_per_s)});
    }
  }
  for (const auto& [figure, direction] : {std::pair(&machine.host_to_device, "to device"),
                                          std::pair(&machine.device_to_host, "to host")}) {
    if (!*figure) continue;
    Figure one_way = **figure;
    one_way.value = OneWay(**figure);
    plot.roofs.push_back({RoofKind::kHost, OriginOf(one_way.kind), "host link", direction,
                          machine.PerDevice(one_way), SourceOf(machine, one_way)});
  }
}

// `group` and `variant` name the roofs that the traffic meets.
PlotPoint MakePoint(const std::string& name, const Work& work, const model::Prediction& prediction,
                    const Machine& machine) {
  const double flops = work.total_matrix_flops() + work.total_vector_flops();
  PlotPoint point;
  point.name = name;
  const bool matrix = !work.matrix_flops.empty();
  const auto& by_dtype = matrix ? work.matrix_flops : work.vector_flops;
  if (!by_dtype.empty()) {
    const auto most =
        std::ranges::max_element(by_dtype, {}, [](const auto& e) { return e.second; });
    point.dtype = Name(most->first);
    point.unit = Name(matrix ? ComputeUnit::kMatrix : ComputeUnit::kVector);
  }
  Pattern pattern = Pattern::kSequential;
  for (const auto& [other, bytes] : work.hbm_pattern_bytes) {
    if (bytes > work.hbm_bytes_by(pattern)) pattern = other;
  }
  point.intensities.push_back(
      {RoofKind::kMemory, "hbm", std::string(Name(pattern)), prediction.hbm_intensity});
  for (const NetworkAxis& axis : machine.axes) {
    double bytes = 0;
    for (const model::Term& term : prediction.terms) {
      // Along several axes, "x+y": drawn against the first of them.
      const bool here = term.roof == model::Roof::kNetwork &&
                        (term.lane == axis.name || term.lane.starts_with(axis.name + "+"));
      if (here) bytes += term.amount;
    }
    if (bytes > 0) point.intensities.push_back({RoofKind::kNetwork, axis.name, "", flops / bytes});
  }
  if (work.host_bytes > 0) {
    point.intensities.push_back({RoofKind::kHost, "host link", "", flops / work.host_bytes});
  }
  point.time_s = prediction.bound.lower_s;
  if (prediction.bound.lower_s > 0) point.rate = flops / prediction.bound.lower_s;
  point.bound = prediction.bound.label;
  return point;
}

}  // namespace

std::string LimitReport(std::span<const Machine> machines, std::span<const JudgedWorkload> judged,
                        const TableOptions& options) {
  const Paint paint(options);
  std::string out;
  for (const Machine& machine : machines) {
    out += Wrap(paint.Text(MachineLine(machine)), options.width, 2);
    // What a spec remarks about its sources is for `ridgeline specs show`.
    if (!IsMeasured(machine)) continue;
    for (const std::string& note : machine.notes) {
      out +=
          paint.Tinted(Wrap(paint.Text("  - " + Printable(note)), options.width, 4), Tone::kFaint);
    }
  }
  out += "\n" + (judged.empty() ? std::string("no workload: give --workload FILE, or --flops and "
                                              "--bytes (`ridgeline roofline --help`)\n")
                                : VerdictTable(judged, options));
  for (const JudgedWorkload& one : judged) {
    for (const verdict::Limit& limit : one.limits) {
      out += "\n" + Wrap(paint.Text(limit.sentence + "."), options.width, 2);
      if (!limit.operations.empty()) out += OperationTable(limit, options);
      for (const std::string& remark : limit.remarks) {
        out += paint.Tinted(Wrap(paint.Text("  ! " + Printable(remark)), options.width, 4),
                            Tone::kWarning);
      }
    }
    for (const std::string& note : one.workload.notes) {
      out +=
          paint.Tinted(Wrap(paint.Text("  - " + Printable(note)), options.width, 4), Tone::kFaint);
    }
  }
  return out +
         paint.Tinted(Wrap(paint.Text("Times are predicted: the longest roof when all overlap, "
                                      "to the sum of all when nothing does."),
                           options.width, 0),
                      Tone::kFaint);
}

RooflinePlot LimitPlot(std::span<const Machine> machines, std::span<const JudgedWorkload> judged) {
  RooflinePlot plot;
  std::vector<std::string> names;
  for (const Machine& machine : machines) {
    names.push_back(machine.name);
    plot.conditions.push_back(ScopeLine(machine));
    AddRoofs(machine, plot);
  }
  plot.title = fmt::format("Roofline: {}", fmt::join(names, ", "));
  for (const JudgedWorkload& one : judged) {
    const verdict::Limit& limit = one.limits.front();
    const Machine& machine = machines.front();
    PlotPoint point = MakePoint(one.workload.name, limit.work, limit.prediction, machine);
    if (plot.chosen.dtype.empty()) plot.chosen.dtype = point.dtype;
    if (limit.lower_bound) point.note = "lower bound: not everything is counted";
    if (!limit.not_measured.empty()) {
      point.note += (point.note.empty() ? "" : "; ") + ("not measured: " + limit.not_measured);
    }
    for (const verdict::OperationLimit& operation : limit.operations) {
      if (point.parts.size() == kOperationsDrawn) break;
      PlotPoint part = MakePoint(operation.name, operation.work, operation.prediction, machine);
      if (limit.prediction.bound.lower_s > 0) {
        part.time_share =
            std::min(1.0, operation.prediction.bound.lower_s / limit.prediction.bound.lower_s);
      }
      point.parts.push_back(std::move(part));
    }
    if (limit.measured) {
      PlotPoint measured = point;
      measured.name += limit.measured->doubt.empty()
                           ? " (measured)"
                           : fmt::format(" (measured, {})", Name(limit.measured->status));
      if (!limit.measured->doubt.empty()) {
        measured.note = limit.measured->doubt + (point.note.empty() ? "" : "; " + point.note);
      }
      measured.origin = Origin::kMeasured;
      measured.time_s = limit.measured->seconds;
      measured.rate = limit.flops() / limit.measured->seconds;
      measured.parts.clear();
      plot.points.push_back(std::move(measured));
    }
    plot.points.push_back(std::move(point));
  }
  return plot;
}

}  // namespace ridgeline::report
