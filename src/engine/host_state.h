// What the host says about itself: free memory, load by others, clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace ridgeline::engine {

// Bytes that may still be taken: the least of MemAvailable and what the cgroup leaves.
int64_t FreeHostMemory();

// CPU time of the machine at one moment, in seconds over all cores.
struct CpuTimes {
  double busy = 0;    // all processes
  double stolen = 0;  // by the hypervisor
  double own = 0;     // this process
  double wall = 0;    // monotonic clock
};
CpuTimes ReadCpuTimes();

// {"other_cpus": …, "stolen_cpus": …, "own_cpus": …, "cpus": n} over the time since `start`.
Json LoadSince(const CpuTimes& start);

// Bytes of each data cache level of CPU 0, L1 first; empty when the system does not tell.
std::vector<int64_t> DataCacheBytes();
// Current clock of CPU 0 in MHz, when /proc or sysfs tells.
std::optional<double> CpuMegahertz();

// {hostname-free} description of the host for a result header: cpu model, cores, memory, caches,
// kernel, governor, hugepages, cgroup limit.
Json DescribeHost();

}  // namespace ridgeline::engine
