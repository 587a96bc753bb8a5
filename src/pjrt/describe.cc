#include "pjrt/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "pjrt/named_values.h"

namespace ridgeline::pjrt {
namespace {

Result<device::MemoryInfo> DescribeMemory(const Api& api, PJRT_Memory* memory,
                                          const PJRT_Memory* default_memory) {
  RL_PJRT_ARGS(PJRT_Memory_Kind, args);
  args.memory = memory;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Memory_Kind, args));
  RL_CHECK_OK(Given(args.kind, "kind", "PJRT_Memory_Kind"));
  return device::MemoryInfo{std::string(args.kind, args.kind_size), memory == default_memory};
}

// Plugins without memory spaces have one nameless memory: the list stays empty.
Status DescribeMemories(const Api& api, DescribedDevice& described) {
  if (!api.Has(RL_PJRT_ENTRY(PJRT_Device_AddressableMemories)) ||
      !api.Has(RL_PJRT_ENTRY(PJRT_Memory_Kind))) {
    return {};
  }
  RL_PJRT_ARGS(PJRT_Device_AddressableMemories, memories);
  memories.device = described.device;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Device_AddressableMemories, memories));
  if (memories.memories == nullptr) return {};
  RL_PJRT_ARGS(PJRT_Device_DefaultMemory, fallback);
  fallback.device = described.device;
  const bool has_default = RL_PJRT_CALL(api, PJRT_Device_DefaultMemory, fallback).has_value();
  for (PJRT_Memory* memory : std::span(memories.memories, memories.num_memories)) {
    RL_ASSIGN(auto info, DescribeMemory(api, memory, has_default ? fallback.memory : nullptr));
    described.info.memories.push_back(std::move(info));
    described.memories.push_back(memory);
  }
  return {};
}

Result<DescribedDevice> DescribeDevice(const Api& api, PJRT_Device* device) {
  RL_PJRT_ARGS(PJRT_Device_GetDescription, description);
  description.device = device;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Device_GetDescription, description));
  RL_CHECK_OK(Given(description.device_description, "description", "PJRT_Device_GetDescription"));
  DescribedDevice result;
  result.device = device;
  RL_ASSIGN(result.info, Describe(api, description.device_description));
  RL_PJRT_ARGS(PJRT_Device_IsAddressable, addressable);
  addressable.device = device;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Device_IsAddressable, addressable));
  result.info.addressable = addressable.is_addressable;
  if (result.info.addressable) RL_CHECK_OK(DescribeMemories(api, result));
  return result;
}

}  // namespace

Status CheckIds(std::vector<int> ids) {
  std::ranges::sort(ids);
  const auto twice = std::ranges::adjacent_find(ids);
  if (twice == ids.end()) return {};
  return Fail(Code::kInternal, fmt::format("the plugin gives two devices the id {}", *twice),
              "PJRT_DeviceDescription_Id");
}

Result<device::DeviceInfo> Describe(const Api& api, PJRT_DeviceDescription* description) {
  device::DeviceInfo info;
  RL_PJRT_ARGS(PJRT_DeviceDescription_Id, id);
  id.device_description = description;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_DeviceDescription_Id, id));
  info.id = id.id;
  RL_PJRT_ARGS(PJRT_DeviceDescription_Kind, kind);
  kind.device_description = description;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_DeviceDescription_Kind, kind));
  RL_CHECK_OK(Given(kind.device_kind, "kind", "PJRT_DeviceDescription_Kind"));
  info.kind.assign(kind.device_kind, kind.device_kind_size);
  RL_PJRT_ARGS(PJRT_DeviceDescription_ProcessIndex, process);
  process.device_description = description;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex, process));
  info.process = process.process_index;
  // Attributes are extras: a plugin without them still has devices.
  RL_PJRT_ARGS(PJRT_DeviceDescription_Attributes, attributes);
  attributes.device_description = description;
  if (RL_PJRT_CALL(api, PJRT_DeviceDescription_Attributes, attributes)) {
    const std::span values(attributes.attributes, attributes.num_attributes);
    info.attributes = ToText(values);
    info.coords = Integers(values, "coords");
    const auto core = Integers(values, "core_on_chip");
    if (!core.empty()) info.core = static_cast<int>(core.front());
  }
  return info;
}

Result<std::vector<DescribedDevice>> DescribeDevices(const Api& api, PJRT_Client* client) {
  RL_PJRT_ARGS(PJRT_Client_Devices, args);
  args.client = client;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Client_Devices, args));
  RL_CHECK_OK(Given(args.devices, "devices", "PJRT_Client_Devices"));
  std::vector<DescribedDevice> result;
  for (PJRT_Device* device : std::span(args.devices, args.num_devices)) {
    RL_ASSIGN(auto described, DescribeDevice(api, device));
    result.push_back(std::move(described));
  }
  std::vector<int> ids;
  for (const DescribedDevice& device : result) ids.push_back(device.info.id);
  RL_CHECK_OK(CheckIds(std::move(ids)));
  return result;
}

Result<device::PlatformInfo> DescribePlatform(const Api& api, PJRT_Client* client) {
  device::PlatformInfo info;
  info.api_major = api.major_version();
  info.api_minor = api.minor_version();
  info.plugin_path = api.path();
  RL_PJRT_ARGS(PJRT_Client_PlatformName, name);
  name.client = client;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Client_PlatformName, name));
  RL_CHECK_OK(Given(name.platform_name, "name", "PJRT_Client_PlatformName"));
  info.name.assign(name.platform_name, name.platform_name_size);
  RL_PJRT_ARGS(PJRT_Client_PlatformVersion, version);
  version.client = client;
  if (RL_PJRT_CALL(api, PJRT_Client_PlatformVersion, version)) {
    info.version.assign(version.platform_version, version.platform_version_size);
  }
  RL_PJRT_ARGS(PJRT_Plugin_Attributes, attributes);
  if (RL_PJRT_CALL(api, PJRT_Plugin_Attributes, attributes)) {
    info.attributes = ToText(std::span(attributes.attributes, attributes.num_attributes));
  }
  return info;
}

}  // namespace ridgeline::pjrt
