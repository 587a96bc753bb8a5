// Host transfers: `count` back-to-back transfers of distinct buffers (design.md section 3.4).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "programs/program.h"

namespace ridgeline::engine {

// Host arrays are filled and device buffers made before the first run that needs them is timed;
// results of timed puts are freed outside of the timed region.
class TransferRun {
 public:
  // `devices` are indices into client.devices(); each device moves its own buffers.
  static Result<std::unique_ptr<TransferRun>> Create(device::Client& client,
                                                     const programs::Program& program,
                                                     std::vector<int> devices, uint64_t seed,
                                                     std::string_view data_mode);

  // Seconds for `count` transfers on every device (both directions: `count` each way).
  Result<double> Time(int64_t count);
  // What arrived in the last Time(), one array a device.
  Result<std::vector<HostTensor>> Arrived();
  // Whether the device buffer of the first transfer is the host's own memory.
  Result<bool> IsAlias();

 private:
  struct Lane {
    int device = 0;
    HostTensor pattern;
    std::vector<HostTensor> sources;                         // to device
    std::vector<std::unique_ptr<device::Buffer>> on_device;  // from device
    std::vector<HostTensor> destinations;                    // pre-faulted
    std::unique_ptr<device::Buffer> last_put;
    const std::byte* last_source = nullptr;
  };

  TransferRun(device::Client& client, const programs::Program& program);
  // Buffers for `count` transfers; those of earlier runs stay.
  Status Reserve(Lane& lane, size_t count);
  device::PutRequest RequestFor(const Lane& lane, const HostTensor& source) const;

  device::Client& client_;
  const programs::Program& program_;
  device::HostSemantics semantics_ = device::HostSemantics::kImmutableUntilTransferCompletes;
  std::vector<Lane> lanes_;
};

}  // namespace ridgeline::engine
