// Calls replaced by what they call, as every compiler does first: so that what fuses, what is
// computed twice and what is updated in place shows across them.
#pragma once

#include <string_view>

#include "hlo/module.h"

namespace ridgeline::hlo {

// Prefix of the names of computations that Shardy writes for one device of several.
inline constexpr std::string_view kManualComputation = "xla.sdy.manual_computation_body";

// A copy without `call`s, but for manual computations and where the copies would make the module
// many times larger (a tree of calls doubles at every level). Ids of instructions change.
Result<Module> InlineCalls(const Module& module);

}  // namespace ridgeline::hlo
