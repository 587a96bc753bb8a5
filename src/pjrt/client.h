// device::Client over a PJRT plugin.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace ridgeline::pjrt {

class Api;

// The types that a plugin's create options can have.
using CreateOption = std::variant<std::string, bool, int64_t, float, std::vector<int64_t>>;

struct ClientOptions {
  std::string plugin_path;
  std::map<std::string, CreateOption> create_options;  // CPU: cpu_device_count = N
};

// The client's devices keep the plugin's order. Buffers and executables keep the plugin's client
// alive, so they may be destroyed after this Client.
Result<std::unique_ptr<device::Client>> CreateClient(const ClientOptions& options);
// The same over a loaded plugin, which outlives the client; `options.plugin_path` is not read.
Result<std::unique_ptr<device::Client>> CreateClient(const Api& api, const ClientOptions& options);

}  // namespace ridgeline::pjrt
