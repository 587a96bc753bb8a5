// The header line of a result file: under which conditions everything below it was measured.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/run_plan.h"

namespace ridgeline::cli {

// {created, command, ridgeline{}, host{}, plugin{}, suite{}, seed, environment{}}; `devices` and
// `mesh` come from the worker's `ready` event.
Json MakeRunHeader(const RunPlan& plan, const RunOptions& options, const Json& ready);

// What stands in the way of going on with a file of that header; empty: nothing.
std::string ResumeConflict(const Json& header, const RunPlan& plan, const RunOptions& options);

std::string HostName();
// "20261130-153000", local time.
std::string TimeStamp();

}  // namespace ridgeline::cli
