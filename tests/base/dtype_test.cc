#include "base/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace ridgeline {
namespace {

using ::testing::HasSubstr;

uint32_t Encode(DType dtype, double value) {
  std::array<std::byte, 8> memory{};
  StoreElement(dtype, memory.data(), 0, value);
  uint32_t bits = 0;
  std::memcpy(&bits, memory.data(), 4);
  return bits;
}

double Decode(DType dtype, uint32_t bits) {
  std::array<std::byte, 8> memory{};
  std::memcpy(memory.data(), &bits, 4);
  return LoadElement(dtype, memory.data(), 0);
}

// The formats' definitions, written out with ldexp: independent of the code under test.
struct Format {
  DType dtype;
  int exponent;
  int fraction;
  bool infinity;
};
constexpr Format kFormats[] = {{DType::kF8E4M3FN, 4, 3, false},
                               {DType::kF8E5M2, 5, 2, true},
                               {DType::kF16, 5, 10, true},
                               {DType::kBF16, 8, 7, true}};

double Defined(const Format& f, uint32_t bits) {
  const int top = (1 << f.exponent) - 1;
  const int exponent = static_cast<int>(bits >> f.fraction) & top;
  const int fraction = static_cast<int>(bits & ((1u << f.fraction) - 1));
  const int all = (1 << f.fraction) - 1;
  const double sign = bits >> (f.exponent + f.fraction) & 1 ? -1 : 1;
  const int bias = (1 << (f.exponent - 1)) - 1;
  if (exponent == top && f.infinity) {
    return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == top && fraction == all) return std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - f.fraction);
  return sign * std::ldexp((1 << f.fraction) + fraction, exponent - bias - f.fraction);
}

TEST(DType, EveryPatternOfTheSmallFloatsDecodesAndComesBack) {
  for (const Format& f : kFormats) {
    SCOPED_TRACE(Name(f.dtype));
    for (uint32_t bits = 0; bits < 1u << (1 + f.exponent + f.fraction); ++bits) {
      const double value = Defined(f, bits);
      const double decoded = Decode(f.dtype, bits);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(decoded)) << bits;
        ASSERT_TRUE(std::isnan(Decode(f.dtype, Encode(f.dtype, value)))) << bits;
        continue;
      }
      ASSERT_EQ(decoded, value) << bits;
      ASSERT_EQ(std::signbit(decoded), std::signbit(value)) << bits;
      ASSERT_EQ(Encode(f.dtype, value), bits);
    }
  }
}

TEST(DType, RoundsToTheNearestAndTiesToEven) {
  for (const Format& f : kFormats) {
    SCOPED_TRACE(Name(f.dtype));
    const uint32_t signs = 1u << (f.exponent + f.fraction);
    for (uint32_t bits = 0; bits + 1 < signs; ++bits) {
      const double low = Defined(f, bits);
      const double high = Defined(f, bits + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      ASSERT_EQ(Encode(f.dtype, middle), bits % 2 == 0 ? bits : bits + 1) << bits;
      ASSERT_EQ(Encode(f.dtype, std::nextafter(middle, 0)), bits) << bits;
      ASSERT_EQ(Encode(f.dtype, std::nextafter(middle, 1e300)), bits + 1) << bits;
      ASSERT_EQ(Encode(f.dtype, -middle) & ~signs, Encode(f.dtype, middle)) << bits;
    }
  }
}

TEST(DType, KnownPatterns) {
  EXPECT_EQ(Encode(DType::kBF16, 1.0), 0x3f80u);
  EXPECT_EQ(Encode(DType::kBF16, -2.5), 0xc020u);
  EXPECT_EQ(Encode(DType::kBF16, 3.14159265), 0x4049u);
  // Just above a tie in double, a tie once it has gone through float: must round up.
  EXPECT_EQ(Encode(DType::kBF16, 1.00390625 + 0x1p-40), 0x3f81u);
  EXPECT_EQ(Encode(DType::kF16, 1.0), 0x3c00u);
  EXPECT_EQ(Encode(DType::kF16, 0.1), 0x2e66u);
  EXPECT_EQ(Encode(DType::kF16, 65504), 0x7bffu);
  EXPECT_EQ(Encode(DType::kF16, 65519.99), 0x7bffu);
  EXPECT_EQ(Encode(DType::kF16, 65520), 0x7c00u);  // infinity
  EXPECT_EQ(Encode(DType::kF16, 0x1p-24), 0x0001u);
  EXPECT_EQ(Encode(DType::kF16, 0x1p-25), 0x0000u);
  EXPECT_EQ(Encode(DType::kF8E4M3FN, 1.0), 0x38u);
  EXPECT_EQ(Encode(DType::kF8E4M3FN, 448), 0x7eu);
  EXPECT_EQ(Encode(DType::kF8E4M3FN, 464), 0x7eu);
  EXPECT_EQ(Encode(DType::kF8E4M3FN, 465), 0x7fu);  // no infinity: NaN
  EXPECT_EQ(Encode(DType::kF8E5M2, 57344), 0x7bu);
  EXPECT_EQ(Encode(DType::kF8E5M2, 61440), 0x7cu);
  EXPECT_EQ(Encode(DType::kF8E5M2, -0x1p-16), 0x81u);
  EXPECT_EQ(Encode(DType::kF32, 1.5), 0x3fc00000u);
}

TEST(DType, IntegersRoundAndSaturate) {
  EXPECT_EQ(RoundTo(DType::kS8, 300), 127);
  EXPECT_EQ(RoundTo(DType::kS8, -300), -128);
  EXPECT_EQ(RoundTo(DType::kS8, 2.5), 2);
  EXPECT_EQ(RoundTo(DType::kS8, 3.5), 4);
  EXPECT_EQ(RoundTo(DType::kS8, std::nan("")), 0);
  EXPECT_EQ(RoundTo(DType::kU8, -1), 0);
  EXPECT_EQ(RoundTo(DType::kU8, 255.4), 255);
  EXPECT_EQ(RoundTo(DType::kS32, 1e12), 2147483647);
  EXPECT_EQ(RoundTo(DType::kS32, -1e12), -2147483648.0);
  EXPECT_EQ(RoundTo(DType::kU32, 4294967295.0), 4294967295.0);
  EXPECT_EQ(RoundTo(DType::kS64, 1e300), static_cast<double>(INT64_MAX));
  EXPECT_EQ(RoundTo(DType::kPred, 7), 1);
  for (int v = -8; v <= 7; ++v) EXPECT_EQ(RoundTo(DType::kS4, v), v);
  EXPECT_EQ(RoundTo(DType::kS4, 9), 7);
  EXPECT_EQ(RoundTo(DType::kS4, -9), -8);
}

TEST(DType, ManyElementsAsOneByOne) {
  std::vector<double> values;
  for (int i = -40; i <= 40; ++i) values.push_back(i * 0.37);
  for (const DTypeInfo& info : AllDTypes()) {
    SCOPED_TRACE(info.name);
    std::vector<std::byte> memory(8 * (values.size() + 3));
    StoreElements(info.dtype, memory.data(), 3, values);
    std::vector<double> loaded(values.size());
    LoadElements(info.dtype, memory.data(), 3, loaded);
    std::vector<double> rounded = values;
    RoundTo(info.dtype, rounded);
    for (size_t i = 0; i < values.size(); ++i) {
      const double one = RoundTo(info.dtype, values[i]);
      ASSERT_EQ(loaded[i], one) << i;
      ASSERT_EQ(rounded[i], one) << i;
      ASSERT_EQ(LoadElement(info.dtype, memory.data(), 3 + static_cast<int64_t>(i)), one) << i;
    }
  }
}

TEST(DType, SizesAndLimits) {
  EXPECT_EQ(DeviceBytes(DType::kS4, 3), 2);
  EXPECT_EQ(HostBytesPerElement(DType::kS4), 1);
  EXPECT_EQ(DeviceBytes(DType::kF64, 5), 40);
  EXPECT_EQ(DeviceBytes(DType::kPred, 5), 5);
  EXPECT_EQ(Epsilon(DType::kBF16), 0x1p-7);
  EXPECT_EQ(Epsilon(DType::kF32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(Epsilon(DType::kF64), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(Epsilon(DType::kS8), 0);
  EXPECT_EQ(MaxValue(DType::kF16), 65504);
  EXPECT_EQ(MaxValue(DType::kF8E4M3FN), 448);
  EXPECT_EQ(MaxValue(DType::kF8E5M2), 57344);
  EXPECT_EQ(MaxValue(DType::kBF16), std::ldexp(255, 120));
  EXPECT_EQ(MaxValue(DType::kS8), 127);
  EXPECT_EQ(MaxValue(DType::kS4), 7);
  EXPECT_EQ(MinNormal(DType::kF8E4M3FN), 0x1p-6);
  EXPECT_EQ(MinNormal(DType::kF8E5M2), 0x1p-14);
  EXPECT_EQ(MinNormal(DType::kF16), 0x1p-14);
  EXPECT_EQ(MinNormal(DType::kBF16), std::numeric_limits<float>::min());
  EXPECT_EQ(MinNormal(DType::kF32), std::numeric_limits<float>::min());
  EXPECT_EQ(MinNormal(DType::kF64), std::numeric_limits<double>::min());
}

TEST(DType, NamesAndTheirOtherSpellings) {
  EXPECT_EQ(ParseDType("int8").value(), DType::kS8);
  EXPECT_EQ(ParseDType("i4").value(), DType::kS4);
  EXPECT_EQ(ParseDType("bfloat16").value(), DType::kBF16);
  EXPECT_EQ(ParseDType("f8E4M3FN").value(), DType::kF8E4M3FN);
  for (const DTypeInfo& info : AllDTypes()) {
    EXPECT_EQ(ParseDType(info.name).value(), info.dtype);
    EXPECT_EQ(Info(info.dtype).dtype, info.dtype);
  }
  const auto wrong = ParseDType("bf61");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message, HasSubstr("did you mean 'bf16'?"));
  EXPECT_THAT(wrong.error().message, HasSubstr("f8e5m2"));
}

}  // namespace
}  // namespace ridgeline
