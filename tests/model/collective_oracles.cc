#include <fmt/format.h>

#include <cmath>

#include "core/collective_bytes.h"
#include "model/all_to_all_routing.h"
#include "model/collectives.h"
#include "model/oracles.h"
#include "model/roofline.h"

namespace ridgeline::model {
namespace {

constexpr double kV5eLink = 4.5e10;

Outputs Routing(const Json&) {
  int checks = 0;
  int mismatches = 0;
  const auto check = [&](const std::vector<TorusAxis>& axes) {
    ++checks;
    double chips = 1;
    for (const TorusAxis& axis : axes) chips *= static_cast<double>(axis.size);
    // Links of 1 B/s, one byte from each chip to each other.
    const double closed = TorusAllToAllSeconds(chips * chips, axes);
    if (std::fabs(closed - BusiestLink(axes)) > 1e-9) ++mismatches;
  };
  const auto axis = [](int64_t size, bool wrap) { return TorusAxis{size, 1, wrap, 0}; };
  for (int64_t n = 2; n <= 16; ++n) {
    if (n > 2) check({axis(n, true)});
    check({axis(n, false)});
  }
  check({axis(4, true), axis(4, true)});
  check({axis(4, false), axis(4, false)});
  check({axis(4, false), axis(8, true)});
  check({axis(8, true), axis(8, true)});
  check({axis(4, true), axis(4, true), axis(4, true)});
  check({axis(4, true), axis(4, true), axis(8, true)});
  check({axis(3, true), axis(5, true)});
  return {{"checks", checks}, {"mismatches", mismatches}};
}

Outputs GatherOnALine(const Json& in) {
  const double bytes = 2.0 * 2048 * 8192;
  const TorusAxis line{in["n"], in["W1"], in["wrap"], 0};
  TorusAxis ring = line;
  ring.wrap = true;
  TorusAxis hop = line;
  hop.hop_s = 1e-6;
  const double line_s = GatherSeconds(bytes, line);
  const double measured_s = 680e-6;
  return {{"V_bytes", 33554432},
          {"ring_book_us", bytes / EgressOf(ring) * 1e6},
          {"ring_exact_us", GatherSeconds(bytes, ring) * 1e6},
          {"line_us", line_s * 1e6},
          {"line_over_ring_exact", line_s / GatherSeconds(bytes, ring)},
          {"latency_small_us", GatherSeconds(0, hop) * 1e6},
          {"measured_us", 680},
          {"eff_vs_line", line_s / measured_s}};
}

Outputs V4Cube(const Json& in) {
  const double b = 1024;
  const double d = 4096;
  const TorusAxis axis{4, in["W_bidi"].get<double>() / 2, true, 0};
  const std::vector<TorusAxis> two = {axis, axis};
  TorusAxis hop = axis;
  hop.hop_s = 1e-6;
  return {{"ag_x_us", 2 * b * d / 4 / EgressOf(axis) * 1e6},
          {"ag_x_exact_us", GatherSeconds(2 * b * d / 4, axis) * 1e6},
          {"ag_xy_us", 2 * b * d / (2 * EgressOf(axis)) * 1e6},
          {"ag_xy_exact_us", TorusGatherSeconds(2 * b * d, two) * 1e6},
          {"ar_z_book_unsharded_us", 2 * 2 * b * d / EgressOf(axis) * 1e6},
          // The array lies on 16 chips of the other axes: each reduces a sixteenth.
          {"ar_z_correct_us", 2 * (2 * b * d / 16) / EgressOf(axis) * 1e6},
          {"ar_z_exact_us", AllReduceSeconds(2 * b * d / 16, axis) * 1e6},
          {"ag_latency_bound_us", GatherSeconds(0, hop) * 1e6}};
}

Outputs AllToAlls(const Json& in) {
  const double v = in["V"];
  const double v5e = in["W1_v5e"];
  const double v5p = in["W1_v5p"];
  const TorusAxis ring16{16, v5e, true, 0};
  const std::vector<TorusAxis> torus = {ring16, ring16};
  const std::vector<TorusAxis> cube(3, TorusAxis{4, v5p, true, 0});
  const std::vector<TorusAxis> mesh(2, TorusAxis{8, v5e, false, 0});
  const double ring_s = AllToAllSeconds(v, ring16);
  const double torus_s = TorusAllToAllSeconds(v, torus);
  return {{"ring16_ms", ring_s * 1e3},
          {"ring16_book_V_over_4W_ms", v / (4 * EgressOf(ring16)) * 1e3},
          {"line8_ms", AllToAllSeconds(v, {8, v5e, false, 0}) * 1e3},
          {"torus16x16_ms", torus_s * 1e3},
          {"torus16x16_per_shard_4MiB_us", torus_s * 1e6},
          {"torus4x4x4_v5p_us", TorusAllToAllSeconds(v, cube) * 1e6},
          {"mesh8x8_v5e_ms", TorusAllToAllSeconds(v, mesh) * 1e3},
          {"ag_ring16_ms", GatherSeconds(v, ring16) * 1e3},
          {"ratio_ag_over_a2a", GatherSeconds(v, ring16) / ring_s},
          {"gpu_node8_ms", DirectAllToAllSeconds(v, {8, 4.5e11, 0}) * 1e3},
          {"gpu_2nodes_us", DirectAllToAllSeconds(v, {2, 4e11, 0}) * 1e6}};
}

Outputs Pods(const Json&) {
  const std::vector<int64_t> pod = {16, 16};
  const std::vector<int64_t> v4 = {16, 16, 16};
  return {{"v5e_bisection_TBs", static_cast<double>(CutLinks(pod)) * 50e9 / 1e12},
          {"v5e_allreduce_TBs", PodEgress(256, 4, 50e9) / 1e12},
          {"v6e_bisection_TBs", static_cast<double>(CutLinks(pod)) * 100e9 / 1e12},
          {"v6e_allreduce_TBs", PodEgress(256, 4, 100e9) / 1e12},
          {"v4_link_from_bisection", 24e12 / static_cast<double>(CutLinks(v4))},
          {"v4_link_from_allreduce", 1.1e15 / PodEgress(4096, 6, 1)},
          {"v5e_dcn_per_chip", 6.4e12 / 8 / 256},
          {"v6e_dcn_per_chip", 25.6e12 / 8 / 256},
          {"v5p_dcn_per_chip", 50e9 / 8}};
}

Outputs FatTree(const Json&) {
  const double node_bytes = 2.0 * 4096 * 65536;
  const double quiz_bytes = 2.0 * 1024 * 16384;
  const SwitchedGroup node{8, 450e9, 0};
  const TreeLevel gpu{8, 450e9};
  const TreeLevel leaf{32, 400e9};
  const TreeLevel spine{4, 12.8e12};
  const std::vector<TreeLevel> tree = {gpu, leaf, spine};
  const auto alone = [](const TreeLevel& level) {
    return TreeGatherBandwidth(std::span(&level, 1));
  };
  return {{"node_ag_ms", RingGatherSeconds(node_bytes, node) * 1e3},
          {"popquiz_us", quiz_bytes / node.bytes_per_s * 1e6},
          {"popquiz_exact_us", RingGatherSeconds(quiz_bytes, node) * 1e6},
          {"bw_node_GBs", alone(gpu) / 1e9},
          {"bw_leaf_GBs", alone(leaf) / 1e9},
          {"bw_spine_TBs", alone(spine) / 1e12},
          {"tree_ag_bw_GBs", TreeGatherBandwidth(tree) / 1e9},
          {"two_node_intra_GBs", alone(gpu) / 1e9},
          {"two_node_inter_GBs", alone({2, 400e9}) / 1e9},
          {"tpuv2_rs_ms", 2.0 * 8 * 1024 * 8192 / EgressOf({16, 6e10, true, 0}) * 1e3}};
}

Outputs BusBandwidths(const Json& in) {
  const int64_t n = in["n"];
  const double h100 = 18 * NcclLinkRate(90).value();
  const double a100 = 12 * NcclLinkRate(80).value();
  const double b200 = 18 * NcclLinkRate(100).value();
  return {{"f_ar", BusFactor(Collective::kAllReduce, n)},
          {"f_ag", BusFactor(Collective::kAllGather, n)},
          {"f_a2a", BusFactor(Collective::kAllToAll, n)},
          {"f_bcast", BusFactor(Collective::kBroadcast, n)},
          {"algbw_275_to_busbw", 275 * BusFactor(Collective::kAllReduce, n)},
          {"ring_busbw_achievable", h100 / 1e9},
          {"a100_busbw_achievable", a100 / 1e9},
          {"b200_busbw_achievable", b200 / 1e9},
          {"frac_of_nominal_h100", h100 / 450e9},
          {"frac_of_nominal_b200", b200 / 900e9},
          {"frac_of_nominal_a100", a100 / 300e9},
          {"h200_measured_frac", 365.6 / 450},
          {"b200_measured_frac", 682.2 / 900}};
}

Outputs NcclLatencies(const Json&) {
  using enum NcclAlgorithm;
  using enum NcclProtocol;
  const auto us = [](NcclAlgorithm a, NcclProtocol p, int64_t ranks, int64_t nodes) {
    return NcclAllReduceLatency(a, p, ranks, nodes) * 1e6;
  };
  return {{"ring_LL_8r_1n_us", us(kRing, kLL, 8, 1)},
          {"ring_Simple_8r_1n_us", us(kRing, kSimple, 8, 1)},
          {"tree_LL_8r_1n_us", us(kTree, kLL, 8, 1)},
          {"ring_LL_128r_16n_us", us(kRing, kLL, 128, 16)},
          {"tree_LL_128r_16n_us", us(kTree, kLL, 128, 16)},
          {"ring_LL_1024r_128n_us", us(kRing, kLL, 1024, 128)},
          {"tree_LL_1024r_128n_us", us(kTree, kLL, 1024, 128)}};
}

Outputs Algorithms(const Json& in) {
  const SwitchedGroup group{in["p"], in["W"], in["alpha"]};
  Outputs out;
  for (const int kib : {8, 1024, 65536}) {
    const double bytes = kib * 1024.0;
    out[fmt::format("recdbl_{}KiB_us", kib)] =
        RecursiveDoublingAllReduceSeconds(bytes, group) * 1e6;
    out[fmt::format("rabens_{}KiB_us", kib)] = RabenseifnerAllReduceSeconds(bytes, group) * 1e6;
    out[fmt::format("ring_{}KiB_us", kib)] = RingAllReduceSeconds(bytes, group) * 1e6;
  }
  out["recdbl_vs_rabens_crossover_KiB"] = RabenseifnerCrossoverBytes(group) / 1024;
  return out;
}

Outputs Slices(const Json& in) {
  const double bytes = 2 * in["P"].get<double>();
  const auto over = [&](double slices) {
    return HierarchicalAllReduceSeconds(bytes, {in["n"], slices, 3 * 1.8e11, 6.25e9});
  };
  return {{"ici_ms", over(2).slice_s * 1e3},
          {"dcn_ms_2slices", over(2).dcn_s * 1e3},
          {"dcn_ms_10slices", over(10).dcn_s * 1e3},
          {"pod_dcn_intensity_exact", Ridge(4.59e14, 6.25e9)},
          {"pod_dcn_intensity_book", Ridge(3.8e18, 5e13)},
          {"v5e_dcn_intensity", Ridge(1.97e14, 3.125e9)},
          {"v6e_dcn_intensity", Ridge(9.2e14, 12.5e9)},
          {"latency_bound_45kB", LatencyBandwidthProduct(1e-6, kV5eLink)},
          {"latency_bound_8way_kB", 8 * LatencyBandwidthProduct(1e-6, kV5eLink) / 1e3}};
}

Outputs CornerToCorner(const Json&) {
  const double bytes = 2.0 * 8 * 128 * 8192;
  constexpr int64_t kHops = 3 + 3;
  const auto seconds = [](double size) {
    return PointToPointSeconds(size, kV5eLink, 1e-6, kHops, 2);
  };
  return {{"bytes", 16777216},
          {"first_byte_us", seconds(0) * 1e6},
          {"transfer_us", (seconds(bytes) - seconds(0)) * 1e6},
          {"total_us", seconds(bytes) * 1e6},
          {"hosts_v5p", 16 * 20 * 28 / 4},
          {"gather16_lb_ms", 15e9 / (2 * kV5eLink) * 1e3},
          {"pcie_ms", 8e9 / (8 * 1.5e10) * 1e3}};
}

Outputs Sweep(const Json& in) {
  std::vector<SizePoint> points;
  for (const Json& point : in["points"]) points.push_back({point[0], point[1]});
  const AlphaBeta law = FitAlphaBeta(points).value();
  const AlphaBeta two = TwoPointFit(points[1], points[3]);
  double worst = 0;
  for (const SizePoint& p : points) {
    const double t = law.alpha_s + p.bytes / law.bytes_per_s;
    worst = std::max(worst, std::fabs(t - p.seconds) / p.seconds);
  }
  return {{"alpha_us", law.alpha_s * 1e6},
          {"W_GBs", law.bytes_per_s / 1e9},
          {"half_size_KiB", law.half_size_bytes.value() / 1024},
          {"two_point_W_GBs", two.bytes_per_s / 1e9},
          {"two_point_alpha_us", two.alpha_s * 1e6},
          {"worst_rel_residual", worst}};
}

}  // namespace

Oracles CollectiveOracles() {
  return {
      {"2.0", Routing},    {"2.1", GatherOnALine}, {"2.2", V4Cube},          {"2.3", AllToAlls},
      {"2.4", Pods},       {"2.5", FatTree},       {"2.6", BusBandwidths},   {"2.7", NcclLatencies},
      {"2.8", Algorithms}, {"2.9", Slices},        {"2.10", CornerToCorner}, {"2.11", Sweep}};
}

}  // namespace ridgeline::model
