// What a plugin tells about devices and platforms, in our words.
#pragma once

#include <vector>

#include "device/device.h"
#include "pjrt/api.h"

namespace ridgeline::pjrt {

// id, kind, process, attributes, coords and core. Serves devices and topologies.
Result<device::DeviceInfo> Describe(const Api& api, PJRT_DeviceDescription* description);

// An error when two devices have one id: a program could not be placed on them.
Status CheckIds(std::vector<int> ids);

struct DescribedDevice {
  PJRT_Device* device = nullptr;
  device::DeviceInfo info;
  std::vector<PJRT_Memory*> memories;  // parallel to info.memories
};

// Every device of the client, in the plugin's order.
Result<std::vector<DescribedDevice>> DescribeDevices(const Api& api, PJRT_Client* client);
Result<device::PlatformInfo> DescribePlatform(const Api& api, PJRT_Client* client);

}  // namespace ridgeline::pjrt
