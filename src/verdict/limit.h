// What limits a workload on a machine: the roofs, operation by operation, and one plain sentence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/machine.h"
#include "core/measurement.h"
#include "model/predict.h"
#include "workload/workload.h"

namespace ridgeline::verdict {

struct OperationLimit {
  std::string name;
  double count = 1;
  Work work;                     // of all `count` times
  model::Prediction prediction;  // of the same
};

// What running the workload on the machine came to.
struct Execution {
  std::optional<double> seconds = {};  // of one step; absent: it could not be timed
  CaseStatus status = CaseStatus::kOk;
  std::string reason = {};
  std::vector<std::string> labels = {};

  // "suspect: R2 of …"; "" when there is none.
  std::string Doubt() const;
};

// A time that was measured on the machine, with what it says about the prediction.
struct MeasuredTime {
  double seconds = 0;
  CaseStatus status = CaseStatus::kOk;
  std::string doubt;  // where there is any, the time confirms nothing
  model::Confirmed confirmed;
};

// One step of a workload on one machine, per device.
struct Limit {
  std::string machine;
  Work work;
  model::Prediction prediction;
  // Memory time when nothing is fused; absent where the traffic is known.
  std::optional<double> most_memory_s;
  std::vector<OperationLimit> operations;  // by their time, longest first; empty for a single one
  std::optional<MeasuredTime> measured;
  std::string not_measured;  // why it has no measured time although it was to be run
  bool lower_bound = false;  // something is not counted, or the machine lacks a figure for it
  std::string sentence;
  std::vector<std::string> remarks;  // what a reader has to know beside it

  // Executed FLOP of all units.
  double flops() const;
};

// `balance`: share within which two roofs are one bound.
Limit FindLimit(const workload::Workload& workload, const Machine& machine,
                const std::optional<Execution>& execution = std::nullopt, double balance = 0.10);

// One object of `roofline --json`'s workloads[] (design.md section 7). Infinite intensities are
// null.
Json ToJson(const workload::Workload& workload, const Limit& limit);

}  // namespace ridgeline::verdict
