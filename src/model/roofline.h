// The roofline model in closed form: ridges, access patterns, bounds and their confidence.
// Williams, Waterman, Patterson: Roofline, CACM 52, 2009; the JAX scaling book, chapter 1.
// Rates in FLOP/s and B/s, times in seconds, sizes in bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::model {

// FLOP per byte at which compute and the bandwidth take equally long.
double Ridge(double flops_per_s, double bytes_per_s);

// min(peak, intensity * bandwidth); an infinite intensity (no bytes) gives the peak.
double Attainable(double flops_per_s, double intensity, double bytes_per_s);

// Tokens from which a matrix product with its weights is compute-bound, activations neglected. A
// mixture of experts multiplies it by experts / experts per token.
double CriticalBatch(double flops_per_s, double bytes_per_s, double bytes_per_weight);

// The same for [B, D] x [D, F] with its activations counted; infinite when no batch suffices.
double ExactCriticalBatch(double d, double f, double flops_per_s, double bytes_per_s,
                          double bytes_per_weight, double bytes_per_activation);

// Contraction width from which a product split over two chips outlasts the exchange of its partial
// sums, whatever the batch. `link_bytes_per_s` is one way.
double TwoChipContraction(double flops_per_s, double link_bytes_per_s);

// FLOP per byte of a dot product of two bf16 vectors.
double DotIntensity(double elements);

// Shares of a memory's bandwidth that are useful. Granule: the bytes that memory moves at least (32
// on NVIDIA, one tile on TPU).
double StridedEfficiency(double element_bytes, double stride_bytes, double granule_bytes);
// `misalignment`: bytes between a granule's start and the row's.
double GatherEfficiency(double row_bytes, double granule_bytes, double misalignment = 0);

// Bandwidth reached by one transfer of `bytes` with a start-up time.
double RampBandwidth(double bytes, double startup_s, double bytes_per_s);
// Size that reaches half of the bandwidth; also the bytes in flight that a latency needs (Little),
// and the size under which a message is bound by latency.
double LatencyBandwidthProduct(double latency_s, double bytes_per_s);

// Time between perfect overlap (omega 1: lower) and none (omega 0: upper), and back.
double OverlappedTime(double lower_s, double upper_s, double omega);
double Omega(double lower_s, double upper_s, double measured_s);
// Software pipelining in `chunks` between the longest part and the sum of all.
double PipelinedTime(double longest_s, double sum_s, double chunks);

// One thing that takes time. `log_sd`: standard deviation of its logarithm, as its rate is known.
struct RoofTime {
  std::string name;
  double seconds = 0;
  double log_sd = 0.05;
};

// What limits, by the two longest roofs t1 >= t2.
struct Bound {
  std::string label;  // t1's name, or "balanced a/b" when they lie within the asked share
  std::string first;
  std::string second;     // "" when there is no other
  double margin = 0;      // (t1 - t2) / t1
  double confidence = 0;  // probability that t1 is the longer, roofs being log-normal
  double lower_s = 0;     // all overlap: t1
  double upper_s = 0;     // none does: the sum
  bool balanced = false;
};
// `balance`: margin under which two roofs are one bound. Roofs without time do not count; with none
// at all the label is "none".
Bound Classify(std::span<const RoofTime> roofs, double balance = 0.10);

// What a measured time says about a prediction.
enum class Confirmation {
  kTooFast,         // faster than the roofs allow: counts or rates are wrong
  kConfirmed,       // within a fifth of the bound
  kLimitedOverlap,  // between the bound and the sum of all roofs
  kUnexplained,     // longer than the sum: latency, host, stragglers, padding
};
struct Confirmed {
  Confirmation verdict = Confirmation::kConfirmed;
  double efficiency = 0;  // lower / measured: share of the bound that was reached
  double omega = 0;       // overlap, 0..1
  double residual_s = 0;  // beyond the sum of all roofs
};
Confirmed Confirm(double lower_s, double upper_s, double measured_s);
std::string_view Name(Confirmation verdict);

}  // namespace ridgeline::model
