// Reads a compiled program back and says whether it still is the program that was meant
// (design.md section 3.8). Findings are words; nothing here throws a number away silently.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "hlo/module.h"

namespace ridgeline::hlo {

// One operation that must stand in the loop body, under any of its opcodes.
struct ExpectedOp {
  std::vector<std::string> opcodes;  // HLO opcodes; "custom-call:TARGET-PREFIX" for custom calls
  int64_t count = 1;                 // in the body, fusions and called computations looked into
  bool at_least = false;             // count is a lower bound; with count 0: may stand there
};

struct Expectation {
  bool loop = true;  // one `while` whose trip count is parameter 0
  std::vector<ExpectedOp> ops;
  DType dtype = DType::kF32;                               // operand type of the ops
  bool dtype_matters = true;                               // compare it: another one is `emulated`
  std::vector<std::vector<int64_t>> groups;                // replica groups, as sets of partitions
  std::vector<std::pair<int64_t, int64_t>> source_target;  // collective_permute
  double moved_bytes = 0;  // by the ops in one iteration; anything else over 1 % is named
  int64_t max_constant_bytes = 1024;
};

enum class FindingLevel { kOk, kNote, kWarning, kRefused };
std::string_view Name(FindingLevel level);

struct Finding {
  FindingLevel level;
  std::string text;
};

struct AuditResult {
  std::vector<Finding> findings;
  std::string executed_as;  // HLO dtype name when another type than asked computes; else empty
  bool refused() const;     // any finding of level kRefused
};

AuditResult Audit(const Module& module, const Expectation& expected);

}  // namespace ridgeline::hlo
