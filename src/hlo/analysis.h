// Work of an HLO program: arithmetic by element type, bytes of memory as an interval, bytes on the
// wire by collective, with every loop counted for all its rounds.
//
// What is counted: what the results need. Dead instructions, and second copies of the same value in
// one computation before optimisation, are not: any compiler drops them. A conditional counts its
// dearest branch. A loop whose rounds cannot be known counts once, and the analysis says so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/work.h"
#include "hlo/module.h"

namespace ridgeline::hlo {

// FLOP by HLO's name of the element type: "bf16", "f32", "s8", "pred".
using FlopsByType = std::map<std::string, double>;

struct HbmBytes {
  // The program's inputs as far as they are touched, each once, and its results: as if everything
  // between stayed on the chip. No implementation moves less.
  double compulsory = 0;
  // Everything fused that can be (hlo/traffic.h): an estimate of what a good compiler does.
  double fused = 0;
  // Every instruction reads its operands and writes its result, but for numbers that come from no
  // array (hlo/traffic.h, MadeWhereUsed).
  double unfused = 0;
  bool exact = false;  // a compiled program: the three agree, counted at its fusions' boundaries
  double gather = 0;   // parts of `unfused`
  double strided = 0;
};

struct CollectiveUse {
  std::string kind;            // HLO's name: "all-reduce"
  int64_t group_size = 1;      // 0 for permutes that name different numbers of devices
  std::vector<int64_t> group;  // ids of one such group; empty: all devices
  double instructions = 0;     // in the text
  double executions = 0;
  double payload_bytes = 0;  // over all executions, as hlo/collective.h defines them
  double wire_bytes = 0;     // over all executions, sent by one device
};

struct LoopUse {
  std::string name;
  std::optional<double> trips;
  std::optional<double> at_most;
  std::string unknown;    // why `trips` is absent
  double executions = 0;  // of the loop itself
};

struct Uncounted {
  std::string what;  // "custom-call my_kernel"
  double executions = 0;
  std::string why;
};

// One instruction over all its executions.
struct OpUse {
  std::string name;
  std::string opcode;
  std::string op_name;  // where the user's program has it
  std::string type;     // of its arithmetic
  double executions = 0;
  double matrix = 0, vector = 0, transcendental = 0;
  double fused_bytes = 0, unfused_bytes = 0;
  double wire_bytes = 0;
  // Of a collective, over all its executions.
  double payload_bytes = 0;
  int64_t group_size = 0;
  std::vector<int64_t> group;
};

struct LargeConstant {
  std::string name;
  std::string shape;
  double bytes = 0;
};

struct Analysis {
  std::string module;
  FlopsByType matrix;
  FlopsByType vector;
  double transcendentals = 0;
  HbmBytes hbm;
  double host_bytes = 0;
  std::vector<CollectiveUse> collectives;  // by kind, group size and group
  std::vector<LoopUse> loops;
  std::vector<Uncounted> uncounted;
  std::vector<OpUse> ops;  // the largest, at most kMaxOps, by share of the program's arithmetic and
                           // memory traffic
  std::vector<LargeConstant> constants;  // over 1 KiB: compilers may fold what depends on them
  std::vector<std::string> notes;        // how something was counted, for people
  size_t instructions = 0;

  static constexpr size_t kMaxOps = 1000;

  double matrix_flops() const;
  double vector_flops() const;
  double wire_bytes() const;
  // Something is not counted, or a loop is counted once: the figures are lower bounds.
  bool lower_bound() const;
};

struct AnalysisOptions {
  int64_t devices = 1;  // that a collective without groups spans
  // Count for all devices together: what Shardy's manual computations do on each is counted that
  // often. For the form before partitioning, whose other shapes are of all devices anyway.
  bool all_devices = false;
  std::optional<double> unknown_trips =
      {};  // rounds of loops that do not say; absent: 1, and a bound
};

Result<Analysis> Analyse(const Module& module, const AnalysisOptions& options = {});

// In core's terms; hbm_bytes is the fused figure. Element types that core does not know are counted
// with the nearest wider one and named in `notes`, if given.
Work ToWork(const Analysis& analysis, std::vector<std::string>* notes = nullptr);

Json ToJson(const Analysis& analysis);

}  // namespace ridgeline::hlo
