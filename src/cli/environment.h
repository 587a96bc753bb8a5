// What `ridgeline doctor` looks at, and what is said when a plugin does not open.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "pjrt/discovery.h"

namespace ridgeline::cli {

struct DoctorLine {
  std::string what;
  std::string state;  // ok, warning, missing
  std::string detail;
  std::string next;  // what to do; empty when nothing
};

// Where the system's files are read from; a folder of their own in tests.
struct SystemRoot {
  std::string path = "/";
};

// The host: memory and its cgroup limit, NUMA, governor, hugepages, load.
std::vector<DoctorLine> HostLines(const SystemRoot& root);
// TPU device nodes, TPU environment variables, libtpu's lock file and who holds it.
std::vector<DoctorLine> TpuLines(const SystemRoot& root, bool libtpu_found);
// NVIDIA and AMD drivers.
std::vector<DoctorLine> GpuLines(const SystemRoot& root);

bool HasTpuNodes(const SystemRoot& root);

// Seconds that a plugin may take to open its devices. libtpu away from a TPU asks a metadata server
// for minutes: it gets 12 s.
double StartTimeout(const pjrt::PluginInfo& plugin);
// Adds to an error of opening a plugin what this machine lacks for it.
Error ExplainStart(Error error, const pjrt::PluginInfo& plugin, const SystemRoot& root);

}  // namespace ridgeline::cli
