#include "pjrt/aot.h"

#include <numeric>
#include <span>

#include "pjrt/api.h"
#include "pjrt/compile_options.h"
#include "pjrt/describe.h"
#include "pjrt/executable.h"
#include "pjrt/named_values.h"

namespace ridgeline::pjrt {
namespace {

Result<Handle<PJRT_TopologyDescription>> CreateTopology(const Api& api,
                                                        const TopologyRequest& request) {
  const std::vector<PJRT_NamedValue> values = ToNamedValues(request.options);
  RL_PJRT_ARGS(PJRT_TopologyDescription_Create, args);
  args.topology_name = request.name.data();
  args.topology_name_size = request.name.size();
  args.create_options = values.data();
  args.num_options = values.size();
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_TopologyDescription_Create, args));
  return Handle<PJRT_TopologyDescription>(&api, args.topology);
}

Result<std::vector<device::DeviceInfo>> Devices(const Handle<PJRT_TopologyDescription>& topology) {
  RL_PJRT_ARGS(PJRT_TopologyDescription_GetDeviceDescriptions, args);
  args.topology = topology.get();
  RL_CHECK_OK(RL_PJRT_CALL(topology.api(), PJRT_TopologyDescription_GetDeviceDescriptions, args));
  std::vector<device::DeviceInfo> result;
  for (PJRT_DeviceDescription* one : std::span(args.descriptions, args.num_descriptions)) {
    RL_ASSIGN(auto info, Describe(topology.api(), one));
    info.addressable = false;
    result.push_back(std::move(info));
  }
  return result;
}

}  // namespace

Result<std::vector<device::DeviceInfo>> ListTopologyDevices(const TopologyRequest& topology) {
  RL_ASSIGN(const Api* api, Api::Load(topology.plugin_path));
  RL_ASSIGN(const auto handle, CreateTopology(*api, topology));
  return Devices(handle);
}

Result<device::ProgramText> CompileForTopology(const TopologyRequest& topology,
                                               device::CompileRequest request) {
  RL_ASSIGN(const Api* api, Api::Load(topology.plugin_path));
  RL_ASSIGN(const auto handle, CreateTopology(*api, topology));
  RL_ASSIGN(const auto devices, Devices(handle));
  std::vector<int> ids;
  for (const device::DeviceInfo& info : devices) ids.push_back(info.id);
  if (request.devices.empty() && request.partitions > 0) {
    request.devices.resize(static_cast<size_t>(request.partitions));
    std::iota(request.devices.begin(), request.devices.end(), 0);
  }
  RL_ASSIGN(const std::string options, SerializeCompileOptions(request, ids));
  const PJRT_Program program = MlirProgram(request.program);
  RL_PJRT_ARGS(PJRT_Compile, args);
  args.topology = handle.get();
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  RL_CHECK_OK(RL_PJRT_CALL(*api, PJRT_Compile, args));
  const Handle<PJRT_Executable> executable(api, args.executable);
  return OptimizedProgram(*api, executable.get());
}

}  // namespace ridgeline::pjrt
