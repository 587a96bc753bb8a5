// Work / Machine = Time: the time under each roof, the bound, and the interval between perfect
// overlap and none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine.h"
#include "core/work.h"
#include "model/roofline.h"

namespace ridgeline::model {

enum class Roof { kCompute, kMemory, kNetwork, kHost };
std::string_view Name(Roof roof);  // compute, memory, network, host

// One part of the work under one figure of the machine.
struct Term {
  Roof roof = Roof::kCompute;
  std::string what;    // "matrix bf16", "hbm gather", "x all_gather", "host link", "launches"
  std::string lane;    // terms of one lane add up; the lanes of a roof run side by side
  double amount = 0;   // FLOP, operations, bytes or launches
  double rate = 0;     // of `figure` for one device, along the axis
  double seconds = 0;  // amount / rate, and latencies
  Figure figure;
};

// Work for which the machine has no figure.
struct Missing {
  std::string what;  // "no rate for vector s32"
  double share = 1;  // of the work of its kind: FLOP and operations, bytes of memory, of the wire …
};

// Per device and iteration.
struct Prediction {
  std::vector<Term> terms;
  double compute_s = 0;
  double memory_s = 0;
  double network_s = 0;
  double host_s = 0;
  Bound bound;                   // its interval sums every lane
  double hbm_intensity = 0;      // FLOP per byte; infinite without bytes
  double network_intensity = 0;  // FLOP per byte sent; infinite without
  std::vector<Missing> missing;  // where there is any, the times are lower bounds
  // Where another figure stood in, in words.
  std::vector<std::string> notes;
};

// Flops of one unit and dtype add up; the units run side by side, as do axes of the network.
// Collectives along one axis add up. Where a pattern of memory access has no rate, the sequential
// rate stands in and is noted. A measured law of a collective goes before the closed form.
Prediction Predict(const Work& work, const Machine& machine, double balance = 0.10);

// The roof of one point: attainable FLOP/s at an intensity, for one device; absent when the machine
// lacks one of both figures.
std::optional<double> RoofAt(const Machine& machine, ComputeUnit unit, std::string_view dtype,
                             Pattern pattern, double intensity);

}  // namespace ridgeline::model
