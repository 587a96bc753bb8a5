// Times of collectives in closed form: t = latency + bytes / bandwidth (Hockney 1994; Thakur,
// Rabenseifner, Gropp 2005; the JAX scaling book, chapters 3 and 12). Bytes are those of the whole
// array: all-gather's output, reduce-scatter's input, all-reduce's buffer. Rates are one way.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/alpha_beta.h"

namespace ridgeline::model {

// One axis of a torus. An axis of two is one link, whatever `wrap` says.
struct TorusAxis {
  int64_t size = 1;
  double link_bytes_per_s = 0;
  bool wrap = true;
  double hop_s = 0;
};

// B/s that one chip sends along the axis: over both links of a ring, one of a line.
double EgressOf(const TorusAxis& axis);

// All-gather; a reduce-scatter takes as long, an all-reduce is one of each.
double GatherSeconds(double bytes, const TorusAxis& axis);
double AllReduceSeconds(double bytes, const TorusAxis& axis);
// Over several axes at once: the buffer in parts, each part in another order of the axes.
double TorusGatherSeconds(double bytes, std::span<const TorusAxis> axes);

// All-to-all of `total_bytes` over all chips: each holds total / chips and sends to everyone its
// share. Limited by the links that cut the axis in half. `others`: chips in the other axes.
double AllToAllSeconds(double total_bytes, const TorusAxis& axis, int64_t others = 1);
// Over several axes: the slowest one.
double TorusAllToAllSeconds(double total_bytes, std::span<const TorusAxis> axes);

// Every chip sends `bytes` to the chip `hops` further along; links then carry `hops` messages.
double PermuteSeconds(double bytes, const TorusAxis& axis, int64_t hops = 1);
// One message over `hops` links, in parts along `paths` that share no link.
double PointToPointSeconds(double bytes, double link_bytes_per_s, double hop_s, int64_t hops,
                           int64_t paths);

// Links that cut a torus with wraps in two halves across its longest axis, in one direction.
int64_t CutLinks(std::span<const int64_t> sizes);
// The sum of what all chips of a pod send at once.
double PodEgress(double chips, double links_per_chip, double link_bytes_per_s);

// Any device reaches any other at `bytes_per_s`; n ranks, `step_s` a step.
struct SwitchedGroup {
  double ranks = 1;
  double bytes_per_s = 0;
  double step_s = 0;
};
double RingGatherSeconds(double bytes, const SwitchedGroup& group);
double RecursiveDoublingGatherSeconds(double bytes, const SwitchedGroup& group);
double RingAllReduceSeconds(double bytes, const SwitchedGroup& group);
double RecursiveDoublingAllReduceSeconds(double bytes, const SwitchedGroup& group);
double RabenseifnerAllReduceSeconds(double bytes, const SwitchedGroup& group);
double DoubleTreeAllReduceSeconds(double bytes, const SwitchedGroup& group);
double DirectAllToAllSeconds(double total_bytes, const SwitchedGroup& group);
double BruckAllToAllSeconds(double total_bytes, const SwitchedGroup& group);
// Size from which Rabenseifner's all-reduce beats recursive doubling.
double RabenseifnerCrossoverBytes(const SwitchedGroup& group);

// A tree of switches: `degree` children, each with `bytes_per_s` upwards.
struct TreeLevel {
  double degree = 1;
  double bytes_per_s = 0;
};
// Rate of an all-gather in a tree: its slowest level, each as if it were alone.
double TreeGatherBandwidth(std::span<const TreeLevel> levels);

// Slices of n chips joined by a data-centre network: reduce-scatter inside, all-reduce of the
// shards across, all-gather inside.
struct Hierarchy {
  double chips_per_slice = 1;
  double slices = 1;
  double slice_bytes_per_s = 0;  // of one chip inside the slice, over the axes that are used
  double dcn_bytes_per_s = 0;    // of one chip to the other slices
};
struct HierarchicalTime {
  double slice_s = 0;
  double dcn_s = 0;
};
HierarchicalTime HierarchicalAllReduceSeconds(double bytes, const Hierarchy& hierarchy);

// Latency of an all-reduce as NCCL's tuner has it (nccl src/graph/tuning.cc, 2026-06).
enum class NcclAlgorithm { kRing, kTree };
enum class NcclProtocol { kLL, kLL128, kSimple };
// `nodes` divides `ranks`; `net_overhead_us` is the host's part of a network step.
double NcclAllReduceLatency(NcclAlgorithm algorithm, NcclProtocol protocol, int64_t ranks,
                            int64_t nodes, double net_overhead_us = 1);
// B/s of one NVLink as NCCL counts on it (src/graph/topo.h), by compute capability: 80, 90, 100.
std::optional<double> NcclLinkRate(int compute_capability);

// alpha and bandwidth through two points of a sweep.
AlphaBeta TwoPointFit(const SizePoint& small, const SizePoint& large);

}  // namespace ridgeline::model
