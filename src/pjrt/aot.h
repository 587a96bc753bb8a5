// Ahead-of-time compilation for devices that are not here (facts of libtpu and the CUDA plugin).
// Plugins may abort the process: callers run this in a child, with the environment that the plugin
// needs (libtpu: TPU_SKIP_MDS_QUERY …).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  // The compiler may end after its optimiser for want of a toolkit: what it dumps by then is used.
  bool dumps = false;
};

// The devices of the topology, in the plugin's order.
Result<std::vector<device::DeviceInfo>> ListTopologyDevices(const TopologyRequest& topology);

struct NamedBytes {
  std::string name;
  int64_t bytes = 0;
};

// Bytes of the device's main memory that one run of the program takes, as its compiler laid it out.
struct CompiledMemory {
  int64_t arguments = 0;
  int64_t outputs = 0;
  int64_t aliased = 0;  // outputs that lie in arguments
  int64_t temporaries = 0;
  int64_t code = 0;
  int64_t peak = 0;                      // at one time; 0 where the compiler does not say
  int64_t host = 0;                      // arguments, outputs and temporaries in the host's memory
  std::vector<NamedBytes> largest = {};  // values that take most, where the compiler tells
};

struct AotProgram {
  device::ProgramText text;
  std::optional<CompiledMemory> memory;  // absent where the plugin cannot say
  std::string compiler;                  // as the plugin names itself: version and build date
  std::string stopped;  // what ended the compile after the optimised program; empty: it is whole
  bool cached = false;  // kept from an earlier compile
};

// The program as the compiler of that topology makes it. `request.devices` index the topology's
// devices; empty: the first `request.partitions`. `dump_folder`: an empty folder when
// `topology.dumps`.
Result<AotProgram> CompileForTopology(const TopologyRequest& topology,
                                      device::CompileRequest request,
                                      const std::string& dump_folder = "");

}  // namespace ridgeline::pjrt
