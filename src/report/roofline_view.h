// What of a roofline is shown for one choice, and where: the part that all writers share. Internal
// to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/roofline_plot.h"

namespace ridgeline::report {

// Both ends are positive and finite, lo < hi.
struct AxisRange {
  double lo = 1;
  double hi = 10;

  // Where `value` lies on the logarithmic axis: 0 at lo, 1 at hi.
  double Share(double value) const;
};

// A figure that lies outside the axis is drawn at its end.
enum class Edge { kInside, kLow, kHigh };

// One roof from its left end to its right end, cut to the axes.
struct RoofLine {
  const PlotRoof* roof = nullptr;
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool reaches_ridge = false;  // a slope whose (x1, y1) is its ridge point
};

// A point as one kind of traffic sees it.
struct PlotMark {
  const PlotPoint* point = nullptr;
  const PlotIntensity* intensity = nullptr;
  size_t index = 0;  // of the workload in the plot
  bool part = false;
  double x = 0, y = 0;  // cut to the axes
  Edge x_edge = Edge::kInside, y_edge = Edge::kInside;
};

struct RooflineView {
  PlotChoice choice;
  AxisRange x, y;
  std::vector<RoofLine> lines;
  std::vector<PlotMark> marks;      // workloads first, then operations
  std::vector<size_t> other_dtype;  // workloads that are not drawn under this dtype
};

// The groups of a kind in the order of the roofs, then those that only points name.
std::vector<std::string> Groups(const RooflinePlot& plot, RoofKind kind);
// `plot.chosen` with gaps filled.
PlotChoice ChosenOrFirst(const RooflinePlot& plot);
// Whether a roof belongs to the picture by default: its variant is the first of its group or one
// that a point meets.
bool IsMain(const RooflinePlot& plot, const PlotRoof& roof);
bool IsDrawable(const PlotRoof& roof);
// The main roofs of the chosen groups, by kind; also those without a figure.
std::vector<const PlotRoof*> MainRoofs(const RooflinePlot& plot, const PlotChoice& choice);

// The chosen groups' main roofs, and the points.
RooflineView MakeView(const RooflinePlot& plot, const PlotChoice& choice);

struct AxisTick {
  double value = 0;
  std::string label;  // with its SI prefix: "100", "2 k", "10 T"
};
// At most `most` ticks: powers of ten, or 1, 2, 5 where there are few of them.
std::vector<AxisTick> LogTicks(const AxisRange& range, int most);

inline constexpr std::string_view kRateUnit = "FLOP/s";
inline constexpr std::string_view kIntensityUnit = "FLOP/byte";

// "HBM sequential"
std::string RoofName(const PlotRoof& roof);
// "FLOP/s" or "B/s"
std::string_view RoofUnit(const PlotRoof& roof);
// "819 GB/s", "no figure"
std::string RoofFigure(const PlotRoof& roof);
bool HasRate(const PlotPoint& point);
// "12.3 TFLOP/s", "no rate"
std::string PointRate(const PlotPoint& point);
// "240 FLOP/HBM byte (gather)", "no HBM bytes", "no FLOP", "neither FLOP nor HBM bytes"
std::string IntensityText(const PlotIntensity& intensity);
// What stands beside a mark at an edge, else empty: "no HBM bytes", "beyond the axis".
std::string EdgeWord(const PlotMark& mark);
// "12.3 TFLOP/s measured, 240 FLOP/HBM byte, 31 FLOP/x wire byte; 4.2 ms; bound: memory; note"
std::string PointSentence(const PlotPoint& point, const PlotChoice& choice);
// Valid UTF-8 without control characters.
std::string CleanName(std::string_view text);

}  // namespace ridgeline::report
