// A roofline as a picture: plain data in, text for a terminal, SVG or HTML out. Rates are FLOP/s,
// bandwidths B/s, intensities FLOP/byte, times seconds.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "report/report.h"

namespace ridgeline::report {

enum class RoofKind { kCompute, kMemory, kNetwork, kHost };
inline constexpr std::array<RoofKind, 4> kRoofKinds = {RoofKind::kCompute, RoofKind::kMemory,
                                                       RoofKind::kNetwork, RoofKind::kHost};
std::string_view Name(RoofKind kind);  // "compute", …

// How a figure came about. Roofs are nominal, measured or simulated; points are measured, predicted
// or simulated.
enum class Origin { kNominal, kMeasured, kPredicted, kSimulated };
std::string_view Name(Origin origin);  // "nominal", …

// A ceiling (compute) or a slope (memory, network, host).
struct PlotRoof {
  RoofKind kind = RoofKind::kCompute;
  Origin origin = Origin::kNominal;
  std::string group;           // what the reader switches: a dtype, a memory level, an axis, a link
  std::string variant;         // inside the group: unit, access pattern, collective, direction
  std::optional<double> rate;  // FLOP/s of a ceiling, B/s of a slope; absent or not positive:
                               // listed, not drawn
  std::string source;          // "spec tpu-v5e, 2026-05", "run.jsonl, gemm 4096"
};

// FLOP for each byte that goes over one thing. Infinite (no such bytes) and 0 (no FLOP) are drawn
// at the edge with a word; NaN (neither) is listed, not drawn.
struct PlotIntensity {
  RoofKind kind = RoofKind::kMemory;
  std::string group;    // a memory level, an axis, a link
  std::string variant;  // the roof that this traffic meets; empty: the first of the group
  double flop_per_byte = 0;
};

struct PlotPoint {
  std::string name;
  Origin origin = Origin::kPredicted;
  std::string dtype;  // drawn when this dtype is chosen; empty: always
  std::string unit;   // variant of the compute roof that it meets; empty: the first
  std::vector<PlotIntensity> intensities;
  std::optional<double> rate;        // achieved (measured) or attainable (predicted) FLOP/s
  std::optional<double> time_s;      // of the whole point
  std::optional<double> time_share;  // of its workload, 0..1; sizes an operation
  std::string bound;                 // "memory", "balanced compute/memory"
  std::string note;                  // "measured roof is too low, rerun", "FLOP are a lower bound"
  std::vector<PlotPoint> parts;      // its largest operations, some hundreds at most; without parts
};

// Which group of each kind is shown. Empty or unknown: the first that the roofs name.
struct PlotChoice {
  std::string dtype;
  std::string level;
  std::string axis;
  std::string link;

  std::string& Of(RoofKind kind);
  const std::string& Of(RoofKind kind) const;
};

struct RooflinePlot {
  std::string title;
  std::vector<std::string> conditions;  // lines: machine, per device or per chip, dense, date …
  PlotChoice chosen;                    // what is shown first
  std::vector<PlotRoof> roofs;          // best known first: the first variant of a group is shown
  std::vector<PlotPoint> points;        // workloads
};

// A picture of the chosen groups that fits `options.width` columns (0: 100), the legend with every
// figure underneath. Dots of braille, or with `ascii` signs of ASCII.
std::string RooflineText(const RooflinePlot& plot, const TableOptions& options);

// The chosen groups as one SVG that stands alone: light and dark, readable in print and in grey.
// The same plot gives the same bytes.
std::string RooflineSvg(const RooflinePlot& plot);

// Everything, as one HTML page that needs no network: switch groups, hover, zoom, tables
// underneath.
std::string RooflineHtml(const RooflinePlot& plot);

// What the page draws from; null where a figure is missing, infinite or not a number.
Json RooflineJson(const RooflinePlot& plot);

}  // namespace ridgeline::report
