// A program through the compiler of a target that is not here, in a child process with limits.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "core/mesh.h"
#include "device/device.h"
#include "pjrt/aot.h"

namespace ridgeline::predict {

class CompileCache;

struct CompileLimits {
  double seconds = 600;
  int64_t memory_bytes = 0;  // private memory of the compiler's process; 0: 80 % of what is free
};

// The compiler's own refusal keeps its code and words (kResourceExhausted: does not fit the
// device's memory). kDeadlineExceeded, kAborted: its process did not survive. The caller has no
// other threads. With a `cache` the answer may be one that was kept.
Result<pjrt::AotProgram> CompileInChild(const pjrt::TopologyRequest& topology,
                                        const device::CompileRequest& request,
                                        const CompileLimits& limits, CompileCache* cache = nullptr);

// Whether the error is the compiler's process dying or hanging, and not its answer.
bool IsCrash(const Error& error);

// The devices of the topology, listed in a child too: this process never holds the plugin.
Result<std::vector<DevicePlace>> ListPlaces(const pjrt::TopologyRequest& topology);

}  // namespace ridgeline::predict
