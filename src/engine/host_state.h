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

// From now on freed memory stays with the process and is used again, as the allocators of
// accelerators do it. Without this, XLA's CPU plugin maps each large result afresh, and the
// kernel's zeroing of its pages is timed with the work (docs/adr/0008).
void KeepFreedMemory();
// Gives back what is free, so that FreeHostMemory() counts it.
void ReturnFreedMemory();

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

// {hostname-free} description of the host for a result header: cpu model, cores, CPU set, memory
// nodes, memory, caches, kernel, governor, hugepages, cgroup limit.
Json DescribeHost();

}  // namespace ridgeline::engine
