// What the three host transfers share.
#pragma once

#include "benchmarks/benchmark.h"

namespace ridgeline::benchmarks {

// `bytes`, `dtype`, `memory_kind` and, where data goes to the device, `semantics`.
std::vector<ParamSpec> TransferParams(bool to_device);

Result<programs::Program> BuildTransfer(programs::TransferDirection direction, const Params& params,
                                        const Target& target);

}  // namespace ridgeline::benchmarks
