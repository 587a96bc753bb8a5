#include "base/dtype.h"

#include <algorithm>
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

// Nearest integer, ties to even; |value| < 2^51. The sum leaves no bits for a fraction.
double RoundEven(double value) {
  constexpr double kNoFraction = 0x1.8p52;
  return (value + kNoFraction) - kNoFraction;
}

template <typename T>
struct Integer {
  using Memory = T;
  static double Decode(T value) { return static_cast<double>(value); }
  static T Encode(double value) {
    constexpr auto kMin = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
    if (value > kMin && value < kMax) {
      return static_cast<T>(sizeof(T) < 8 ? RoundEven(value) : std::nearbyint(value));
    }
    if (std::isnan(value)) return 0;
    return value <= kMin ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
};

struct Pred {
  using Memory = uint8_t;
  static double Decode(uint8_t value) { return value ? 1 : 0; }
  static uint8_t Encode(double value) { return value != 0; }
};

// One element to a byte, in its low half.
struct S4 {
  using Memory = uint8_t;
  static double Decode(uint8_t value) {
    const int low = value & 0xf;
    return low >= 8 ? low - 16 : low;
  }
  static uint8_t Encode(double value) {
    const int8_t whole = Integer<int8_t>::Encode(std::clamp(value, -8.0, 7.0));
    return static_cast<uint8_t>(whole);
  }
};

template <typename T>
struct Native {
  using Memory = T;
  static double Decode(T value) { return value; }
  static T Encode(double value) { return static_cast<T>(value); }
};

// A binary float of at most 16 bits. Without infinity the top exponent holds values and only
// all-ones is NaN (e4m3fn).
template <typename Bits, int kExponentBits, int kFractionBits, bool kInfinity>
struct Small {
  using Memory = Bits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr uint32_t kOnes = (1u << (kExponentBits + kFractionBits)) - 1;
  static constexpr uint32_t kTop = kOnes & ~((1u << kFractionBits) - 1);  // infinity, or 2^(bias+1)
  static constexpr uint32_t kLargest = kInfinity ? kTop - 1 : kOnes - 1;
  // f64: 11 exponent bits, bias 1023, 52 fraction bits.
  static constexpr int kDropped = 52 - kFractionBits;

  static double Decode(Bits bits) {
    const uint32_t magnitude = bits & kOnes;
    const uint64_t sign = static_cast<uint64_t>(bits & (kOnes + 1))
                          << (63 - kExponentBits - kFractionBits);
    uint64_t wide;
    if (magnitude > kLargest) {
      const bool infinite = kInfinity && magnitude == kTop;
      wide = std::bit_cast<uint64_t>(infinite ? std::numeric_limits<double>::infinity()
                                              : std::numeric_limits<double>::quiet_NaN());
    } else if (magnitude >> kFractionBits == 0) {
      constexpr double kLeast = std::bit_cast<double>(
          static_cast<uint64_t>(1024 - kBias - kFractionBits) << 52);  // 2^(1 - bias - fraction)
      wide = std::bit_cast<uint64_t>(magnitude * kLeast);
    } else {
      wide = (static_cast<uint64_t>(magnitude) << kDropped) +
             (static_cast<uint64_t>(1023 - kBias) << 52);
    }
    return std::bit_cast<double>(wide | sign);
  }

  static Bits Encode(double value) {
    const auto wide = std::bit_cast<uint64_t>(value);
    const auto sign = static_cast<uint32_t>(wide >> 63) << (kExponentBits + kFractionBits);
    const uint64_t magnitude = wide & ~(uint64_t{1} << 63);
    if (std::isnan(value)) return static_cast<Bits>(sign | kOnes);
    const int exponent = static_cast<int>(magnitude >> 52) - 1023 + kBias;
    uint64_t significand;  // in the target's layout, with `drop` more bits to round away
    int drop = kDropped;
    if (exponent > 0) {
      significand = magnitude - (static_cast<uint64_t>(1023 - kBias) << 52);
    } else {
      drop += 1 - exponent;
      if (drop > 63) return static_cast<Bits>(sign);
      significand = (magnitude & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
    }
    // To nearest, ties to even; a carry moves into the exponent as it should.
    const uint64_t half = (uint64_t{1} << (drop - 1)) - 1 + ((significand >> drop) & 1);
    const uint64_t code = (significand + half) >> drop;
    if (code > kLargest) return static_cast<Bits>(sign | (kInfinity ? kTop : kOnes));
    return static_cast<Bits>(sign | static_cast<uint32_t>(code));
  }
};

// Calls f with the codec of dtype.
template <typename F>
decltype(auto) WithCodec(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kPred:
      return f(Pred{});
    case DType::kS4:
      return f(S4{});
    case DType::kS8:
      return f(Integer<int8_t>{});
    case DType::kS32:
      return f(Integer<int32_t>{});
    case DType::kS64:
      return f(Integer<int64_t>{});
    case DType::kU8:
      return f(Integer<uint8_t>{});
    case DType::kU32:
      return f(Integer<uint32_t>{});
    case DType::kF8E4M3FN:
      return f(Small<uint8_t, 4, 3, false>{});
    case DType::kF8E5M2:
      return f(Small<uint8_t, 5, 2, true>{});
    case DType::kBF16:
      return f(Small<uint16_t, 8, 7, true>{});
    case DType::kF16:
      return f(Small<uint16_t, 5, 10, true>{});
    case DType::kF32:
      return f(Native<float>{});
    case DType::kF64:
      break;
  }
  return f(Native<double>{});
}

template <typename Codec>
double Load(const std::byte* data, int64_t index) {
  typename Codec::Memory value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(value)), sizeof(value));
  return Codec::Decode(value);
}

template <typename Codec>
void Store(std::byte* data, int64_t index, double element) {
  const typename Codec::Memory value = Codec::Encode(element);
  std::memcpy(data + index * static_cast<int64_t>(sizeof(value)), &value, sizeof(value));
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
  return WithCodec(dtype, [](auto codec) {
    using Codec = decltype(codec);
    if constexpr (requires { Codec::kLargest; }) {
      return Codec::Decode(static_cast<typename Codec::Memory>(Codec::kLargest));
    } else {
      return 0.0;
    }
  });
}

double MinNormal(DType dtype) {
  if (!IsFloat(dtype)) return 1;
  // A sign, a fraction, and exponents from 1 - bias on.
  const int exponent_bits = Info(dtype).bits - 1 - Info(dtype).fraction_bits;
  return std::ldexp(1.0, 2 - (1 << (exponent_bits - 1)));
}

int64_t DeviceBytes(DType dtype, int64_t elements) {
  const int bits = Info(dtype).bits;
  return bits >= 8 ? elements * (bits / 8) : (elements * bits + 7) / 8;
}

int64_t HostBytesPerElement(DType dtype) { return std::max(1, Info(dtype).bits / 8); }

double LoadElement(DType dtype, const std::byte* data, int64_t index) {
  return WithCodec(dtype, [&](auto codec) { return Load<decltype(codec)>(data, index); });
}

void LoadElements(DType dtype, const std::byte* data, int64_t start, std::span<double> out) {
  WithCodec(dtype, [&](auto codec) {
    for (double& element : out) element = Load<decltype(codec)>(data, start++);
  });
}

void StoreElement(DType dtype, std::byte* data, int64_t index, double value) {
  WithCodec(dtype, [&](auto codec) { Store<decltype(codec)>(data, index, value); });
}

void StoreElements(DType dtype, std::byte* data, int64_t start, std::span<const double> values) {
  WithCodec(dtype, [&](auto codec) {
    for (const double value : values) Store<decltype(codec)>(data, start++, value);
  });
}

double RoundTo(DType dtype, double value) {
  return WithCodec(dtype, [value](auto codec) {
    using Codec = decltype(codec);
    return static_cast<double>(Codec::Decode(Codec::Encode(value)));
  });
}

void RoundTo(DType dtype, std::span<double> values) {
  WithCodec(dtype, [values](auto codec) {
    using Codec = decltype(codec);
    for (double& value : values) value = Codec::Decode(Codec::Encode(value));
  });
}

}  // namespace ridgeline
