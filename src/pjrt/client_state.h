// The plugin's client and what hangs on it, shared by everything that it made.
#pragma once

#include <memory>
#include <vector>

#include "pjrt/api.h"
#include "pjrt/describe.h"

namespace ridgeline::pjrt {

struct ClientState {
  const Api* api;
  Handle<PJRT_Client> client;
  std::vector<DescribedDevice> devices;
};
using SharedClient = std::shared_ptr<const ClientState>;

}  // namespace ridgeline::pjrt
