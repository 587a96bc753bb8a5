// One case from its benchmark to its measurement, on an open client. The steps are apart so that
// the blocks of several cases can alternate (design.md section 3.3).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/measurement.h"
#include "core/mesh.h"
#include "device/device.h"
#include "engine/host_state.h"
#include "engine/passes.h"
#include "engine/sampler.h"
#include "engine/throttle_guard.h"
#include "engine/transfers.h"
#include "programs/program.h"

namespace ridgeline::engine {

// What is about to happen to a case; the parent gives each its own time limit.
enum class Phase { kBuild, kCompile, kLoad, kCalibrate, kSample, kCheck };
std::string_view Name(Phase phase);
using PhaseSink = std::function<void(const std::string& id, Phase phase, double expected_s)>;

struct RunContext {
  device::Client* client = nullptr;
  const Mesh* mesh = nullptr;
  uint64_t seed = 1;
  // Content of the StableHLO file of an `imported` case.
  std::function<Result<std::string>(const std::string& path)> read_file;
  // Bytes still free on `devices` devices together, the host's copies included on a CPU.
  std::function<int64_t(int devices)> free_bytes;
  PhaseSink phase;                               // may be empty
  std::function<void(double seconds)> rest;      // leaves the device idle so long; may be empty
  std::map<std::string, double> floors;          // seconds a round of the empty loop, by device set
  std::map<std::string, EarlierPasses> earlier;  // by id, of cases that other workers began

  uint64_t pass() const;  // of the cases that were begun: how often, at most
};

class CaseRunner {
 public:
  CaseRunner(RunContext& context, Case c);

  // The steps below add their own time to measurement().wall_s.
  // Builds the program. False: the case ends here (not applicable, unsupported …) and
  // measurement() says why.
  bool Build();
  // Bytes on all devices and in the host's copies while the case is loaded.
  int64_t bytes_needed() const;
  // Compiles, audits, puts the inputs, calibrates. False as above.
  bool Load();
  // One block of samples. False when the case is done: converged, out of blocks or failed.
  bool Sample();
  // Reads the result back, checks it, and makes the figures. The device memory is free afterwards.
  void Finish();

  const Case& test() const { return case_; }
  const Measurement& measurement() const { return measurement_; }
  // After Finish(), when the case was measured and passes are left.
  const std::optional<EarlierPasses>& passed() const { return passed_; }

 private:
  bool DoBuild();
  bool DoLoad();
  bool DoSample();
  void DoFinish();
  bool End(CaseStatus status, const std::string& reason);
  bool EndWith(const Error& error, std::string_view doing);
  void Announce(Phase phase, double expected_s = 0);
  Status AuditProgram();
  // A finding of the audit, once.
  void Note(std::string_view level, std::string text);
  Status LoadInputs();
  Status LoadTransfers();
  Result<double> TimeRun(int64_t count);
  // Waits for the results of a run that took `seconds` and was over at `end`. An error when they
  // keep coming after the end that the plugin told.
  Status AwaitResults(double end, double seconds);
  Result<double> FloorOf();
  bool Check();
  bool DoCheck();
  // Of the order of samples: another one in every pass.
  uint64_t ShuffleSeed() const { return seed_ + static_cast<uint64_t>(earlier_.done); }
  void MakeFigures(const Slope& fit);
  void Judge(const Slope& fit);
  // What the guard saw: a label when it put blocks aside, a doubt when it gave up.
  void JudgeThrottling();
  // {drift, load, …} of this pass, or {drift, passes[]} where there are several.
  Json State(const Slope& fit) const;
  // Says when a transfer to the device was none, in this pass or an earlier one.
  void JudgeAlias();
  // The next pass of a case has seen what this one did.
  void Doubt(std::string words);
  void Label(std::string words);

  RunContext& context_;
  Case case_;
  EarlierPasses earlier_;
  std::optional<EarlierPasses> passed_;
  Measurement measurement_;
  uint64_t seed_;
  bool ended_ = false;
  CpuTimes cpu_start_;

  programs::Program program_;
  std::vector<int> devices_;  // of each partition, indices into client->devices()
  std::unique_ptr<device::Executable> executable_;
  device::BufferGrid inputs_;   // [partition][input]
  device::BufferGrid carried_;  // [partition][carried], or the outputs of calls
  std::map<int64_t, device::BufferGrid> trip_counts_;  // [partition][0] by count
  std::unique_ptr<TransferRun> transfers_;
  std::optional<Sampler> sampler_;
  ThrottleGuard guard_;
  std::vector<std::string> lasting_doubts_, lasting_labels_;  // of this pass and earlier ones
  int late_results_ = 0;
};

}  // namespace ridgeline::engine
