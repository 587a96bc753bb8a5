// The one door for programs: whatever a user has of one, its Work comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hlo/analysis.h"

namespace ridgeline::pjrt {

struct ProgramOptions {
  std::string plugin_path;                   // for StableHLO: XLA's CPU plugin
  int partitions = 0;                        // 0: as many as the program asks for
  std::optional<double> unknown_trips = {};  // hlo/analysis.h
  double limit_s = 120;                      // of the compiler
  int64_t memory_bytes = 0;                  // of the compiler's process; 0: 80 % of what is free
};

struct AnalysedProgram {
  std::string form;  // "StableHLO text", "StableHLO bytecode", "jax.export artifact", "HLO text",
                     // "HLO proto"
  int devices = 1;   // that run it together
  // What one device does. For a program that a compiler shards: after the partitioner.
  hlo::Analysis device;
  // What the program asks for over all devices, before the partitioner; absent for one device and
  // for HLO, which is of one device already.
  std::optional<hlo::Analysis> all;
  std::vector<std::string> notes;  // for people: versions, what could not be done
};

// Reads StableHLO text, StableHLO bytecode, a jax.export artifact, an HLO proto (--xla_dump_to's
// .hlo.pb, PJRT's optimized program) or HLO text, told apart by content, not by name. StableHLO
// goes through the plugin's compiler in a child process, so the caller has no other threads.
// Errors say what the bytes look like and what to do.
Result<AnalysedProgram> ReadProgram(std::string_view bytes, const ProgramOptions& options);

}  // namespace ridgeline::pjrt
