// What a loop body (or any other computation) does: the expected operations found in it, and every
// other unit of work with the bytes that it moves.
#pragma once

#include <span>
#include <unordered_set>
#include <vector>

#include "hlo/audit.h"
#include "hlo/trace.h"

namespace ridgeline::hlo {

// What the device runs as one: a fusion, or an instruction outside of any.
struct Unit {
  const Instruction* instruction = nullptr;
  const Frame* frame = nullptr;
  bool in_inner_loop = false;
  bool only_moves = false;  // copies, converts, transposes …: no arithmetic in it
  bool between = false;     // takes from one expected operation and feeds another
  double bytes = 0;         // operands read and results written
};

struct Match {
  Value op;             // the instruction and where it stands
  size_t expected = 0;  // index into Expectation::ops
  Unit unit;            // the unit that holds it
};

struct Survey {
  std::vector<Match> matches;
  std::vector<Unit> others;
  std::vector<const Instruction*> inner_loops;  // `while`s that are not expected operations
  bool complete = true;                         // false: too large to walk
};

// Walks `start` and all that runs in place inside it, but not into `skip`.
Survey Examine(Tracer& tracer, const Frame* start, std::span<const ExpectedOp> ops,
               const Instruction* skip = nullptr);

// "dot", or "custom-call:TARGET" for custom calls.
std::string OpcodeText(const Instruction& instruction);

}  // namespace ridgeline::hlo
