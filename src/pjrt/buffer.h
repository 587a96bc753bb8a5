// device::Buffer over a PJRT buffer, and the transfer that makes one.
#pragma once

#include <memory>

#include "device/device.h"
#include "pjrt/client_state.h"

namespace ridgeline::pjrt {

class PjrtBuffer : public device::Buffer {
 public:
  PjrtBuffer(SharedClient client, Handle<PJRT_Buffer> buffer, Shape shape)
      : client_(std::move(client)), buffer_(std::move(buffer)), shape_(std::move(shape)) {}
  ~PjrtBuffer() override;

  static Result<std::unique_ptr<device::Buffer>> FromHost(const SharedClient& client,
                                                          const device::PutRequest& request);

  const Shape& shape() const override { return shape_; }
  Status Await() override;
  Result<std::unique_ptr<device::Pending>> StartRead(std::span<std::byte> destination) override;
  Result<bool> Aliases(const void* host) const override;
  PJRT_Buffer* get() const { return buffer_.get(); }

 private:
  SharedClient client_;
  Handle<PJRT_Buffer> buffer_;
  Shape shape_;
  // When the plugin no longer needs the host's memory. For zero copy that is only after the buffer
  // is gone, so Await leaves it alone then.
  Handle<PJRT_Event> host_done_;
  bool zero_copy_ = false;
};

// Shape of a buffer that the plugin made.
Result<Shape> QueryShape(const Api& api, PJRT_Buffer* buffer);

}  // namespace ridgeline::pjrt
