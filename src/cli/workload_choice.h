// Workloads as a command line names them: one of the program's, a YAML file, or a program.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "workload/workload.h"

namespace ridgeline::cli {

struct WorkloadOptions {
  int partitions = 0;                        // 0: as many as a program asks for
  std::optional<double> unknown_trips = {};  // rounds of loops that do not tell
};

struct ChosenWorkload {
  workload::Workload workload;
  std::string stablehlo;  // the file's bytes, of a program that a compiler takes; else empty
};

// A name without dot and slash is one of `ridgeline list workloads`; what ends in .yaml or .yml is
// a description; anything else a program (pjrt/program.h). StableHLO needs the CPU plugin.
Result<ChosenWorkload> ChooseWorkload(const std::string& name, const WorkloadOptions& options);

bool IsYamlName(const std::string& name);

}  // namespace ridgeline::cli
