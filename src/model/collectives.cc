#include "model/collectives.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ridgeline::model {
namespace {

bool IsRing(const TorusAxis& axis) { return axis.wrap && axis.size > 2; }

// (n - 1) / n: a chip already holds its own part.
double Rest(double ranks) { return (ranks - 1) / ranks; }

double GatherSteps(const TorusAxis& axis) {
  const auto n = static_cast<double>(axis.size);
  return IsRing(axis) ? std::ceil((n - 1) / 2) : n - 1;
}

int64_t ChipsOf(std::span<const TorusAxis> axes) {
  return std::accumulate(axes.begin(), axes.end(), int64_t{1},
                         [](int64_t chips, const TorusAxis& axis) { return chips * axis.size; });
}

double Log2(const SwitchedGroup& group) { return std::log2(group.ranks); }

}  // namespace

double EgressOf(const TorusAxis& axis) {
  return IsRing(axis) ? 2 * axis.link_bytes_per_s : axis.link_bytes_per_s;
}

double GatherSeconds(double bytes, const TorusAxis& axis) {
  return TorusGatherSeconds(bytes, std::span(&axis, 1));
}

double AllReduceSeconds(double bytes, const TorusAxis& axis) {
  return 2 * GatherSeconds(bytes, axis);
}

double TorusGatherSeconds(double bytes, std::span<const TorusAxis> axes) {
  double egress = 0;
  double latency = 0;
  for (const TorusAxis& axis : axes) {
    if (axis.size < 2) continue;
    egress += EgressOf(axis);
    latency += axis.hop_s * GatherSteps(axis);
  }
  return egress > 0 ? latency + bytes * Rest(static_cast<double>(ChipsOf(axes))) / egress : 0;
}

double AllToAllSeconds(double total_bytes, const TorusAxis& axis, int64_t others) {
  if (axis.size < 2) return 0;
  const auto n = static_cast<double>(axis.size);
  const double chips = n * static_cast<double>(others);
  const double half = std::floor(n / 2);
  // Messages between pairs of chips that cross the busiest link of the axis in one direction. On a
  // ring of even size those at half way go both ways.
  double messages = half * std::ceil(n / 2);
  if (IsRing(axis)) messages = axis.size % 2 == 0 ? n * n / 8 : (n * n - 1) / 8;
  const double hops = IsRing(axis) ? half : n - 1;
  return axis.hop_s * hops + total_bytes / (chips * chips) * messages *
                                 static_cast<double>(others) / axis.link_bytes_per_s;
}

double TorusAllToAllSeconds(double total_bytes, std::span<const TorusAxis> axes) {
  const int64_t chips = ChipsOf(axes);
  double slowest = 0;
  for (const TorusAxis& axis : axes) {
    slowest = std::max(slowest, AllToAllSeconds(total_bytes, axis, chips / axis.size));
  }
  return slowest;
}

double PermuteSeconds(double bytes, const TorusAxis& axis, int64_t hops) {
  const auto links = static_cast<double>(hops);
  return links * axis.hop_s + links * bytes / axis.link_bytes_per_s;
}

double PointToPointSeconds(double bytes, double link_bytes_per_s, double hop_s, int64_t hops,
                           int64_t paths) {
  return static_cast<double>(hops) * hop_s +
         bytes / (static_cast<double>(paths) * link_bytes_per_s);
}

int64_t CutLinks(std::span<const int64_t> sizes) {
  int64_t chips = 1;
  for (const int64_t size : sizes) chips *= size;
  return 2 * chips / std::ranges::max(sizes);
}

double PodEgress(double chips, double links_per_chip, double link_bytes_per_s) {
  return chips * links_per_chip * link_bytes_per_s;
}

double RingGatherSeconds(double bytes, const SwitchedGroup& group) {
  return (group.ranks - 1) * group.step_s + bytes * Rest(group.ranks) / group.bytes_per_s;
}

double RecursiveDoublingGatherSeconds(double bytes, const SwitchedGroup& group) {
  return Log2(group) * group.step_s + bytes * Rest(group.ranks) / group.bytes_per_s;
}

double RingAllReduceSeconds(double bytes, const SwitchedGroup& group) {
  return 2 * RingGatherSeconds(bytes, group);
}

double RecursiveDoublingAllReduceSeconds(double bytes, const SwitchedGroup& group) {
  return Log2(group) * (group.step_s + bytes / group.bytes_per_s);
}

double RabenseifnerAllReduceSeconds(double bytes, const SwitchedGroup& group) {
  return 2 * RecursiveDoublingGatherSeconds(bytes, group);
}

double DoubleTreeAllReduceSeconds(double bytes, const SwitchedGroup& group) {
  return 2 * Log2(group) * group.step_s + 2 * bytes / group.bytes_per_s;
}

double DirectAllToAllSeconds(double total_bytes, const SwitchedGroup& group) {
  return (group.ranks - 1) * group.step_s +
         total_bytes * Rest(group.ranks) / group.ranks / group.bytes_per_s;
}

double BruckAllToAllSeconds(double total_bytes, const SwitchedGroup& group) {
  return Log2(group) * (group.step_s + total_bytes / (2 * group.ranks * group.bytes_per_s));
}

double RabenseifnerCrossoverBytes(const SwitchedGroup& group) {
  return Log2(group) * group.step_s * group.bytes_per_s / (Log2(group) - 2 * Rest(group.ranks));
}

double TreeGatherBandwidth(std::span<const TreeLevel> levels) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const TreeLevel& level : levels) {
    slowest = std::min(slowest, level.bytes_per_s / Rest(level.degree));
  }
  return slowest;
}

HierarchicalTime HierarchicalAllReduceSeconds(double bytes, const Hierarchy& h) {
  return {2 * bytes * Rest(h.chips_per_slice) / h.slice_bytes_per_s,
          2 * Rest(h.slices) * (bytes / h.chips_per_slice) / h.dcn_bytes_per_s};
}

double NcclAllReduceLatency(NcclAlgorithm algorithm, NcclProtocol protocol, int64_t ranks,
                            int64_t nodes, double net_overhead_us) {
  // Microseconds by protocol: LL, LL128, Simple.
  struct Constants {
    double base[3];
    double nvlink[3];
    double net[3];
  };
  static constexpr Constants kRing = {{6.6, 14.0, 8.4}, {0.6, 1.9, 3.4}, {2.7, 4.0, 14.0}};
  static constexpr Constants kTree = {{6.8, 14.0, 8.4}, {0.6, 1.25, 4.0}, {5.0, 8.5, 14.0}};
  const bool ring = algorithm == NcclAlgorithm::kRing;
  const Constants& constants = ring ? kRing : kTree;
  const auto p = static_cast<size_t>(protocol);
  const int64_t ranks_per_node = ranks / nodes;
  double intra = constants.nvlink[p];
  // With one rank a node the tuner takes the tree's network latency for rings too.
  const double inter = ranks_per_node == 1 ? kTree.net[p] : constants.net[p];
  double micros = 0;
  if (ring) {
    if (nodes > 1) {
      intra = std::max(intra, net_overhead_us * (protocol == NcclProtocol::kSimple ? 3 : 1));
    }
    const auto steps = static_cast<double>(2 * (ranks - 1));
    const auto network = static_cast<double>(nodes == 1 ? 0 : 2 * (nodes - 1));
    micros = constants.base[p] + (steps - network) * intra + network * inter;
  } else {
    micros = constants.base[p] + 2 * (static_cast<double>(ranks_per_node - 1) * intra +
                                      std::floor(std::log2(static_cast<double>(nodes))) * inter);
  }
  return micros * 1e-6;
}

std::optional<double> NcclLinkRate(int compute_capability) {
  switch (compute_capability) {
    case 80:
      return 20.0e9;
    case 90:
      return 20.6e9;
    case 100:
      return 40.1e9;
    default:
      return std::nullopt;
  }
}

AlphaBeta TwoPointFit(const SizePoint& small, const SizePoint& large) {
  const double rate = (large.bytes - small.bytes) / (large.seconds - small.seconds);
  return {small.seconds - small.bytes / rate, rate, std::nullopt};
}

}  // namespace ridgeline::model
