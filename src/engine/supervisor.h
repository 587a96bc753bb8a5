// The parent of the worker: starts it, watches it, records what it lost, starts it anew.
#pragma once

#include <atomic>
#include <functional>
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
  std::function<Status(const Json& ready)> ready;  // once; an error ends the run
  std::function<void(const std::string& id, std::string_view phase)> phase;
  std::function<Status(Measurement)> done;  // an error of it ends the run
  std::function<void()> tick;               // about ten times a second
};

struct SuperviseResult {
  std::vector<Case> not_run;  // because of the time limit or an interruption
  bool interrupted = false;
  int restarts = 0;
};

// Runs the job to its end. Errors: the worker cannot start, twice in a row dies without having done
// anything, or `ready` or `done` failed.
Result<SuperviseResult> Supervise(Job job, const SuperviseOptions& options,
                                  const SuperviseCallbacks& callbacks);

}  // namespace ridgeline::engine
