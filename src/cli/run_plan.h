// From the command line of `run` to the cases that it will measure. Nothing is measured here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/case.h"
#include "core/mesh.h"
#include "pjrt/discovery.h"

namespace ridgeline::cli {

struct RunOptions {
  std::string suite = "quick";  // name of an embedded suite, or the path of a file
  std::string plugin;
  std::vector<std::string> only;  // component names
  std::string filter;
  int devices = 0;
  std::string mesh;        // "x=2,y=4"
  std::string time_limit;  // "90", "90s", "10m", "1h"; empty: none
  uint64_t seed = 1;
  double precision = 0;  // relative half-width; 0: the suite's
  int passes = 0;        // 0: the suite's
  double hang_timeout_s = 300;
  std::string out;
  std::string baseline;
  std::string spec;  // name or file; empty: that of the device kind
  bool resume = false;
  bool dry_run = false;
  bool strict = false;
  bool json = false;
};

struct RunPlan {
  std::string suite_name;
  std::string suite_text;
  pjrt::PluginInfo plugin;
  int devices = 0;  // asked of the plugin; 0: all
  std::vector<MeshAxis> axes;
  Mesh mesh;
  std::vector<Case> cases;
  double time_limit_s = 0;
};

inline constexpr int kDefaultCpuDevices = 4;

Result<RunPlan> MakePlan(const RunOptions& options);

// Seconds that the cases will take, from their precision settings: a guess made before anything
// ran.
struct TimeEstimate {
  double lo = 0;
  double hi = 0;
};
TimeEstimate EstimateTime(const std::vector<Case>& cases);

Result<double> ParseDuration(std::string_view text);

}  // namespace ridgeline::cli
