#include "pjrt/aot.h"

#include <numeric>
#include <span>

#include "pjrt/api.h"
#include "pjrt/compile_options.h"
#include "pjrt/describe.h"
#include "pjrt/dump.h"
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
  RL_CHECK_OK(Given(args.topology, "topology", "PJRT_TopologyDescription_Create"));
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

// Both are extras: without them the program is still compiled.
std::optional<CompiledMemory> MemoryOf(const Api& api, PJRT_Executable* executable) {
  RL_PJRT_ARGS(PJRT_Executable_GetCompiledMemoryStats, args);
  args.executable = executable;
  if (!RL_PJRT_CALL(api, PJRT_Executable_GetCompiledMemoryStats, args)) return std::nullopt;
  return CompiledMemory{.arguments = args.argument_size_in_bytes,
                        .outputs = args.output_size_in_bytes,
                        .aliased = args.alias_size_in_bytes,
                        .temporaries = args.temp_size_in_bytes,
                        .code = args.generated_code_size_in_bytes,
                        .peak = args.peak_memory_in_bytes,
                        .host = args.host_argument_size_in_bytes + args.host_output_size_in_bytes -
                                args.host_alias_size_in_bytes + args.host_temp_size_in_bytes};
}

std::string CompilerOf(const Handle<PJRT_TopologyDescription>& topology) {
  RL_PJRT_ARGS(PJRT_TopologyDescription_PlatformVersion, args);
  args.topology = topology.get();
  if (!RL_PJRT_CALL(topology.api(), PJRT_TopologyDescription_PlatformVersion, args)) return "";
  return {args.platform_version, args.platform_version_size};
}

}  // namespace

Result<std::vector<device::DeviceInfo>> ListTopologyDevices(const TopologyRequest& topology) {
  RL_ASSIGN(const Api* api, Api::Load(topology.plugin_path));
  RL_ASSIGN(const auto handle, CreateTopology(*api, topology));
  return Devices(handle);
}

Result<AotProgram> CompileForTopology(const TopologyRequest& topology,
                                      device::CompileRequest request,
                                      const std::string& dump_folder) {
  RL_ASSIGN(const Api* api, Api::Load(topology.plugin_path));
  RL_ASSIGN(const auto handle, CreateTopology(*api, topology));
  RL_ASSIGN(const auto devices, Devices(handle));
  std::vector<int> ids;
  for (const device::DeviceInfo& info : devices) ids.push_back(info.id);
  RL_CHECK_OK(CheckIds(ids));
  if (request.devices.empty() && request.partitions > 0) {
    request.devices.resize(static_cast<size_t>(request.partitions));
    std::iota(request.devices.begin(), request.devices.end(), 0);
  }
  if (!dump_folder.empty()) RequestDump(dump_folder, request);
  RL_ASSIGN(const std::string options, SerializeCompileOptions(request, ids));
  const PJRT_Program program = MlirProgram(request.program);
  RL_PJRT_ARGS(PJRT_Compile, args);
  args.topology = handle.get();
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  const Status called = RL_PJRT_CALL(*api, PJRT_Compile, args);
  AotProgram compiled;
  compiled.compiler = CompilerOf(handle);
  const std::optional<std::string> dumped = ReadDump(dump_folder);
  if (!called) {
    if (!dumped || !WantsToolkit(called.error())) return tl::unexpected(called.error());
    compiled.stopped = called.error().message;
  } else {
    RL_CHECK_OK(Given(args.executable, "executable", "PJRT_Compile"));
    const Handle<PJRT_Executable> executable(api, args.executable);
    compiled.memory = MemoryOf(*api, executable.get());
    if (!dumped) {
      RL_ASSIGN(compiled.text, OptimizedProgram(*api, executable.get()));
      return compiled;
    }
  }
  compiled.text = {.format = "hlo", .bytes = *dumped};
  if (const auto memory = MemoryOfDump(*dumped)) compiled.memory = memory;
  return compiled;
}

}  // namespace ridgeline::pjrt
