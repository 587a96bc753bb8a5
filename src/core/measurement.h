// One record of a result file: what was measured, and what makes it believable. JSON names are
// stable (docs/formats/result.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/stats.h"
#include "core/case.h"
#include "core/work.h"

namespace ridgeline {

enum class CaseStatus {
  kOk,
  kUnconverged,    // the interval is wider than asked
  kSuspect,        // measured, but something about it is off: see reason
  kUnsupported,    // the plugin does not take it
  kEmulated,       // computed in another type: see executed_as
  kNotApplicable,  // makes no sense here: a collective on one device
  kSkipped,        // does not fit in memory or time
  kFailed,         // crashed, hung, or an error
  kWrongResult,    // computed something else
};
std::string_view Name(CaseStatus status);
Result<CaseStatus> ParseCaseStatus(std::string_view text);
// Whether the figure may enter a score, a roof or a comparison.
bool IsUsable(CaseStatus status);

// One figure. `unit` is SI without prefix: "FLOP/s", "B/s".
struct Rate {
  std::string name;  // flops, useful_flops, hbm_bw, algbw, busbw, host_bw, op_rate
  std::string unit;
  Interval value;
  std::optional<double> of_reference;  // share of the reference's figure
};

struct Fit {
  std::vector<int64_t> counts;
  std::vector<double> medians_s;
  double r2 = 0;
  int blocks = 0;
  double floor_s = 0;                 // one round of the empty loop
  std::vector<double> passes_s = {};  // one round, by each worker process that measured the case
};

// Hockney's law of one message size sweep: t = alpha + bytes / bandwidth.
struct AlphaBeta {
  double alpha_s = 0;
  double bytes_per_s = 0;
  std::optional<double>
      half_size_bytes;  // where half of the bandwidth is reached; absent: not reached
};

struct AuditLine {
  std::string level;  // ok, note, warning, refused
  std::string text;
};

struct Measurement {
  std::string id;
  Component component = Component::kCompute;
  std::string bench;
  Params params;
  int devices = 1;
  Json mesh = Json::object();
  std::string dtype;
  std::string executed_as;  // "" when the program computes in `dtype`
  CaseStatus status = CaseStatus::kOk;
  std::string reason;
  std::string data_mode = "normal";
  std::string memory_kind;
  Scope scope = Scope::kDevice;
  std::vector<std::string> labels;  // "shared cores", "shared memory, not a network" …

  std::optional<Interval> time_s;  // one iteration
  std::optional<Fit> fit;
  std::optional<Interval> launch_s;
  bool launch_resolved = false;
  std::optional<double> compile_s;
  std::vector<Rate> rates;
  std::optional<AlphaBeta> alpha_beta;

  Work work;                          // per device and iteration
  int64_t working_set_bytes = 0;      // arrays that one iteration touches, per device
  std::string check_status = "none";  // passed, failed, none
  std::string check_detail;
  std::vector<AuditLine> audit;
  Json state = Json::object();
  std::string program_hash;
  uint64_t seed = 0;
  bool simulated = false;
  bool predicted = false;
  double wall_s = 0;   // everything that this case took
  double timed_s = 0;  // of it, inside timed samples
  // Of it, what the audit and the check of the answer took; absent in older files.
  std::optional<double> audit_s;
  std::optional<double> check_s;

  Json extra = Json::object();  // members that a newer ridgeline wrote: kept, not used
};

Json ToJson(const Measurement& m);
Result<Measurement> MeasurementFromJson(const Json& json);

}  // namespace ridgeline
