// One program of a suite, compiled for a topology that is not here and audited.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/case.h"
#include "core/measurement.h"
#include "core/mesh.h"
#include "pjrt/aot.h"

namespace ridgeline::tools {

enum class Outcome {
  kCompiled,
  kUnsupported,  // by the benchmark on this platform or by the compiler
  kFailed,       // our text is refused, the compiler dies or hangs, the result cannot be read
  kNoProgram,    // host transfers
};
std::string_view Name(Outcome outcome);

struct AotResult {
  std::string id;
  Outcome outcome = Outcome::kFailed;
  std::string reason;             // unless compiled, one line
  std::optional<bool> loop_kept;  // absent: the program has none
  std::string executed_as;        // another type than asked computes
  std::vector<AuditLine> audit;
  double compile_s = 0;

  bool refused() const;
};
Json ToJson(const AotResult& result);

struct AotTarget {
  pjrt::TopologyRequest topology;
  std::string platform = "tpu";
  Mesh mesh;
  double limit_s = 120;  // for one program
};

// Builds `c`'s program, compiles it in a child process, and reads and audits what came out.
AotResult CheckCase(const Case& c, const AotTarget& target);

// The devices of the topology, listed in a child too: the parent never holds the plugin.
Result<std::vector<DevicePlace>> ListPlaces(const pjrt::TopologyRequest& topology);

}  // namespace ridgeline::tools
