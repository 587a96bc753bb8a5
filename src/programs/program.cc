#include "programs/program.h"

#include <algorithm>
#include <cmath>

namespace ridgeline::programs {
namespace {

// Streams of different devices must differ unless the array is the same everywhere.
uint64_t StreamNumber(const TensorSpec& spec, int stream, int device) {
  const int place = spec.fill.same_on_all_devices ? 0 : device;
  return static_cast<uint64_t>(stream) * 0x10000 + static_cast<uint64_t>(place);
}

FillKind KindFor(const Fill& fill, std::string_view data_mode) {
  const bool free_values = fill.kind == FillKind::kNormal;
  if (free_values && data_mode == "zeros") return FillKind::kZeros;
  if (free_values && data_mode == "ones") return FillKind::kOnes;
  return fill.kind;
}

}  // namespace

InputSource::InputSource(const TensorSpec& spec, int stream, int device, uint64_t seed,
                         std::string_view data_mode)
    : spec_(spec),
      kind_(KindFor(spec.fill, data_mode)),
      least_(MinNormal(spec.shape.dtype)),
      random_(seed, StreamNumber(spec, stream, device)) {
  if (kind_ == FillKind::kPermutation) {
    permutation_.emplace(seed ^ StreamNumber(spec, stream, device), spec.shape.elements());
  }
}

InputSource::Integers InputSource::Range() const {
  const int64_t limit = spec_.fill.limit;
  if (kind_ == FillKind::kIndex) return {0, limit};
  if (Info(spec_.shape.dtype).kind == DTypeKind::kSigned) return {-limit, 2 * limit + 1};
  return {0, spec_.shape.dtype == DType::kPred ? 2 : limit + 1};
}

double InputSource::FromNormal(double normal) const {
  const double value = spec_.fill.mean + spec_.fill.scale * normal;
  return std::fabs(value) < least_ ? std::copysign(least_, value) : value;
}

double InputSource::Exact(int64_t index) const {
  switch (kind_) {
    case FillKind::kNormal:
    case FillKind::kIndex: {
      if (IsNormal()) return FromNormal(random_.Normal(index));
      const Integers range = Range();
      return static_cast<double>(range.lowest + random_.Below(index, range.count));
    }
    case FillKind::kPermutation:
      return static_cast<double>((*permutation_)(index));
    case FillKind::kZeros:
      return 0;
    case FillKind::kOnes:
      return 1;
  }
  return 0;
}

void InputSource::ReadExact(int64_t start, std::span<double> out) const {
  if (IsNormal()) {
    random_.Normals(start, out);
    for (double& value : out) value = FromNormal(value);
  } else if (kind_ == FillKind::kNormal || kind_ == FillKind::kIndex) {
    const auto [lowest, count] = Range();
    for (double& value : out) value = static_cast<double>(lowest + random_.Below(start++, count));
  } else {
    for (double& value : out) value = Exact(start++);
  }
}

double InputSource::operator()(int64_t index) const {
  return RoundTo(spec_.shape.dtype, Exact(index));
}

void InputSource::Read(int64_t start, std::span<double> out) const {
  ReadExact(start, out);
  RoundTo(spec_.shape.dtype, out);
}

HostTensor InputSource::Materialize() const {
  HostTensor tensor(spec_.shape);
  if (kind_ == FillKind::kZeros) return tensor;
  constexpr int64_t kChunk = 4096;  // in the first-level cache
  std::vector<double> values(kChunk);
  const int64_t n = spec_.shape.elements();
  for (int64_t start = 0; start < n; start += kChunk) {
    const auto chunk = std::span(values).first(static_cast<size_t>(std::min(kChunk, n - start)));
    ReadExact(start, chunk);
    StoreElements(spec_.shape.dtype, tensor.bytes.data(), start, chunk);
  }
  return tensor;
}

std::vector<double> InputSource::Values() const {
  std::vector<double> values(static_cast<size_t>(spec_.shape.elements()));
  Read(0, values);
  return values;
}

int64_t Program::device_bytes() const {
  int64_t bytes = 0;
  for (const TensorSpec& spec : inputs) bytes += spec.shape.device_bytes();
  // A donated array is its own result; a called program's results stand beside its arguments.
  for (const TensorSpec& spec : carried) bytes += spec.shape.device_bytes();
  if (repeat != Repeat::kLoop) {
    for (const Shape& shape : outputs) bytes += shape.device_bytes();
  }
  return bytes;
}

}  // namespace ridgeline::programs
