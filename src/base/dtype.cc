#include "base/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text.h"

namespace ridgeline {
namespace {

constexpr DTypeInfo kInfos[] = {
#define RL_DTYPE(id, name, stablehlo, bits, fraction, kind) \
  {DType::id, name, stablehlo, bits, fraction, DTypeKind::kind},
#include "base/dtype.def"
#undef RL_DTYPE
};

constexpr std::pair<std::string_view, DType> kAliases[] = {
    {"bool", DType::kPred},
    {"i1", DType::kPred},
    {"int4", DType::kS4},
    {"i4", DType::kS4},
    {"int8", DType::kS8},
    {"i8", DType::kS8},
    {"int32", DType::kS32},
    {"i32", DType::kS32},
    {"int64", DType::kS64},
    {"i64", DType::kS64},
    {"uint8", DType::kU8},
    {"ui8", DType::kU8},
    {"uint32", DType::kU32},
    {"ui32", DType::kU32},
    {"float8_e4m3fn", DType::kF8E4M3FN},
    {"fp8_e4m3", DType::kF8E4M3FN},
    {"float8_e5m2", DType::kF8E5M2},
    {"fp8_e5m2", DType::kF8E5M2},
    {"bfloat16", DType::kBF16},
    {"float16", DType::kF16},
    {"half", DType::kF16},
    {"float32", DType::kF32},
    {"float64", DType::kF64},
    {"double", DType::kF64},
};

// A binary float of at most 16 bits: 1 sign, `exponent_bits`, `fraction_bits`.
struct SmallFloat {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;  // false: the top exponent holds values, only all-ones is NaN (e4m3fn)
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

SmallFloat Format(DType dtype) {
  switch (dtype) {
    case DType::kF8E4M3FN:
      return {4, 3, false};
    case DType::kF8E5M2:
      return {5, 2, true};
    case DType::kF16:
      return {5, 10, true};
    default:
      return {8, 7, true};  // bf16
  }
}

double SmallFloatMax(const SmallFloat& f) {
  const int top = (1 << f.exponent_bits) - 1;
  const double step = std::ldexp(1.0, -f.fraction_bits);
  if (f.has_infinity) return std::ldexp(2.0 - step, top - 1 - f.bias());
  return std::ldexp(2.0 - 2 * step, top - f.bias());
}

double DecodeSmall(const SmallFloat& f, uint32_t bits) {
  const uint32_t fraction = bits & ((1u << f.fraction_bits) - 1);
  const int exponent = static_cast<int>((bits >> f.fraction_bits) & ((1u << f.exponent_bits) - 1));
  const bool negative = (bits >> (f.fraction_bits + f.exponent_bits)) & 1;
  const int top = (1 << f.exponent_bits) - 1;
  double value;
  if (exponent == top && f.has_infinity) {
    value = fraction ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  } else if (exponent == top && fraction == (1u << f.fraction_bits) - 1) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(fraction), 1 - f.bias() - f.fraction_bits);
  } else {
    value = std::ldexp(1.0 + std::ldexp(static_cast<double>(fraction), -f.fraction_bits),
                       exponent - f.bias());
  }
  return negative ? -value : value;
}

uint32_t EncodeSmall(const SmallFloat& f, double value) {
  const uint32_t sign = std::signbit(value) ? 1u << (f.fraction_bits + f.exponent_bits) : 0u;
  const uint32_t top = ((1u << f.exponent_bits) - 1) << f.fraction_bits;
  if (std::isnan(value)) return sign | top | ((1u << f.fraction_bits) - 1);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent;
  std::frexp(magnitude, &exponent);                 // magnitude = m * 2^exponent, m in [0.5, 1)
  exponent = std::max(exponent - 1, 1 - f.bias());  // subnormals share the least exponent
  const double scaled = std::ldexp(magnitude, f.fraction_bits - exponent);
  const double rounded = std::nearbyint(scaled);  // to even, the default mode
  const double result = std::ldexp(rounded, exponent - f.fraction_bits);
  if (result > SmallFloatMax(f)) {
    if (f.has_infinity) return sign | top;
    return sign | top | ((1u << f.fraction_bits) - 1);  // e4m3fn has no infinity: NaN
  }
  if (rounded < (1 << f.fraction_bits)) return sign | static_cast<uint32_t>(rounded);  // subnormal
  std::frexp(result, &exponent);
  --exponent;
  const auto fraction = static_cast<uint32_t>(std::ldexp(result, f.fraction_bits - exponent)) -
                        (1u << f.fraction_bits);
  return sign | (static_cast<uint32_t>(exponent + f.bias()) << f.fraction_bits) | fraction;
}

template <typename T>
T Load(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void Store(std::byte* data, int64_t index, T value) {
  std::memcpy(data + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

template <typename T>
T Saturate(double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(rounded);
}

// The two 16-bit floats are on the path of every large input: straight bit work for bf16.
uint16_t EncodeBf16(double value) {
  const auto as_float = static_cast<float>(value);
  auto bits = std::bit_cast<uint32_t>(as_float);
  if (std::isnan(as_float)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  // Rounding double -> float -> bf16 twice could differ from once; make the float sticky first.
  if (static_cast<double>(as_float) != value && (bits & 0xffff) == 0x8000) {
    bits += std::fabs(static_cast<double>(as_float)) < std::fabs(value) ? 1u : 0xffffffffu;
  }
  bits += 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>(bits >> 16);
}

}  // namespace

std::span<const DTypeInfo> AllDTypes() { return kInfos; }

const DTypeInfo& Info(DType dtype) { return kInfos[static_cast<size_t>(dtype)]; }

Result<DType> ParseDType(std::string_view text) {
  std::vector<std::string_view> names;
  for (const DTypeInfo& info : kInfos) {
    if (info.name == text || info.stablehlo == text) return info.dtype;
    names.push_back(info.name);
  }
  for (const auto& [alias, dtype] : kAliases) {
    if (alias == text) return dtype;
  }
  return Fail(Code::kInvalidArgument, UnknownName("dtype", text, names));
}

double Epsilon(DType dtype) {
  return IsFloat(dtype) ? std::ldexp(1.0, -Info(dtype).fraction_bits) : 0.0;
}

double MaxValue(DType dtype) {
  const DTypeInfo& info = Info(dtype);
  switch (info.kind) {
    case DTypeKind::kPred:
      return 1;
    case DTypeKind::kSigned:
      return std::ldexp(1.0, info.bits - 1) - 1;
    case DTypeKind::kUnsigned:
      return std::ldexp(1.0, info.bits) - 1;
    case DTypeKind::kFloat:
      break;
  }
  if (dtype == DType::kF64) return std::numeric_limits<double>::max();
  if (dtype == DType::kF32) return std::numeric_limits<float>::max();
  return SmallFloatMax(Format(dtype));
}

int64_t DeviceBytes(DType dtype, int64_t elements) {
  const int bits = Info(dtype).bits;
  return bits >= 8 ? elements * (bits / 8) : (elements * bits + 7) / 8;
}

int64_t HostBytesPerElement(DType dtype) { return std::max(1, Info(dtype).bits / 8); }

double LoadElement(DType dtype, const std::byte* data, int64_t index) {
  switch (dtype) {
    case DType::kPred:
      return Load<uint8_t>(data, index) ? 1 : 0;
    case DType::kS4: {
      const int low = Load<uint8_t>(data, index) & 0xf;
      return low >= 8 ? low - 16 : low;
    }
    case DType::kS8:
      return Load<int8_t>(data, index);
    case DType::kS32:
      return Load<int32_t>(data, index);
    case DType::kS64:
      return static_cast<double>(Load<int64_t>(data, index));
    case DType::kU8:
      return Load<uint8_t>(data, index);
    case DType::kU32:
      return Load<uint32_t>(data, index);
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return DecodeSmall(Format(dtype), Load<uint8_t>(data, index));
    case DType::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(Load<uint16_t>(data, index)) << 16);
    case DType::kF16:
      return DecodeSmall(Format(dtype), Load<uint16_t>(data, index));
    case DType::kF32:
      return Load<float>(data, index);
    case DType::kF64:
      return Load<double>(data, index);
  }
  return 0;
}

void StoreElement(DType dtype, std::byte* data, int64_t index, double value) {
  switch (dtype) {
    case DType::kPred:
      return Store<uint8_t>(data, index, value != 0);
    case DType::kS4:
      return Store<int8_t>(data, index,
                           static_cast<int8_t>(std::clamp(std::nearbyint(value), -8.0, 7.0)));
    case DType::kS8:
      return Store(data, index, Saturate<int8_t>(value));
    case DType::kS32:
      return Store(data, index, Saturate<int32_t>(value));
    case DType::kS64:
      return Store(data, index, Saturate<int64_t>(value));
    case DType::kU8:
      return Store(data, index, Saturate<uint8_t>(value));
    case DType::kU32:
      return Store(data, index, Saturate<uint32_t>(value));
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return Store(data, index, static_cast<uint8_t>(EncodeSmall(Format(dtype), value)));
    case DType::kBF16:
      return Store(data, index, EncodeBf16(value));
    case DType::kF16:
      return Store(data, index, static_cast<uint16_t>(EncodeSmall(Format(dtype), value)));
    case DType::kF32:
      return Store(data, index, static_cast<float>(value));
    case DType::kF64:
      return Store(data, index, value);
  }
}

double RoundTo(DType dtype, double value) {
  std::array<std::byte, 8> memory{};
  StoreElement(dtype, memory.data(), 0, value);
  return LoadElement(dtype, memory.data(), 0);
}

}  // namespace ridgeline
