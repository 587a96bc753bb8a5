#include "pjrt/client.h"

#include <chrono>

#include "pjrt/api.h"
#include "pjrt/buffer.h"
#include "pjrt/client_state.h"
#include "pjrt/executable.h"
#include "pjrt/named_values.h"

namespace ridgeline::pjrt {
namespace {

class PjrtClient : public device::Client {
 public:
  PjrtClient(SharedClient state, device::PlatformInfo platform)
      : state_(std::move(state)), platform_(std::move(platform)) {
    for (const DescribedDevice& device : state_->devices) devices_.push_back(device.info);
  }

  const device::PlatformInfo& platform() const override { return platform_; }
  const std::vector<device::DeviceInfo>& devices() const override { return devices_; }

  Result<std::unique_ptr<device::Executable>> Compile(
      const device::CompileRequest& request) override {
    return pjrt::Compile(state_, request);
  }

  Result<std::unique_ptr<device::Buffer>> StartPut(const device::PutRequest& request) override {
    return PjrtBuffer::FromHost(state_, request);
  }

  double Now() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  std::optional<device::MemoryUse> MemoryInUse(int device) override {
    if (device < 0 || static_cast<size_t>(device) >= state_->devices.size()) return std::nullopt;
    RL_PJRT_ARGS(PJRT_Device_MemoryStats, args);
    args.device = state_->devices[static_cast<size_t>(device)].device;
    if (!RL_PJRT_CALL(*state_->api, PJRT_Device_MemoryStats, args)) return std::nullopt;
    device::MemoryUse use{args.bytes_in_use, std::nullopt};
    if (args.bytes_limit_is_set) use.limit = args.bytes_limit;
    return use;
  }

 private:
  SharedClient state_;
  device::PlatformInfo platform_;
  std::vector<device::DeviceInfo> devices_;
};

}  // namespace

Result<std::unique_ptr<device::Client>> CreateClient(const ClientOptions& options) {
  RL_ASSIGN(const Api* api, Api::Load(options.plugin_path));
  return CreateClient(*api, options);
}

Result<std::unique_ptr<device::Client>> CreateClient(const Api& api, const ClientOptions& options) {
  const std::vector<PJRT_NamedValue> values = ToNamedValues(options.create_options);
  RL_PJRT_ARGS(PJRT_Client_Create, args);
  args.create_options = values.data();
  args.num_options = values.size();
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Client_Create, args));
  RL_CHECK_OK(Given(args.client, "client", "PJRT_Client_Create"));
  auto state = std::make_shared<ClientState>();
  state->api = &api;
  state->client = Handle<PJRT_Client>(&api, args.client);
  RL_ASSIGN(state->devices, DescribeDevices(api, args.client));
  RL_ASSIGN(auto platform, DescribePlatform(api, args.client));
  return std::make_unique<PjrtClient>(std::move(state), std::move(platform));
}

}  // namespace ridgeline::pjrt
