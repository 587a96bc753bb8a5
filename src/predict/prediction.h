// What a workload would take on a target: memory, time as an interval, money. Everything here is
// predicted, nothing measured.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "pjrt/aot.h"
#include "predict/compiler.h"
#include "predict/op_times.h"
#include "predict/targets.h"
#include "report/report.h"
#include "workload/workload.h"

namespace ridgeline::predict {

enum class PredictionStatus {
  kPredicted,
  kDoesNotFit,  // in the device's memory
  kRefused,     // by the compiler, in its words
  kFailed,      // the compiler's process did not survive, or its program cannot be read
};
std::string_view Name(PredictionStatus status);

struct StepCost {
  Interval per_step;
  std::string currency;
  std::string basis;  // "1.2 USD a chip-hour, 4 chips, …"
};

struct TargetPrediction {
  std::string target;
  PredictionStatus status = PredictionStatus::kPredicted;
  bool compiled = false;  // by the target's compiler; else by the spec's roofs
  std::map<std::string, device::OptionValue> flags = {};  // that the compiler was given
  std::string reason;                                     // unless predicted: why
  std::optional<bool> fits;
  std::optional<double> peak_memory_bytes;  // of one device
  std::optional<double> capacity_bytes;     // of one device
  std::optional<pjrt::CompiledMemory> memory;
  std::optional<StepTime> step;  // when predicted
  // Executed FLOP of matrix products over peak; at the upper and at the lower end of the time.
  std::optional<Interval> mfu;
  std::optional<StepCost> cost;
  std::string compiler;            // version and build date; of roofs: the spec's name
  std::vector<std::string> basis;  // what the times rest on
  std::vector<std::string> notes;
};

// A program as the compiler takes it.
struct Program {
  std::string module;  // StableHLO text or bytecode
  int partitions = 1;
  bool shardy = false;
  std::map<std::string, device::OptionValue> flags = {};  // of the compiler
};

// Compiles the program for the target in a child process and prices what comes out. Errors are of
// the target or the plugin; what the compiler says of the program is in the prediction.
Result<TargetPrediction> PredictProgram(const Program& program, const Target& target,
                                        const std::string& plugin_path, const CompileLimits& limits,
                                        CompileCache* cache = nullptr);

// Work over the roofs of the target's spec. `why`: what stands in the way of a compiler.
TargetPrediction PredictByRoofs(const workload::Workload& workload, const Target& target,
                                std::string why);

// Of one step that takes as long; nullopt when the spec has no price.
std::optional<StepCost> CostOf(const Interval& seconds, const Target& target);

// Bytes that the compiler says a program needs and has, from its words when it does not fit:
// "(24.00G) exceeds available HBM (15.75G)"; in that order.
struct MemoryWords {
  std::optional<double> needed;
  std::optional<double> available;
};
MemoryWords ReadMemoryWords(std::string_view message);

// One object of `predict --json`'s targets[].
Json ToJson(const TargetPrediction& prediction);

struct ReportOptions {
  report::TableOptions table;
  bool explain = false;
};
// A table of all targets, then what a reader has to know of each.
std::string PredictionReport(std::span<const TargetPrediction> predictions,
                             const ReportOptions& options);

}  // namespace ridgeline::predict
