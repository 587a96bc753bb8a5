// The real CPU plugin of the project's cache, and short ways to use it in tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/shape.h"
#include "device/device.h"
#include "pjrt/client.h"
#include "pjrt/discovery.h"

namespace ridgeline::pjrt {

inline std::unique_ptr<device::Client> CpuClient(int64_t devices) {
  auto plugin = FindPlugin("cpu", SearchEnv::FromProcess());
  EXPECT_TRUE(plugin.has_value()) << plugin.error().ToString();
  if (!plugin) return nullptr;
  auto client = CreateClient({plugin->library, {{"cpu_device_count", devices}}});
  EXPECT_TRUE(client.has_value()) << client.error().ToString();
  return client ? std::move(*client) : nullptr;
}

inline HostTensor Tensor(Shape shape, const std::vector<double>& values) {
  HostTensor tensor(std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.set(static_cast<int64_t>(i), values[i]);
  return tensor;
}

inline std::vector<double> Values(const HostTensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.shape.elements(); ++i) values.push_back(tensor.at(i));
  return values;
}

// The put has arrived when this returns.
inline std::unique_ptr<device::Buffer> Put(device::Client& client, const HostTensor& tensor,
                                           int device = 0, const std::string& memory_kind = "") {
  auto buffer = client.StartPut({tensor.bytes, tensor.shape, device, memory_kind,
                                 device::HostSemantics::kImmutableOnlyDuringCall});
  EXPECT_TRUE(buffer.has_value()) << buffer.error().ToString();
  if (!buffer) return nullptr;
  const Status done = (*buffer)->Await();
  EXPECT_TRUE(done.has_value()) << done.error().ToString();
  return std::move(*buffer);
}

inline HostTensor Read(device::Buffer& buffer) {
  HostTensor tensor(buffer.shape());
  auto pending = buffer.StartRead(tensor.bytes);
  EXPECT_TRUE(pending.has_value()) << pending.error().ToString();
  if (pending) {
    const Status done = (*pending)->Await();
    EXPECT_TRUE(done.has_value()) << done.error().ToString();
  }
  return tensor;
}

}  // namespace ridgeline::pjrt
