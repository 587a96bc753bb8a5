// The roofline for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/dot_canvas.h"
#include "report/roofline_view.h"
#include "report/text.h"

namespace ridgeline::report {
namespace {

constexpr int kDefaultWidth = 100;
constexpr int kLeastWidth = 40;
constexpr int kMostLetters = 26;
constexpr int kGutter = 6;  // "500 T" and a blank

std::string_view ColorOf(RoofKind kind) {
  constexpr std::array<std::string_view, 4> kColors = {"34", "33", "32", "35"};
  return kColors[static_cast<size_t>(kind)];
}

// 'A' for FLOP per memory byte, 'a' per wire byte, '1' per host byte; a workload beyond the last
// sign is in the legend only.
std::optional<char> Letter(RoofKind kind, size_t index) {
  if (kind == RoofKind::kHost) {
    return index < 9 ? std::optional(static_cast<char>('1' + index)) : std::nullopt;
  }
  if (index >= kMostLetters) return std::nullopt;
  return static_cast<char>((kind == RoofKind::kNetwork ? 'a' : 'A') + static_cast<char>(index));
}

int Every(Origin origin) {
  return origin == Origin::kMeasured ? 1 : origin == Origin::kSimulated ? 4 : 2;
}

class Screen {
 public:
  Screen(const RooflinePlot& plot, const TableOptions& options)
      : plot_(plot),
        options_(options),
        paint_(options),
        width_(std::max(kLeastWidth, options.width == 0 ? kDefaultWidth : options.width)),
        columns_(width_ - kGutter - 2),
        rows_(std::clamp(width_ / 4, 12, 26)),
        view_(MakeView(plot, ChosenOrFirst(plot))),
        canvas_(columns_, rows_, options.ascii) {}

  std::string ToString() {
    DrawLines();
    DrawMarks();
    TagLines();
    std::string text = paint_.Tinted(Wrapped(CleanName(plot_.title), 0), Tone::kTitle);
    for (const std::string& line : plot_.conditions) {
      text += paint_.Tinted(Wrapped(CleanName(line), 2), Tone::kFaint);
    }
    return text + "\n" + Frame() + "\n" + Legend();
  }

 private:
  std::string Wrapped(const std::string& text, int indent) const {
    return Wrap(paint_.Text(text), width_, indent);
  }

  void DrawLines() {
    for (const RoofLine& line : view_.lines) {
      const PlotRoof& roof = *line.roof;
      const bool measured = roof.origin == Origin::kMeasured;
      canvas_.Line(view_.x.Share(line.x0), view_.y.Share(line.y0), view_.x.Share(line.x1),
                   view_.y.Share(line.y1), Every(roof.origin),
                   !measured                         ? '.'
                   : roof.kind == RoofKind::kCompute ? '-'
                                                     : '/',
                   ColorOf(roof.kind));
    }
  }

  void DrawMarks() {
    for (const PlotMark& mark : view_.marks) {
      const auto letter = Letter(mark.intensity->kind, mark.index);
      if (mark.part || !letter) continue;
      const int column = canvas_.ColumnOf(view_.x.Share(mark.x));
      const int row = canvas_.RowOf(view_.y.Share(mark.y));
      const char there = canvas_.TextAt(column, row);
      shared_ = shared_ || (there != 0 && there != *letter);
      canvas_.Overwrite(column, row, there == 0 || there == *letter ? *letter : '*',
                        there == 0 ? ColorOf(mark.intensity->kind) : "1");
    }
  }

  // "M1" somewhere on its line, so that the legend can name it.
  void TagLines() {
    std::map<RoofKind, int> count;
    for (const RoofLine& line : view_.lines) {
      constexpr std::string_view kInitials = "CMNH";
      const RoofKind kind = line.roof->kind;
      std::string tag = fmt::format("{}{}", kInitials[static_cast<size_t>(kind)], ++count[kind]);
      const double x0 = view_.x.Share(line.x0), x1 = view_.x.Share(line.x1);
      const double y0 = view_.y.Share(line.y0), y1 = view_.y.Share(line.y1);
      for (int step = 0; step < 40; ++step) {
        // Ceilings from their right end, slopes from their middle.
        const double share = kind == RoofKind::kCompute
                                 ? 0.96 - step * 0.024
                                 : 0.5 + (step % 2 == 0 ? 1 : -1) * step * 0.0125;
        const int column = canvas_.ColumnOf(x0 + share * (x1 - x0));
        const int row = canvas_.RowOf(y0 + share * (y1 - y0));
        if (canvas_.Write(column, row, tag, ColorOf(kind))) break;
      }
      tags_[line.roof] = std::move(tag);
    }
  }

  std::string Frame() const {
    const bool ascii = options_.ascii;
    const std::string_view side = ascii ? "|" : "│", tick = ascii ? "+" : "┤";
    std::map<int, std::string> labels;
    for (const AxisTick& t : LogTicks(view_.y, rows_ / 2)) {
      labels[canvas_.RowOf(view_.y.Share(t.value))] = t.label;
    }
    std::string text = fmt::format("{:>{}}\n", kRateUnit, kGutter);
    for (int row = 0; row < rows_; ++row) {
      const auto label = labels.find(row);
      text += fmt::format("{:>{}} {}", label == labels.end() ? "" : label->second, kGutter - 1,
                          label == labels.end() ? side : tick);
      text += canvas_.Row(row, options_.color) + "\n";
    }
    return text + Floor();
  }

  // The lower axis with its ticks, their labels and the unit.
  std::string Floor() const {
    const bool ascii = options_.ascii;
    std::vector<std::string> rule(static_cast<size_t>(columns_), ascii ? "-" : "─");
    std::string labels(static_cast<size_t>(width_), ' ');
    int free_from = 0;
    for (const AxisTick& tick : LogTicks(view_.x, columns_ / 6)) {
      const int column = canvas_.ColumnOf(view_.x.Share(tick.value));
      rule[static_cast<size_t>(column)] = ascii ? "+" : "┬";
      const int length = static_cast<int>(tick.label.size());
      const int at = std::clamp(kGutter + 1 + column - length / 2, 0, width_ - length);
      if (at < free_from) continue;
      labels.replace(static_cast<size_t>(at), tick.label.size(), tick.label);
      free_from = at + length + 1;
    }
    labels.erase(labels.find_last_not_of(' ') + 1);
    const std::string title = fmt::format("intensity ({})", kIntensityUnit);
    const int title_at = kGutter + std::max(0, columns_ - static_cast<int>(title.size())) / 2;
    return fmt::format("{:>{}}{}{}\n{}\n{:>{}}{}\n", "", kGutter, ascii ? "+" : "└",
                       fmt::join(rule, ""), labels, "", title_at, title);
  }

  std::string Legend() const {
    std::string text =
        Wrapped(options_.ascii ? "Roofs: measured / and -, nominal and simulated dotted."
                               : "Roofs: measured solid, nominal and simulated dotted.",
                2);
    for (const PlotRoof* roof : MainRoofs(plot_, view_.choice)) text += LegendOfRoof(*roof);
    if (plot_.points.empty()) return text;
    text += Wrapped(fmt::format("Workloads: capital letters by memory byte, small ones by wire "
                                "byte, digits by host byte{}.",
                                shared_ ? "; * several at one place" : ""),
                    2);
    for (size_t i = 0; i < plot_.points.size(); ++i) text += LegendOfPoint(i);
    return text;
  }

  std::string LegendOfRoof(const PlotRoof& roof) const {
    const auto tag = tags_.find(&roof);
    std::string line = fmt::format("  {:<3} {} {}, {}", tag == tags_.end() ? "-" : tag->second,
                                   RoofName(roof), RoofFigure(roof), Name(roof.origin));
    if (!roof.source.empty()) line += ": " + CleanName(roof.source);
    return Wrapped(line, 6);
  }

  std::string LegendOfPoint(size_t i) const {
    const PlotPoint& point = plot_.points[i];
    const auto letter = Letter(RoofKind::kMemory, i);
    std::string line = fmt::format("  {:<3} {}: {}", letter ? std::string(1, *letter) : "-",
                                   CleanName(point.name), PointSentence(point, view_.choice));
    if (std::ranges::any_of(view_.marks, [i](const PlotMark& mark) {
          return mark.index == i && !mark.part && !EdgeWord(mark).empty();
        })) {
      line += "; drawn at the edge";
    }
    if (std::ranges::find(view_.other_dtype, i) != view_.other_dtype.end()) {
      line += fmt::format("; not drawn: {}", CleanName(point.dtype));
    }
    return Wrapped(line, 6);
  }

  const RooflinePlot& plot_;
  const TableOptions& options_;
  Paint paint_;
  int width_, columns_, rows_;
  RooflineView view_;
  DotCanvas canvas_;
  std::map<const PlotRoof*, std::string> tags_;
  bool shared_ = false;
};

}  // namespace

std::string RooflineText(const RooflinePlot& plot, const TableOptions& options) {
  return Screen(plot, options).ToString();
}

}  // namespace ridgeline::report
