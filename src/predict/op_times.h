// A compiled program -> the time of each of its operations, and of one step.
//
// Matrix products: of TPUs the compiler's own estimated cycles over the clock, of GPUs FLOP over
// the share of the peak that is reached; as wide as published measurements differ. Other
// operations: bytes of device memory over the bandwidth (op_rates.h: what differs between kinds of
// device). Collectives: the closed forms of model/collectives.h on the axes that their groups run
// along. Loops count all their rounds. The interval also spans what may overlap: prefetches and
// asynchronous collectives beside everything else at best, one after the other at worst.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/mesh.h"
#include "hlo/module.h"
#include "model/roofline.h"
#include "predict/targets.h"

namespace ridgeline::predict {

struct Interval {
  double lower = 0;
  double upper = 0;

  double middle() const { return (lower + upper) / 2; }
  Interval& operator+=(const Interval& other) {
    lower += other.lower;
    upper += other.upper;
    return *this;
  }
};

enum class Part { kMatrix, kMemory, kWire, kHost };
std::string_view Name(Part part);  // matrix, memory, wire, host

// One instruction over all its executions.
struct OpTime {
  std::string name = {};
  std::string op_name = {};  // where the user's program has it
  Part part = Part::kMemory;
  bool overlaps = false;  // runs beside the others
  double executions = 1;
  Interval seconds = {};
  double flops = 0;
  double hbm_bytes = 0;
  std::string how = {};  // how its time is made
};

// All collectives of one kind along the same axes.
struct WireRow {
  std::string axes = {};
  std::string collective = {};
  double executions = 0;
  double payload_bytes = 0;
  double wire_bytes = 0;
  double seconds = 0;       // at the nominal link rate
  double overlapped_s = 0;  // the part of it that runs beside the others
};

struct StepTime {
  std::vector<OpTime> ops;  // longest first
  std::vector<WireRow> wire;
  std::map<std::string, double> matrix_flops;  // by HLO's name of the type
  double hbm_bytes = 0;
  std::map<Part, Interval> parts;  // sums, whatever overlaps
  Interval seconds;
  model::Bound bound;
  std::vector<std::string> notes;
};

// `module` is what the target's compiler made for the first positions of `mesh`.
Result<StepTime> TimeStep(const hlo::Module& module, const Target& target, const Mesh& mesh);

}  // namespace ridgeline::predict
