// Runs cases on an open client, a batch at a time: blocks of the cases of a batch alternate in
// random order, so that each case's blocks are spread over the batch's time.
#pragma once

#include <functional>
#include <vector>

#include "engine/case_runner.h"

namespace ridgeline::engine {

using MeasurementSink = std::function<void(const Measurement&)>;

// Every case of `cases` ends in exactly one call of `done`. Components keep their order; inside one
// the order is random by context.seed.
void RunCases(RunContext& context, std::vector<Case> cases, const MeasurementSink& done);

}  // namespace ridgeline::engine
