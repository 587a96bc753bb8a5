// Text stays the same under a locale that writes 819,2 and 1.000 (rapidcsv#102, cpptoml#45).
#include <gtest/gtest.h>

#include <clocale>
#include <locale>

#include "base/json.h"
#include "base/text.h"

namespace ridgeline {
namespace {

struct CommaPoint : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

class CommaLocale : public ::testing::Test {
 protected:
  void SetUp() override {
    // Not every machine has it; the C++ locale below writes commas in any case.
    std::setlocale(LC_ALL, "de_DE.UTF-8");
    before_ = std::locale::global(std::locale(std::locale::classic(), new CommaPoint));
    std::ostringstream proof;
    proof << 1234.5;
    ASSERT_EQ(proof.str(), "1.234,5");
  }
  void TearDown() override {
    std::locale::global(before_);
    std::setlocale(LC_ALL, "C");
  }
  std::locale before_;
};

TEST_F(CommaLocale, TextForPeople) {
  EXPECT_EQ(FormatNumber(819.2), "819.2");
  EXPECT_EQ(FormatNumber(1234567), "1234567");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatRate(6.7108864e9, "B/s"), "6.711 GB/s");
  EXPECT_EQ(FormatSeconds(0.0126), "12.6 ms");
  EXPECT_EQ(FormatShare(0.915), "91.5 %");
}

TEST_F(CommaLocale, TextForMachines) {
  EXPECT_EQ(ParseBytes("1.5GiB").value(), 1610612736);
  EXPECT_FALSE(ParseBytes("1,5GiB").has_value());
  EXPECT_EQ(DumpLine(Json{{"bw", 819.2}, {"n", 1234567}}), "{\"bw\":819.2,\"n\":1234567}");
  EXPECT_EQ(ParseJson("819.2").value().get<double>(), 819.2);
}

}  // namespace
}  // namespace ridgeline
