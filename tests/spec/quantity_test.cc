#include "spec/quantity.h"

#include <gtest/gtest.h>

#include <locale>

namespace ridgeline::spec {
namespace {

double Of(std::string_view text, Dimension dimension) {
  return ParseQuantity(text, dimension).value();
}

TEST(Quantity, PlainNumbersAreInTheBaseUnit) {
  EXPECT_EQ(Of("1.97e14", Dimension::kFlopsPerSecond), 1.97e14);
  EXPECT_EQ(Of("17179869184", Dimension::kBytes), 17179869184.0);
  EXPECT_EQ(Of("1e-06", Dimension::kSeconds), 1e-6);
}

// reports.md B1, B2: a prefix is a power of ten, a Ki, Mi, Gi of two; 8 bits are a byte.
TEST(Quantity, B1UnitsAndPrefixes) {
  EXPECT_EQ(Of("100 Gbit/s", Dimension::kBytesPerSecond), 12.5e9);
  EXPECT_EQ(Of("819.2GB/s", Dimension::kBytesPerSecond), 819.2e9);
  EXPECT_EQ(Of("1 GiB/s", Dimension::kBytesPerSecond), 1073741824.0);
  EXPECT_EQ(Of("989 TFLOP/s", Dimension::kFlopsPerSecond), 989e12);
  EXPECT_EQ(Of("3.93 POP/s", Dimension::kFlopsPerSecond), 3.93e15);
  EXPECT_EQ(Of("16 GiB", Dimension::kBytes), 17179869184.0);
  EXPECT_EQ(Of("1 us", Dimension::kSeconds), 1e-6);
  EXPECT_EQ(Of("1 µs", Dimension::kSeconds), 1e-6);
  EXPECT_EQ(Of("0.7 kW", Dimension::kWatts), 700);
}

TEST(Quantity, WhatCanBeReadInTwoWaysIsRefused) {
  for (const std::string_view text :
       {"100 Gb/s", "900 GBps", "0 B/s", "-3 B/s", "nan B/s", "inf", "1e400 B/s", "", "GB/s",
        "900 GB", "16 mB/s", "9,5 GB/s", "1 2 GB/s"}) {
    EXPECT_FALSE(ParseQuantity(text, Dimension::kBytesPerSecond).has_value()) << text;
  }
  EXPECT_FALSE(ParseQuantity("989 TFLOPS", Dimension::kFlopsPerSecond).has_value());
  const std::string message = ParseQuantity("100 Gb/s", Dimension::kBytesPerSecond).error().message;
  EXPECT_EQ(message, "'100 Gb/s' is no positive quantity of the kind 819 GB/s or 100 Gbit/s");
}

class Comma : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

// reports.md G7: the locale does not change what a number is.
TEST(Quantity, G7DecimalCommaLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
  EXPECT_EQ(Of("819.2 GB/s", Dimension::kBytesPerSecond), 819.2e9);
  std::locale::global(before);
}

}  // namespace
}  // namespace ridgeline::spec
