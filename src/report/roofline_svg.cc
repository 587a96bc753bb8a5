// The roofline as one SVG file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "report/label_placement.h"
#include "report/roofline_view.h"
#include "report/text.h"

namespace ridgeline::report {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 84;
constexpr double kRight = kWidth - 20;
constexpr double kPlotHeight = 470;
constexpr double kLabelSize = 12;
constexpr double kLineStep = 18;
// Wide enough for every sans-serif face that a viewer may take instead of ours.
constexpr double kCharWidth = 0.6;
constexpr int kMostTitle = 80;
constexpr int kMostLabel = 34;
constexpr int kLegendColumns = 116;
constexpr int kHeadingColumns = 122;
constexpr size_t kMostNamed = 12;  // workloads; where there are more, the picture has their numbers
// Where a label may stand from its mark; the last ones are for marks at an edge.
constexpr std::array<std::pair<double, double>, 12> kDirections = {{{1, 0},
                                                                    {-1, 0},
                                                                    {0, 1},
                                                                    {0, -1},
                                                                    {0.7, 0.7},
                                                                    {0.7, -0.7},
                                                                    {-0.7, 0.7},
                                                                    {-0.7, -0.7},
                                                                    {0.1, -1},
                                                                    {-0.1, -1},
                                                                    {0.1, 1},
                                                                    {-0.1, 1}}};

// One rule a thing, without variables: not every viewer of SVG knows those.
constexpr std::string_view kStyle = R"(
text{font-family:system-ui,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif;font-size:12px;fill:#1c1f24}
.title{font-size:18px;font-weight:600}.quiet{fill:#565d68}.axis{font-size:13px}
.back{fill:#fff}.grid{stroke:#e3e6ea;stroke-width:1}.frame{fill:none;stroke:#8a919c;stroke-width:1}
.roof{fill:none;stroke-linecap:round}.measured{stroke-width:2.4}.nominal{stroke-width:1.5;stroke-dasharray:7 5}
.simulated{stroke-width:1.8;stroke-dasharray:1.5 4.5}
.compute{stroke:#0067a5}.memory{stroke:#b34700}.network{stroke:#00694d}.host{stroke:#8a3a78}
.tcompute{fill:#0067a5}.tmemory{fill:#b34700}.tnetwork{fill:#00694d}.thost{fill:#8a3a78}
.halo{stroke:#fff;stroke-width:4;stroke-linejoin:round;paint-order:stroke}
.mark{stroke-width:1.8}.done{stroke:#fff;stroke-width:1}.open{fill:#fff}.part{fill-opacity:.25;stroke-width:.8}
.fcompute{fill:#0067a5}.fmemory{fill:#b34700}.fnetwork{fill:#00694d}.fhost{fill:#8a3a78}
.neutral{stroke:#1c1f24}.fneutral{fill:#1c1f24}.tie,.leader{stroke:#565d68;stroke-width:1;fill:none}.tie{stroke-dasharray:2 4}
@media screen and (prefers-color-scheme:dark){
text{fill:#e6e8ec}.quiet{fill:#a4acb8}.back{fill:#14171c}.grid{stroke:#2a2f37}.frame{stroke:#6d7581}
.compute{stroke:#6cb8f0}.memory{stroke:#ff9d57}.network{stroke:#4fd0a5}.host{stroke:#e6a1d4}
.tcompute{fill:#6cb8f0}.tmemory{fill:#ff9d57}.tnetwork{fill:#4fd0a5}.thost{fill:#e6a1d4}
.fcompute{fill:#6cb8f0}.fmemory{fill:#ff9d57}.fnetwork{fill:#4fd0a5}.fhost{fill:#e6a1d4}
.neutral{stroke:#e6e8ec}.fneutral{fill:#e6e8ec}.halo,.done{stroke:#14171c}.open{fill:#14171c}.tie,.leader{stroke:#a4acb8}}
)";

std::string Xml(std::string_view text) {
  std::string out;
  for (const char c : CleanName(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

double TextWidth(const std::string& text) { return DisplayWidth(text) * kLabelSize * kCharWidth; }

std::string Text(Spot at, std::string_view classes, std::string_view anchor,
                 const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                     at.x, at.y, classes, anchor, Xml(text));
}

std::string Line(Spot from, Spot to, std::string_view classes) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", from.x,
      from.y, to.x, to.y, classes);
}

// Memory is a circle, network a diamond, host a square: told apart without colour.
std::string Shape(RoofKind kind, Spot at, double radius, const std::string& classes) {
  if (kind == RoofKind::kNetwork) {
    const double r = radius * 1.25;
    return fmt::format(
        "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\" class=\"{}\"/>\n",
        at.x, at.y - r, at.x + r, at.y, at.x, at.y + r, at.x - r, at.y, classes);
  }
  if (kind == RoofKind::kHost) {
    const double r = radius * 0.9;
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n",
        at.x - r, at.y - r, 2 * r, 2 * r, classes);
  }
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\"/>\n", at.x,
                     at.y, radius, classes);
}

// Filled when measured, hollow when not.
std::string MarkClasses(std::string_view color, Origin origin) {
  return (origin == Origin::kMeasured ? "mark done f" : "mark open ") + std::string(color);
}

class Drawing {
 public:
  explicit Drawing(const RooflinePlot& plot)
      : plot_(plot),
        view_(MakeView(plot, ChosenOrFirst(plot))),
        top_(48 + kLineStep * static_cast<double>(plot.conditions.size())),
        placement_({{(kLeft + kRight) / 2, top_ + kPlotHeight / 2}, kRight - kLeft, kPlotHeight}) {}

  std::string ToString() {
    Heading();
    Axes();
    Roofs();
    Operations();
    Workloads();
    // Few names go where they belong and roofs' labels around them; many numbers fit anywhere.
    if (plot_.points.size() <= kMostNamed) {
      WorkloadLabels();
      RoofLabels();
    } else {
      RoofLabels();
      WorkloadLabels();
    }
    Legend();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-labelledby=\"title\">\n"
        "<title id=\"title\">{2}</title>\n<style>{3}</style>\n"
        "<rect width=\"100%\" height=\"100%\" class=\"back\"/>\n{4}</svg>\n",
        kWidth, legend_y_, Xml(plot_.title), kStyle, out_);
  }

 private:
  Spot At(double x, double y) const {
    return {kLeft + view_.x.Share(x) * (kRight - kLeft),
            top_ + (1 - view_.y.Share(y)) * kPlotHeight};
  }
  static double Radius(const PlotMark& mark) {
    if (!mark.part) return 6;
    const double share = mark.point->time_share.value_or(0);
    if (!(share > 0)) return 2;
    return 2 + 14 * std::sqrt(std::min(share, 1.0));
  }

  void Heading() {
    out_ += Text({kLeft, 28}, "title", "start", Shorten(CleanName(plot_.title), kMostTitle));
    double y = 28;
    for (const std::string& line : plot_.conditions) {
      y += kLineStep;
      out_ += Text({kLeft, y}, "quiet", "start", Shorten(CleanName(line), kHeadingColumns));
    }
  }

  void Axes() {
    const double bottom = top_ + kPlotHeight;
    for (const AxisTick& tick : LogTicks(view_.x, 12)) {
      const double x = At(tick.value, view_.y.lo).x;
      out_ += Line({x, top_}, {x, bottom}, "grid");
      out_ += Text({x, bottom + 18}, "xtick", "middle", tick.label);
    }
    for (const AxisTick& tick : LogTicks(view_.y, 10)) {
      const double y = At(view_.x.lo, tick.value).y;
      out_ += Line({kLeft, y}, {kRight, y}, "grid");
      out_ += Text({kLeft - 8, y + 4}, "ytick", "end", tick.label);
    }
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"frame\"/>\n",
        kLeft, top_, kRight - kLeft, kPlotHeight);
    out_ += Text({(kLeft + kRight) / 2, bottom + 40}, "axis", "middle",
                 fmt::format("intensity ({})", kIntensityUnit));
    out_ += fmt::format(
        "<text transform=\"translate(24 {:.1f}) rotate(-90)\" class=\"axis\" "
        "text-anchor=\"middle\">rate ({})</text>\n",
        top_ + kPlotHeight / 2, kRateUnit);
  }

  void Roofs() {
    for (const RoofLine& line : view_.lines) {
      const Spot from = At(line.x0, line.y0), to = At(line.x1, line.y1);
      const PlotRoof& roof = *line.roof;
      out_ += Line(from, to, fmt::format("roof {} {}", Name(roof.kind), Name(roof.origin)));
      placement_.AddSoft(BoxOfLine(from, to, 3));
      if (line.reaches_ridge) {
        out_ += Shape(roof.kind, to, 3, fmt::format("f{}", Name(roof.kind)));
      }
    }
  }

  void Operations() {
    for (const PlotMark& mark : view_.marks) {
      if (!mark.part) continue;
      const RoofKind kind = mark.intensity->kind;
      out_ += Shape(kind, At(mark.x, mark.y), Radius(mark),
                    fmt::format("part f{} {}", Name(kind), Name(kind)));
    }
  }

  // One workload's marks, tied together: the same rate seen as intensity over each kind of traffic.
  void Workloads() {
    for (size_t i = 0; i < plot_.points.size(); ++i) {
      std::vector<Spot> spots;
      for (const PlotMark& mark : view_.marks) {
        if (mark.index == i && !mark.part) spots.push_back(At(mark.x, mark.y));
      }
      if (spots.size() < 2) continue;
      std::ranges::sort(spots, {}, &Spot::x);
      out_ += Line(spots.front(), spots.back(), "tie");
    }
    for (const PlotMark& mark : view_.marks) {
      if (mark.part) continue;
      const Spot at = At(mark.x, mark.y);
      out_ += Shape(mark.intensity->kind, at, Radius(mark),
                    MarkClasses(Name(mark.intensity->kind), mark.point->origin));
      placement_.AddSolid({at, 18, 18, 0});
    }
  }

  // Along the line: nominal above it, measured below, wherever there is room. Nominal first, as
  // those lie outside.
  void RoofLabels() {
    std::vector<RoofLine> lines = view_.lines;
    std::stable_partition(lines.begin(), lines.end(), [](const RoofLine& line) {
      return line.roof->origin == Origin::kNominal;
    });
    for (const RoofLine& line : lines) {
      const PlotRoof& roof = *line.roof;
      const std::string text =
          Shorten(fmt::format("{} {} {}", RoofName(roof), RoofFigure(roof), Name(roof.origin)), 48);
      const Spot from = At(line.x0, line.y0), to = At(line.x1, line.y1);
      const double angle = std::atan2(to.y - from.y, to.x - from.x);
      const double length = std::hypot(to.x - from.x, to.y - from.y);
      const double half = TextWidth(text) / 2;
      const bool slope = roof.kind != RoofKind::kCompute;
      std::vector<TurnedBox> candidates;
      const double first_side = roof.origin == Origin::kMeasured ? 1 : -1;
      for (const double aside : {10 * first_side, -10 * first_side, 26 * first_side,
                                 -26 * first_side, 34 * first_side, -34 * first_side}) {
        for (double along = half + 8; along < length - half; along += 24) {
          const double t = (slope ? along : length - along) / length;
          candidates.push_back({{from.x + (to.x - from.x) * t - aside * std::sin(angle),
                                 from.y + (to.y - from.y) * t + aside * std::cos(angle)},
                                2 * half,
                                kLabelSize + 3,
                                angle});
        }
      }
      const TurnedBox* box = placement_.Place(candidates);
      if (box == nullptr) continue;  // the legend has it
      out_ += fmt::format(
          "<text transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" y=\"4\" class=\"halo t{}\" "
          "text-anchor=\"middle\">{}</text>\n",
          box->centre.x, box->centre.y, angle * 180 / std::numbers::pi, Name(roof.kind), Xml(text));
    }
  }

  // What lies at one place gets one label: the name beside the first mark, and what an edge means.
  void WorkloadLabels() {
    for (size_t i = 0; i < plot_.points.size(); ++i) {
      std::vector<const PlotMark*> marks;
      for (const PlotMark& mark : view_.marks) {
        if (mark.index == i && !mark.part) marks.push_back(&mark);
      }
      const std::string number = std::to_string(i + 1);
      bool named = false;
      while (!marks.empty()) {
        const PlotMark at = *marks.front();
        std::vector<std::string> words;
        std::erase_if(marks, [&](const PlotMark* mark) {
          const bool here = mark->x == at.x && mark->y == at.y;
          if (here && !EdgeWord(*mark).empty()) words.push_back(EdgeWord(*mark));
          return here;
        });
        std::string label = number;
        if (!named && plot_.points.size() <= kMostNamed)
          label += " " + Shorten(CleanName(at.point->name), kMostLabel);
        if (!words.empty()) label += fmt::format(": {}", fmt::join(words, ", "));
        // Without room for the name, its number in the legend.
        if ((!named || !words.empty()) && !PlaceLabel(label, at)) PlaceLabel(number, at);
        named = true;
      }
    }
  }

  std::vector<TurnedBox> Around(Spot at, double half, std::initializer_list<double> distances) {
    std::vector<TurnedBox> boxes;
    for (const double away : distances) {
      for (const auto& [dx, dy] : kDirections) {
        const double reach = dx == 0 ? 0 : dx > 0 ? half : -half;
        boxes.push_back(
            {{at.x + dx * away + reach, at.y + dy * away}, 2 * half, kLabelSize + 3, 0});
      }
    }
    return boxes;
  }

  bool PlaceLabel(const std::string& label, const PlotMark& mark) {
    const Spot at = At(mark.x, mark.y);
    const double half = TextWidth(label) / 2;
    // Among many a number is better near its mark, over a line, than far away.
    const bool many = plot_.points.size() > kMostNamed;
    const std::vector<TurnedBox> near = Around(at, half, {13, 18, 24});
    const std::vector<TurnedBox> any = Around(at, half, {14, 24, 40, 60, 90});
    const TurnedBox* box = many ? placement_.Place(near) : nullptr;
    if (box == nullptr) box = placement_.Place(any);
    if (box == nullptr) return false;
    const double left = box->centre.x - half, right = box->centre.x + half;
    const double near_x = std::clamp(at.x, left, right);
    const double gap = std::hypot(near_x - at.x, box->centre.y - at.y);
    if (gap > 20) {
      out_ += Line(at, {near_x, box->centre.y}, "leader");
      placement_.AddSolid(BoxOfLine(at, {near_x, box->centre.y}, 2));
    }
    const std::string_view anchor = at.x <= left ? "start" : at.x >= right ? "end" : "middle";
    out_ += Text({anchor == "middle" ? box->centre.x : near_x, box->centre.y + 4}, "halo", anchor,
                 label);
    return true;
  }

  void LegendLine(std::string_view classes, double indent, const std::string& text) {
    const std::string lines = Wrap(text, kLegendColumns, 0);
    for (size_t begin = 0, end = 0; begin < lines.size(); begin = end + 1) {
      end = lines.find('\n', begin);
      out_ += Text({kLeft + indent, legend_y_}, classes, "start", lines.substr(begin, end - begin));
      legend_y_ += kLineStep;
    }
  }

  void Legend() {
    legend_y_ = top_ + kPlotHeight + 66;
    LegendLine("quiet", 0, "Roofs: measured solid, nominal dashed, simulated dotted.");
    LegendLine("quiet", 0,
               "Workloads: measured filled, predicted or simulated hollow; faint: operations, area "
               "by time.");
    LegendLine("quiet", 0,
               "Circle: FLOP per memory byte, diamond: per wire byte, square: per host byte.");
    for (const PlotRoof* roof : MainRoofs(plot_, view_.choice)) LegendOfRoof(*roof);
    for (size_t i = 0; i < plot_.points.size(); ++i) LegendOfPoint(i);
    legend_y_ += 4;
  }

  void LegendOfRoof(const PlotRoof& roof) {
    if (IsDrawable(roof)) {
      out_ += Line({kLeft, legend_y_ - 4}, {kLeft + 32, legend_y_ - 4},
                   fmt::format("roof {} {}", Name(roof.kind), Name(roof.origin)));
    }
    std::string text = fmt::format("{}: {} {}, {}", Name(roof.kind), RoofName(roof),
                                   RoofFigure(roof), Name(roof.origin));
    if (!roof.source.empty()) text += ": " + CleanName(roof.source);
    LegendLine("", 42, text);
  }

  void LegendOfPoint(size_t i) {
    const PlotPoint& point = plot_.points[i];
    const bool hidden = std::ranges::find(view_.other_dtype, i) != view_.other_dtype.end();
    out_ += Shape(RoofKind::kMemory, {kLeft + 16, legend_y_ - 4}, 5,
                  MarkClasses("neutral", point.origin));
    LegendLine(
        "", 42,
        fmt::format("{} {}: {}{}", i + 1, CleanName(point.name), PointSentence(point, view_.choice),
                    hidden ? fmt::format("; not drawn: {}", CleanName(point.dtype)) : ""));
  }

  const RooflinePlot& plot_;
  RooflineView view_;
  double top_;
  Placement placement_;
  double legend_y_ = 0;
  std::string out_;
};

}  // namespace

std::string RooflineSvg(const RooflinePlot& plot) { return Drawing(plot).ToString(); }

}  // namespace ridgeline::report
