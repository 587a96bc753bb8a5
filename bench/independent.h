// The other side of each comparison. One Block() is a few hundred milliseconds of work and gives
// the seconds of one operation; none of it goes through the engine.
#pragma once

#include <cstdint>
#include <functional>

#include "base/error.h"
#include "core/case.h"
#include "device/device.h"
#include "programs/program.h"

namespace ridgeline::truth {

using Block = std::function<Result<double>()>;

// One call of `program` at a trip count of `rounds`, wall clock / rounds. On device 0; compiled and
// loaded here. `client` and `program` outlive the block.
Result<Block> OneCall(device::Client& client, const programs::Program& program, int64_t rounds);

// Native triad over three f32 arrays of `bytes`: slope of time over 1 … 5 times as many rounds as
// make a block of `block_seconds`.
Block NativeTriad(int64_t bytes, int threads, double block_seconds);

// memcpy by `threads` threads, an array each: slope over 4, 8, 12, 16 copies of distinct arrays of
// `bytes` into distinct pre-faulted ones, so that no cache holds them.
Block NativeCopies(int64_t bytes, int threads);

}  // namespace ridgeline::truth
