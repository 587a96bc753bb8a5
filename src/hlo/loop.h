// The `while`s of a program, and how often they run.
#pragma once

#include <string>
#include <vector>

#include "hlo/trace.h"

namespace ridgeline::hlo {

struct Loop {
  const Instruction* instruction = nullptr;
  const Frame* frame = nullptr;  // where it stands
  Scalar counter, bound;         // as the condition compares them, in the loop's own terms
  std::string direction;         // counter DIRECTION bound: LT, LE, NE, EQ
  Scalar trips;                  // the bound before the loop
};

// Every `while` that runs from the entry, but those inside another's body.
std::vector<Loop> OuterLoops(Tracer& tracer, const Frame* entry);

// The bound is parameter 0 of the program.
bool RunsParameterRounds(const Loop& loop);

struct Trips {
  int64_t step = 1;                   // of the counter
  std::vector<std::string> problems;  // why it does not run parameter-0 rounds, in words
};

// The counter has to run 0, 1, 2 … while it is less than parameter 0; other steps are left to the
// caller.
Trips CheckTrips(Tracer& tracer, const Loop& loop);

}  // namespace ridgeline::hlo
