// Rooflines to draw in tests. The figures are made up.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "report/roofline_plot.h"

namespace ridgeline::report {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline PlotPoint SamplePoint(std::string name, Origin origin, double rate, double hbm, double wire,
                             std::string bound) {
  PlotPoint point;
  point.name = std::move(name);
  point.origin = origin;
  point.dtype = "bf16";
  point.rate = rate;
  point.intensities = {{RoofKind::kMemory, "HBM", "", hbm},
                       {RoofKind::kMemory, "VMEM", "", hbm / 4},
                       {RoofKind::kNetwork, "x", "all_reduce", wire}};
  if (rate > 0) point.time_s = 1e9 / rate;
  point.bound = std::move(bound);
  return point;
}

inline PlotPoint SampleOperation(std::string name, double rate, double hbm, double share) {
  PlotPoint part = SamplePoint(std::move(name), Origin::kPredicted, rate, hbm, kInfinity, "memory");
  part.time_share = share;
  return part;
}

// Two dtypes, two memory levels, two axes, a host link; a workload of each bound, one without
// bytes, one without FLOP, one of another dtype, one without a rate.
inline RooflinePlot SampleRoofline() {
  RooflinePlot plot;
  plot.title = "decoder on accelerator-e";
  plot.conditions = {"accelerator-e, per device, dense; nominal: spec accelerator-e of 2026-05",
                     "measured: run.jsonl, 2026-11-30, working sets past 4 x the last cache"};
  plot.chosen.dtype = "bf16";
  const auto roof = [&plot](RoofKind kind, Origin origin, std::string group, std::string variant,
                            std::optional<double> rate) {
    plot.roofs.push_back({kind, origin, std::move(group), std::move(variant), rate,
                          origin == Origin::kNominal ? "spec accelerator-e" : "run.jsonl"});
  };
  for (const Origin origin : {Origin::kMeasured, Origin::kNominal}) {
    const double share = origin == Origin::kNominal ? 1 : 0.92;
    roof(RoofKind::kCompute, origin, "bf16", "matrix", share * 197e12);
    roof(RoofKind::kCompute, origin, "s8", "matrix", share * 394e12);
    roof(RoofKind::kMemory, origin, "HBM", "sequential", share * 819e9);
    roof(RoofKind::kMemory, origin, "VMEM", "sequential", share * 18e12);
    roof(RoofKind::kNetwork, origin, "x", "all_reduce", share * 90e9);
    roof(RoofKind::kNetwork, origin, "y", "all_reduce", share * 45e9);
    roof(RoofKind::kHost, origin, "PCIe", "to device", share * 16e9);
  }
  roof(RoofKind::kCompute, Origin::kMeasured, "bf16", "vector", 2.1e12);
  roof(RoofKind::kMemory, Origin::kMeasured, "HBM", "strided", 205e9);
  roof(RoofKind::kMemory, Origin::kMeasured, "HBM", "gather", 24e9);
  roof(RoofKind::kNetwork, Origin::kMeasured, "x", "all_to_all", 31e9);
  roof(RoofKind::kNetwork, Origin::kNominal, "y", "all_to_all", std::nullopt);

  plot.points = {
      SamplePoint("prefill", Origin::kMeasured, 141e12, 812, 5400, "compute"),
      SamplePoint("decode", Origin::kPredicted, 1.2e12, 1.6, 900, "memory"),
      SamplePoint("gradient sync", Origin::kMeasured, 20e12, 610, 260, "network"),
      SamplePoint("registers only", Origin::kPredicted, 181e12, kInfinity, kInfinity, "compute"),
      SamplePoint("copy", Origin::kMeasured, 0, 0, std::nan(""), "memory"),
      SamplePoint("int8 decode", Origin::kPredicted, 2e12, 3.2, 900, "memory"),
      SamplePoint("not run", Origin::kPredicted, 1, 10, 10, "memory")};
  plot.points[0].parts = {SampleOperation("dot.1", 150e12, 1200, 0.6),
                          SampleOperation("softmax", 1.1e12, 1.5, 0.25),
                          SampleOperation("layer norm", 0.6e12, 0.8, 0.1)};
  plot.points[1].intensities.push_back({RoofKind::kMemory, "HBM", "gather", 40});
  plot.points[2].note = "measured roof is too low, rerun";
  plot.points[5].dtype = "s8";
  plot.points[6].rate.reset();
  plot.points[6].time_s.reset();
  return plot;
}

// Every roof that a machine may have, and as many workloads.
inline RooflinePlot CrowdedRoofline() {
  RooflinePlot plot;
  plot.title = "every roof there could be";
  const auto roofs = [&plot](RoofKind kind, Origin origin, double rate, double next_group,
                             const std::vector<std::string>& groups, double next_variant,
                             const std::vector<std::string>& variants) {
    for (const std::string& group : groups) {
      double figure = rate * (origin == Origin::kNominal ? 1 : 0.9);
      for (const std::string& variant : variants) {
        plot.roofs.push_back({kind, origin, group, variant, figure, "made up"});
        figure *= next_variant;
      }
      rate *= next_group;
    }
  };
  for (const Origin origin : {Origin::kMeasured, Origin::kNominal}) {
    roofs(RoofKind::kCompute, origin, 100e12, 1.3, {"bf16", "f16", "f32", "s8", "f8e5m2", "f64"},
          0.02, {"matrix", "vector"});
    roofs(RoofKind::kMemory, origin, 400e9, 5, {"HBM", "L2", "VMEM", "SMEM"}, 0.3,
          {"sequential", "strided", "gather"});
    roofs(RoofKind::kNetwork, origin, 90e9, 0.5, {"x", "y", "dcn"}, 0.7,
          {"all_reduce", "all_gather", "all_to_all", "permute"});
    roofs(RoofKind::kHost, origin, 16e9, 1, {"PCIe"}, 0.8, {"to device", "from device"});
  }
  for (int i = 0; i < 40; ++i) {
    const double spread = (i * 29 % 40) / 40.0;
    const double intensity = std::pow(10, 4 * (i * 7 % 40) / 40.0 - 0.5);
    plot.points.push_back(SamplePoint("workload number " + std::to_string(i),
                                      i % 2 == 0 ? Origin::kPredicted : Origin::kMeasured,
                                      std::min(90e12, intensity * 400e9) * (0.3 + 0.7 * spread),
                                      intensity, intensity * std::pow(10, 1 + spread), "memory"));
    plot.points.back().intensities[0].variant = i % 3 == 0 ? "gather" : "sequential";
  }
  return plot;
}

// Names and figures that would break a page, a file or a terminal.
inline RooflinePlot HostileRoofline() {
  RooflinePlot plot = SampleRoofline();
  const std::string name =
      "</script><script>alert(1)</script><!-- \"'&\x1b[2J\xe2\x80\xa8 \xff ]]>{{title}}";
  plot.title = name;
  plot.conditions = {name};
  for (PlotRoof& roof : plot.roofs) {
    roof.variant += name;
    roof.source = name;
  }
  for (PlotPoint& point : plot.points) {
    point.name = point.bound = point.note = name;
    for (PlotPoint& part : point.parts) part.name = name;
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  plot.roofs[0].rate = nan;
  plot.roofs[1].rate = kInfinity;
  plot.roofs[2].rate = -1;
  plot.roofs[3].rate = 0;
  plot.points[0].rate = kInfinity;
  plot.points[0].time_s = nan;
  plot.points[1].rate = nan;
  plot.points[2].rate = -5;
  plot.points[2].intensities[0].flop_per_byte = nan;
  plot.points[3].intensities[0].flop_per_byte = 1e-280;
  plot.points[4].intensities[0].flop_per_byte = 1e280;
  plot.points[4].rate = 1e280;
  plot.points[0].parts[0].time_share = nan;
  plot.points[0].parts[1].time_share = 7;
  return plot;
}

}  // namespace ridgeline::report
