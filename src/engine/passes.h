// A case between the worker processes that share its blocks. One process keeps its threads and
// memory where they fell, and one moment of a machine is not another: only passes in several
// processes, with other cases between them, show how far a figure moves (docs/adr/0009).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/stats.h"
#include "core/measurement.h"

namespace ridgeline::engine {

struct EarlierPasses {
  int done = 0;
  int64_t base = 0;                 // rounds of the smallest count: the same in all passes
  std::vector<Sample> samples;      // that enter the fit
  std::vector<std::string> doubts;  // of one pass, which no later one lifts
  std::vector<std::string> labels;  // of one pass
  Measurement measurement;          // what they give so far
};

// "in pass 2 of 3: ", to stand before what ended a case after so many passes; "" in the first.
std::string InPass(int done, int passes);

Json ToJson(const EarlierPasses& earlier);
Result<EarlierPasses> EarlierPassesFromJson(const Json& json);

}  // namespace ridgeline::engine
