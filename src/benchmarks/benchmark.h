// A benchmark: parameters, program, Work, check and metrics. One file a benchmark, one row in
// benchmarks.def. No timing, no I/O.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/case.h"
#include "core/mesh.h"
#include "programs/program.h"

namespace ridgeline::benchmarks {

// What the program is built for.
struct Target {
  const Mesh* mesh = nullptr;  // all devices of the run
  Placement placement;
  std::string platform;      // "cpu", "tpu", "cuda"
  std::string program_text;  // imported: the StableHLO file's content
};

struct Benchmark {
  std::string name;
  Component component = Component::kCompute;
  std::string summary;     // one line, for `ridgeline list`
  bool uses_mesh = false;  // runs on the whole mesh (collectives): placement does not apply
  int min_devices = 1;
  std::vector<ParamSpec> params;
  // Errors: kInvalidArgument for values that no device could run, kFailedPrecondition for "needs 2
  // devices", kUnimplemented for what this platform does not take.
  Result<programs::Program> (*build)(const Params& params, const Target& target) = nullptr;
};

// In the order of benchmarks.def.
std::span<const Benchmark> AllBenchmarks();
// Names the nearest benchmark when there is none.
Result<const Benchmark*> FindBenchmark(std::string_view name);

}  // namespace ridgeline::benchmarks
