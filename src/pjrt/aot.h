// Ahead-of-time compilation for devices that are not here (facts of libtpu and the CUDA plugin).
// Plugins may abort the process: callers run this in a child, with the environment that the plugin
// needs (libtpu: TPU_SKIP_MDS_QUERY …).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "pjrt/client.h"

namespace ridgeline::pjrt {

struct TopologyRequest {
  std::string plugin_path;
  std::string name;                             // "v5e:2x2"
  std::map<std::string, CreateOption> options;  // chip_config_name, num_slices, target_config …
};

// The devices of the topology, in the plugin's order.
Result<std::vector<device::DeviceInfo>> ListTopologyDevices(const TopologyRequest& topology);

// The program as the compiler of that topology makes it. `request.devices` index the topology's
// devices; empty: the first `request.partitions`.
Result<device::ProgramText> CompileForTopology(const TopologyRequest& topology,
                                               device::CompileRequest request);

}  // namespace ridgeline::pjrt
