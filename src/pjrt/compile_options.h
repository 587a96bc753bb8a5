// Compile options in the wire format that PJRT_Client_Compile and PJRT_Compile take.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace ridgeline::pjrt {

// One replica over `request.partitions` partitions. `device_ids` are all ids there are; partition p
// runs on device_ids[request.devices[p]]. Errors when the request names no such device, or one
// twice, or not one a partition.
Result<std::string> SerializeCompileOptions(const device::CompileRequest& request,
                                            const std::vector<int>& device_ids);

}  // namespace ridgeline::pjrt
