// The parent of the worker: starts it, watches it, records what it lost, starts it anew.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/measurement.h"
#include "engine/protocol.h"

namespace ridgeline::engine {

struct SuperviseOptions {
  std::vector<std::string> worker_command;  // argv; the worker talks over descriptors 0 and 3
  double start_timeout_s = 120;             // until the plugin has opened its devices
  double hang_timeout_s = 300;  // without a sign of life beyond what a phase is expected to take
  double time_limit_s = 0;      // for all cases together; 0: none
  const std::atomic<bool>* interrupted = nullptr;  // set by a signal handler
};

struct SuperviseCallbacks {
  std::function<Status(const Json& ready)> ready = {};  // once; an error ends the run
  std::function<void(const std::string& id, std::string_view phase)> phase = {};
  std::function<Status(Measurement)> done = {};  // an error of it ends the run
  std::function<void(const Case&)> passed = {};  // one of its passes is over, others follow
  std::function<void()> tick = {};               // about ten times a second
};

struct SuperviseResult {
  std::vector<Case> not_run;  // because of the time limit or an interruption
  bool interrupted = false;
  int restarts = 0;
  std::optional<Error> stopped;  // why no worker can go on with what was not run
};

// Runs the job to its end, or to where the plugin can no longer be used: not opened by a later
// worker, other devices than at first, or two workers in a row that died without having done
// anything. Errors: that before the first worker was ready, or `ready` or `done` failed.
//
// Cases with several passes go in groups: a worker runs all of a group once, then the next worker
// goes on with what the first measured. Where the run ends early, but not by an interruption, a
// case whose passes are not complete is done with what they gave, `unconverged`.
Result<SuperviseResult> Supervise(Job job, const SuperviseOptions& options,
                                  const SuperviseCallbacks& callbacks);

}  // namespace ridgeline::engine
