// A dense array type, and an array of that type in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace ridgeline {

struct Shape {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;

  int64_t elements() const;
  int64_t device_bytes() const { return DeviceBytes(dtype, elements()); }
  int64_t host_bytes() const { return elements() * HostBytesPerElement(dtype); }
  // "tensor<4x8xbf16>"
  std::string ToStableHlo() const;
  // "bf16[4,8]"
  std::string ToString() const;
  bool operator==(const Shape&) const = default;
};

// Row-major (last dimension fastest) array in host memory.
struct HostTensor {
  Shape shape;
  std::vector<std::byte> bytes;

  HostTensor() = default;
  explicit HostTensor(Shape s)
      : shape(std::move(s)), bytes(static_cast<size_t>(shape.host_bytes())) {}
  double at(int64_t index) const { return LoadElement(shape.dtype, bytes.data(), index); }
  void set(int64_t index, double value) { StoreElement(shape.dtype, bytes.data(), index, value); }
};

}  // namespace ridgeline
