// Runs cases on an open client, a batch at a time: blocks of the cases of a batch alternate in
// random order, so that each case's blocks are spread over the batch's time.
#pragma once

#include <functional>
#include <vector>

#include "engine/case_runner.h"

namespace ridgeline::engine {

struct CaseSinks {
  std::function<void(const Measurement&)> done;
  // Of a case with several passes, when this one was not the last.
  std::function<void(const EarlierPasses&)> passed;
};

// Every case of `cases` ends in exactly one call of a sink. Components keep their order; inside one
// the order is random by context.seed and pass.
void RunCases(RunContext& context, std::vector<Case> cases, const CaseSinks& sinks);

}  // namespace ridgeline::engine
