// Programs of a suite, compiled for a target that is not here and audited: which would run there,
// and whether their figures would be accepted.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "core/case.h"
#include "core/measurement.h"
#include "core/mesh.h"
#include "pjrt/aot.h"
#include "predict/compiler.h"

namespace ridgeline::predict {

enum class Outcome {
  kCompiled,
  kUnsupported,  // by the benchmark on this platform or by the compiler
  kFailed,       // our text is refused, the compiler dies or hangs, the result cannot be read
  kNoProgram,    // host transfers
};
std::string_view Name(Outcome outcome);

struct CheckedCase {
  std::string id;
  Outcome outcome = Outcome::kFailed;
  std::string reason;             // unless compiled, one line
  std::optional<bool> loop_kept;  // absent: the program has none
  std::string executed_as;        // another type than asked computes
  std::vector<AuditLine> audit;
  double compile_s = 0;
  bool cached = false;        // compiled earlier
  std::string compiler = {};  // as the plugin names it: version and build date
  int64_t cases = 1;          // of the suite that it stands for (case_kinds.h)

  bool refused() const;
};

struct SuiteTarget {
  pjrt::TopologyRequest topology;
  std::string platform = "tpu";
  Mesh mesh;
  CompileLimits limits;
  CompileCache* cache = nullptr;
  std::map<std::string, device::OptionValue> flags = {};  // of the compiler
};

// Builds `c`'s program, compiles it in a child process, and reads and audits what came out.
CheckedCase CheckCase(const Case& c, const SuiteTarget& target);

struct SuiteCounts {
  int programs = 0, compiled = 0, unsupported = 0, failed = 0, refused = 0, loops_gone = 0;
  int64_t cases = 0;  // that the programs stand for
  bool good() const { return failed == 0 && refused == 0 && loops_gone == 0; }
};
SuiteCounts Count(std::span<const CheckedCase> cases);

// "33 programs: 32 compiled, 1 unsupported, 0 failed".
std::string Summary(const SuiteCounts& counts);
// One line a program, and beneath it what the audit remarks; broken at `width` columns (0: never).
std::string SuiteTable(std::span<const CheckedCase> cases, int width);
Json ToJson(const CheckedCase& checked);
Json ToJson(const SuiteCounts& counts);

}  // namespace ridgeline::predict
