// Element types: names, sizes, and exact conversion of one element to and from double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ridgeline {

enum class DType {
#define RL_DTYPE(id, name, stablehlo, bits, fraction, kind) id,
#include "base/dtype.def"
#undef RL_DTYPE
};

enum class DTypeKind { kPred, kSigned, kUnsigned, kFloat };

struct DTypeInfo {
  DType dtype;
  std::string_view name;       // HLO's: "bf16"
  std::string_view stablehlo;  // StableHLO's: "bf16", "i8"
  int bits;                    // of one element on the device; s4 is 4
  int fraction_bits;           // floats only
  DTypeKind kind;
};

std::span<const DTypeInfo> AllDTypes();
const DTypeInfo& Info(DType dtype);
inline std::string_view Name(DType dtype) { return Info(dtype).name; }
inline bool IsFloat(DType dtype) { return Info(dtype).kind == DTypeKind::kFloat; }

// Accepts HLO's names and the common other spellings: int8, i8, int4, i4, float32, bfloat16,
// fp8_e4m3 …
Result<DType> ParseDType(std::string_view text);

// Distance from 1.0 to the next float: 2^-fraction_bits. 0 for integers.
double Epsilon(DType dtype);
// Largest finite value.
double MaxValue(DType dtype);
// Least positive float that is not subnormal; 1 for integers.
double MinNormal(DType dtype);

// Bytes that `elements` take on the device (s4: two to a byte, rounded up).
int64_t DeviceBytes(DType dtype, int64_t elements);
// Bytes of one element in host memory (s4 takes a whole byte there, as PJRT expects it).
int64_t HostBytesPerElement(DType dtype);

// Element `index` of host memory at `data` as a double. Exact for every dtype but s64 beyond 2^53.
double LoadElement(DType dtype, const std::byte* data, int64_t index);
// Rounds to nearest even; integers saturate.
void StoreElement(DType dtype, std::byte* data, int64_t index, double value);
// Value after a round trip through dtype.
double RoundTo(DType dtype, double value);

// The same for many elements from `start` on, many times faster than one by one.
void LoadElements(DType dtype, const std::byte* data, int64_t start, std::span<double> out);
void StoreElements(DType dtype, std::byte* data, int64_t start, std::span<const double> values);
void RoundTo(DType dtype, std::span<double> values);

}  // namespace ridgeline
