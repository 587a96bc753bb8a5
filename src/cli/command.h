// A subcommand adds itself to the parser; its callback does the work and sets the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace ridgeline::cli {

// design.md section 3: what the exit code says. Never a count of failures.
enum ExitCode {
  kExitOk = 0,
  kExitVerdict = 1,   // a verdict or threshold failed; --strict warnings
  kExitUsage = 2,     // usage or input error
  kExitNoDevice = 3,  // no usable plugin or device, or too few devices
  kExitPartial = 4,   // some cases failed
  kExitBudget = 5,    // over budget or not approved
  kExitBug = 70,      // a bug of ours
  kExitInterrupted = 130,
};

#define RL_COMMAND(name) void Add_##name(CLI::App& app, int& exit_code);
#include "cli/commands.def"
#undef RL_COMMAND

}  // namespace ridgeline::cli
