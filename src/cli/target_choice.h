// Targets as a command line names them.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "pjrt/discovery.h"
#include "predict/targets.h"

namespace ridgeline::cli {

// "tpu-v5e:4x4", "tpu-v5e:4x4,slices=2", "h100-sxm:8", "mine.yaml:8"; without a shape one chip, or
// the smallest slice.
Result<predict::Target> ChooseTarget(const std::string& text);
// The same for several. Errors name each; the same one twice is an error.
Result<std::vector<predict::Target>> ChooseTargets(const std::vector<std::string>& texts);

// The plugin that compiles for the target: `requested`, or when empty that of the target's vendor.
// Its absence is kUnavailable, with how to get it.
Result<pjrt::PluginInfo> CompilerPlugin(const predict::Target& target,
                                        const std::string& requested);

}  // namespace ridgeline::cli
