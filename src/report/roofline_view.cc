#include "report/roofline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace ridgeline::report {
namespace {

// Axes stop this many decades beyond the roofs: one odd point must not squeeze the picture.
constexpr double kXDecades = 6;
constexpr double kYDecadesBelow = 9;
constexpr double kYDecadesAbove = 2;

bool IsUsableFigure(double value) { return std::isfinite(value) && value > 0; }

const std::string& MainVariant(const RooflinePlot& plot, RoofKind kind, const std::string& group) {
  static const std::string kNone;
  const auto first = std::ranges::find_if(plot.roofs, [&](const PlotRoof& roof) {
    return roof.kind == kind && roof.group == group && IsDrawable(roof);
  });
  return first == plot.roofs.end() ? kNone : first->variant;
}

bool Meets(const PlotPoint& point, const PlotRoof& roof) {
  if (roof.kind == RoofKind::kCompute && point.unit == roof.variant &&
      (point.dtype.empty() || point.dtype == roof.group)) {
    return true;
  }
  const auto same = [&roof](const PlotIntensity& i) {
    return i.kind == roof.kind && i.group == roof.group && i.variant == roof.variant;
  };
  return std::ranges::any_of(point.intensities, same) ||
         std::ranges::any_of(point.parts,
                             [&roof](const PlotPoint& part) { return Meets(part, roof); });
}

// The values that an axis has to show.
class Extent {
 public:
  void Add(double value) {
    if (!IsUsableFigure(value)) return;
    lo_ = std::min(lo_, value);
    hi_ = std::max(hi_, value);
  }
  bool empty() const { return lo_ > hi_; }
  double lo() const { return lo_; }
  double hi() const { return hi_; }
  void Limit(double lo, double hi) {
    lo_ = std::clamp(lo_, lo, hi);
    hi_ = std::clamp(hi_, lo, hi);
  }

 private:
  double lo_ = std::numeric_limits<double>::infinity();
  double hi_ = 0;
};

// The nearest of 1, 2, 5 times a power of ten that is not above (or not below) `value`.
double RoundDown(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value)));
  return (value >= 5 * decade ? 5 : value >= 2 * decade ? 2 : 1) * decade;
}
double RoundUp(double value) {
  const double down = RoundDown(value);
  if (down >= value) return value;
  return RoundDown(down * 2.6);  // 1 -> 2, 2 -> 5, 5 -> 10
}

AxisRange Padded(const Extent& extent, double pad) {
  return {RoundDown(extent.lo() / pad), RoundUp(extent.hi() * pad)};
}

struct ShownRoofs {
  std::vector<const PlotRoof*> ceilings;
  std::vector<const PlotRoof*> slopes;
};

ShownRoofs Select(const RooflinePlot& plot, const PlotChoice& choice) {
  ShownRoofs shown;
  for (const PlotRoof* roof : MainRoofs(plot, choice)) {
    if (!IsDrawable(*roof)) continue;
    (roof->kind == RoofKind::kCompute ? shown.ceilings : shown.slopes).push_back(roof);
  }
  return shown;
}

// The ceiling that a slope runs into: the highest of its own origin, else the highest.
std::optional<double> CeilingFor(const PlotRoof& slope, const ShownRoofs& shown) {
  std::optional<double> own, any;
  for (const PlotRoof* ceiling : shown.ceilings) {
    any = std::max(any.value_or(0), *ceiling->rate);
    if (ceiling->origin == slope.origin) own = std::max(own.value_or(0), *ceiling->rate);
  }
  return own ? own : any;
}

// A ceiling begins where the steepest slope of its origin (else the steepest) meets it.
std::optional<double> LeftEnd(const PlotRoof& ceiling, const ShownRoofs& shown) {
  std::optional<double> own, any;
  for (const PlotRoof* slope : shown.slopes) {
    any = std::max(any.value_or(0), *slope->rate);
    if (slope->origin == ceiling.origin) own = std::max(own.value_or(0), *slope->rate);
  }
  const std::optional<double> steepest = own ? own : any;
  return steepest ? std::optional(*ceiling.rate / *steepest) : std::nullopt;
}

std::vector<PlotMark> Marks(const RooflinePlot& plot, const PlotChoice& choice) {
  std::vector<PlotMark> workloads, parts;
  const auto add = [&choice](std::vector<PlotMark>& to, const PlotPoint& point, size_t index,
                             bool part) {
    if (!HasRate(point)) return;
    for (const PlotIntensity& intensity : point.intensities) {
      if (intensity.group != choice.Of(intensity.kind) || !(intensity.flop_per_byte >= 0)) continue;
      // Most operations send nothing: only those that do are worth a mark.
      if (part && intensity.kind != RoofKind::kMemory && std::isinf(intensity.flop_per_byte)) {
        continue;
      }
      to.push_back({.point = &point, .intensity = &intensity, .index = index, .part = part});
    }
  };
  for (size_t i = 0; i < plot.points.size(); ++i) {
    const PlotPoint& point = plot.points[i];
    if (!point.dtype.empty() && point.dtype != choice.dtype) continue;
    add(workloads, point, i, false);
    for (const PlotPoint& part : point.parts) add(parts, part, i, true);
  }
  workloads.insert(workloads.end(), parts.begin(), parts.end());
  return workloads;
}

AxisRange XRange(const ShownRoofs& shown, const std::vector<PlotMark>& marks) {
  Extent ridges;
  for (const PlotRoof* slope : shown.slopes) {
    if (const auto ceiling = CeilingFor(*slope, shown)) ridges.Add(*ceiling / *slope->rate);
  }
  Extent all = ridges;
  for (const PlotMark& mark : marks) all.Add(mark.intensity->flop_per_byte);
  if (all.empty()) return {0.1, 1000};
  const double reach = std::pow(10, kXDecades);
  if (ridges.empty()) {
    all.Limit(1 / reach, reach);
  } else {
    all.Limit(std::max(ridges.lo() / reach, 1e-300), std::min(ridges.hi() * reach, 1e300));
  }
  return Padded(all, 4);
}

AxisRange YRange(const ShownRoofs& shown, const std::vector<PlotMark>& marks, const AxisRange& x) {
  Extent roofs;
  double steepest = 0;
  for (const PlotRoof* ceiling : shown.ceilings) roofs.Add(*ceiling->rate);
  for (const PlotRoof* slope : shown.slopes) steepest = std::max(steepest, *slope->rate);
  if (roofs.empty()) {
    for (const PlotRoof* slope : shown.slopes) {
      roofs.Add(*slope->rate * x.lo);
      roofs.Add(*slope->rate * x.hi);
    }
  }
  Extent all = roofs;
  for (const PlotMark& mark : marks) all.Add(*mark.point->rate);
  if (all.empty()) return {1, 1000};
  if (!roofs.empty()) {
    all.Add(std::min(roofs.lo() / 30, steepest * x.lo));
    all.Limit(std::max(roofs.hi() * std::pow(10, -kYDecadesBelow), 1e-300),
              std::min(roofs.hi() * std::pow(10, kYDecadesAbove), 1e300));
  }
  return Padded(all, 2.5);  // leaves room for labels above the ceilings
}

std::optional<RoofLine> Ceiling(const PlotRoof& roof, const ShownRoofs& shown,
                                const RooflineView& view) {
  RoofLine line{&roof, view.x.lo, *roof.rate, view.x.hi, *roof.rate, false};
  if (const auto left = LeftEnd(roof, shown)) line.x0 = std::max(*left, view.x.lo);
  if (line.y0 > view.y.hi || line.y0 < view.y.lo || line.x0 >= line.x1) return std::nullopt;
  return line;
}

std::optional<RoofLine> Slope(const PlotRoof& roof, const ShownRoofs& shown,
                              const RooflineView& view) {
  const double rate = *roof.rate;
  RoofLine line{&roof, std::max(view.x.lo, view.y.lo / rate),
                0,     std::min(view.x.hi, view.y.hi / rate),
                0,     false};
  if (const auto ceiling = CeilingFor(roof, shown); ceiling && *ceiling / rate <= line.x1) {
    line.x1 = *ceiling / rate;
    line.reaches_ridge = true;
  }
  if (line.x0 >= line.x1) return std::nullopt;
  line.y0 = rate * line.x0;
  line.y1 = rate * line.x1;
  return line;
}

Edge Clip(double value, const AxisRange& range, double& out) {
  out = std::clamp(value, range.lo, range.hi);
  return value < range.lo ? Edge::kLow : value > range.hi ? Edge::kHigh : Edge::kInside;
}

std::string BytesOf(const PlotIntensity& intensity) {
  const std::string group = CleanName(intensity.group);
  return intensity.kind == RoofKind::kNetwork ? group + " wire byte" : group + " byte";
}

std::string TickLabel(double value) {
  static constexpr std::array<std::pair<double, std::string_view>, 6> kPrefixes = {
      {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [scale, prefix] : kPrefixes) {
    if (value >= scale) return FormatNumber(value / scale) + " " + std::string(prefix);
  }
  return FormatNumber(value);
}

// Never a row of zeros that fills a page.
std::string IntensityNumber(double value) {
  constexpr double kLeast = 1e-9, kMost = 1e18;
  if (value < kLeast) return "under " + FormatNumber(kLeast);
  if (value > kMost) return "over " + TickLabel(kMost);
  return value < 1e6 ? FormatNumber(value) : TickLabel(value);
}

}  // namespace

std::string_view Name(RoofKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"compute", "memory", "network",
                                                             "host"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view Name(Origin origin) {
  static constexpr std::array<std::string_view, 4> kNames = {"nominal", "measured", "predicted",
                                                             "simulated"};
  return kNames[static_cast<size_t>(origin)];
}

const std::string& PlotChoice::Of(RoofKind kind) const {
  switch (kind) {
    case RoofKind::kCompute:
      return dtype;
    case RoofKind::kMemory:
      return level;
    case RoofKind::kNetwork:
      return axis;
    case RoofKind::kHost:
      break;
  }
  return link;
}

std::string& PlotChoice::Of(RoofKind kind) {
  return const_cast<std::string&>(std::as_const(*this).Of(kind));
}

double AxisRange::Share(double value) const {
  return (std::log10(value) - std::log10(lo)) / (std::log10(hi) - std::log10(lo));
}

std::vector<std::string> Groups(const RooflinePlot& plot, RoofKind kind) {
  std::vector<std::string> groups;
  const auto add = [&groups](const std::string& group) {
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  };
  for (const PlotRoof& roof : plot.roofs) {
    if (roof.kind == kind) add(roof.group);
  }
  for (const PlotPoint& point : plot.points) {
    if (kind == RoofKind::kCompute && !point.dtype.empty()) add(point.dtype);
    for (const PlotIntensity& intensity : point.intensities) {
      if (intensity.kind == kind) add(intensity.group);
    }
  }
  return groups;
}

PlotChoice ChosenOrFirst(const RooflinePlot& plot) {
  PlotChoice choice = plot.chosen;
  for (const RoofKind kind : kRoofKinds) {
    const std::vector<std::string> groups = Groups(plot, kind);
    std::string& group = choice.Of(kind);
    if (!groups.empty() && std::ranges::find(groups, group) == groups.end()) group = groups.front();
  }
  return choice;
}

bool IsDrawable(const PlotRoof& roof) { return roof.rate && IsUsableFigure(*roof.rate); }

bool IsMain(const RooflinePlot& plot, const PlotRoof& roof) {
  return roof.variant == MainVariant(plot, roof.kind, roof.group) ||
         std::ranges::any_of(plot.points,
                             [&roof](const PlotPoint& point) { return Meets(point, roof); });
}

std::vector<const PlotRoof*> MainRoofs(const RooflinePlot& plot, const PlotChoice& choice) {
  std::vector<const PlotRoof*> roofs;
  for (const RoofKind kind : kRoofKinds) {
    for (const PlotRoof& roof : plot.roofs) {
      if (roof.kind == kind && roof.group == choice.Of(kind) && IsMain(plot, roof)) {
        roofs.push_back(&roof);
      }
    }
  }
  return roofs;
}

RooflineView MakeView(const RooflinePlot& plot, const PlotChoice& choice) {
  RooflineView view;
  view.choice = choice;
  const ShownRoofs shown = Select(plot, choice);
  view.marks = Marks(plot, choice);
  view.x = XRange(shown, view.marks);
  view.y = YRange(shown, view.marks, view.x);
  for (const PlotRoof* roof : shown.ceilings) {
    if (const auto line = Ceiling(*roof, shown, view)) view.lines.push_back(*line);
  }
  for (const PlotRoof* roof : shown.slopes) {
    if (const auto line = Slope(*roof, shown, view)) view.lines.push_back(*line);
  }
  for (PlotMark& mark : view.marks) {
    mark.x_edge = Clip(mark.intensity->flop_per_byte, view.x, mark.x);
    mark.y_edge = Clip(*mark.point->rate, view.y, mark.y);
  }
  for (size_t i = 0; i < plot.points.size(); ++i) {
    const std::string& dtype = plot.points[i].dtype;
    if (!dtype.empty() && dtype != choice.dtype) view.other_dtype.push_back(i);
  }
  return view;
}

std::vector<AxisTick> LogTicks(const AxisRange& range, int most) {
  const int first = static_cast<int>(std::ceil(std::log10(range.lo) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(range.hi) + 1e-9));
  const int decades = last - first + 1;
  const int step = std::max(1, (decades + most - 1) / std::max(1, most));
  const bool finer = 3 * (decades + 1) <= most;
  std::vector<AxisTick> ticks;
  for (int power = first - 1; power <= last; power += finer ? 1 : step) {
    if (!finer && power < first) power = first;
    for (const int digit : {1, 2, 5}) {
      const double value = digit * std::pow(10, power);
      const bool inside = value >= range.lo * (1 - 1e-9) && value <= range.hi * (1 + 1e-9);
      if (inside && (digit == 1 || finer)) ticks.push_back({value, TickLabel(value)});
    }
  }
  return ticks;
}

std::string CleanName(std::string_view text) {
  // The writer of JSON replaces what is no UTF-8.
  const Json json = Json(std::string(text));
  return Printable(Json::parse(DumpLine(json)).get<std::string>());
}

std::string RoofName(const PlotRoof& roof) {
  return CleanName(roof.variant.empty() ? roof.group : roof.group + " " + roof.variant);
}

std::string_view RoofUnit(const PlotRoof& roof) {
  return roof.kind == RoofKind::kCompute ? kRateUnit : "B/s";
}

std::string RoofFigure(const PlotRoof& roof) {
  if (!IsDrawable(roof)) return "no figure";
  return FormatRate(*roof.rate, RoofUnit(roof));
}

bool HasRate(const PlotPoint& point) {
  return point.rate && std::isfinite(*point.rate) && *point.rate >= 0;
}

std::string PointRate(const PlotPoint& point) {
  return HasRate(point) ? FormatRate(*point.rate, kRateUnit) : "no rate";
}

std::string IntensityText(const PlotIntensity& intensity) {
  const double value = intensity.flop_per_byte;
  const std::string bytes = BytesOf(intensity);
  if (std::isinf(value) && value > 0) return fmt::format("no {}s", bytes);
  if (value == 0) return "no FLOP";
  if (!(value > 0)) return fmt::format("neither FLOP nor {}s", bytes);
  return fmt::format("{} FLOP/{}{}", IntensityNumber(value), bytes,
                     intensity.variant.empty() ? "" : " (" + CleanName(intensity.variant) + ")");
}

std::string EdgeWord(const PlotMark& mark) {
  if (mark.x_edge == Edge::kInside && mark.y_edge == Edge::kInside) return "";
  const double intensity = mark.intensity->flop_per_byte;
  if (intensity == 0 || std::isinf(intensity)) return IntensityText(*mark.intensity);
  return *mark.point->rate == 0 ? "no FLOP" : "beyond the axis";
}

std::string PointSentence(const PlotPoint& point, const PlotChoice& choice) {
  std::string text = fmt::format("{} {}", PointRate(point), Name(point.origin));
  for (const PlotIntensity& intensity : point.intensities) {
    if (intensity.group == choice.Of(intensity.kind)) text += ", " + IntensityText(intensity);
  }
  if (point.time_s && std::isfinite(*point.time_s)) text += "; " + FormatSeconds(*point.time_s);
  if (!point.bound.empty()) text += "; bound: " + CleanName(point.bound);
  if (!point.note.empty()) text += "; " + CleanName(point.note);
  return text;
}

}  // namespace ridgeline::report
