// Runs the program of a workload, for `roofline --execute`.
#pragma once

#include <string>

#include "base/error.h"
#include "cli/workload_choice.h"
#include "verdict/limit.h"

namespace ridgeline::cli {

struct ExecuteOptions {
  std::string plugin;       // as `run --plugin` takes it
  double time_limit_s = 0;  // with compilation
  bool progress = true;     // on stderr
};

// One call of the workload's program on the plugin's first device. What goes wrong with the program
// is no error: its execution says so. Errors: it is no program, or the plugin cannot be used.
Result<verdict::Execution> Execute(const ChosenWorkload& chosen, const ExecuteOptions& options);

}  // namespace ridgeline::cli
