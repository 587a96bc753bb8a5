#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ridgeline {
namespace {

using ::testing::HasSubstr;

// superbenchmark PR#369: 64 MiB in 10 ms is 6.711 GB/s, never MiB/s under that label.
TEST(Text, RatesAreDecimal) {
  EXPECT_EQ(FormatRate(67108864 / 10e-3, "B/s"), "6.711 GB/s");
  EXPECT_EQ(FormatRate(1e9 / 2e-3, "B/s"), "500 GB/s");
  EXPECT_EQ(FormatRate(1e12 / 2e-3, "FLOP/s"), "500 TFLOP/s");
  EXPECT_EQ(FormatRate(1e9 / 4e-3, "B/s"), "250 GB/s");
  EXPECT_EQ(FormatRate(1e12 / 4e-3, "FLOP/s"), "250 TFLOP/s");
  // The same time, given as 2000 µs.
  EXPECT_EQ(FormatRate(1e9 / (2000 * 1e-6), "B/s"), "500 GB/s");
  EXPECT_EQ(FormatRate(3.35e12, "B/s"), "3350 GB/s");
  EXPECT_EQ(FormatRate(1.2e15, "FLOP/s"), "1.2 PFLOP/s");
  EXPECT_EQ(FormatRate(0, "B/s"), "0 B/s");
  EXPECT_EQ(FormatRate(std::numeric_limits<double>::infinity(), "B/s"), "-");
}

// AI-benchmarking-guide#8: 65536 B is 64 KiB.
TEST(Text, SizesAreBinary) {
  EXPECT_EQ(FormatBytes(65536), "64 KiB");
  EXPECT_EQ(FormatBytes(131072), "128 KiB");
  EXPECT_EQ(FormatBytes(1 << 20), "1 MiB");
  EXPECT_EQ(FormatBytes(1536 << 10), "1.5 MiB");
  EXPECT_EQ(FormatBytes(1000), "1000 B");
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(int64_t{4} << 30), "4 GiB");
  EXPECT_EQ(FormatBytes(2147483656), "2 GiB");
}

TEST(Text, ParsesSizes) {
  EXPECT_EQ(ParseBytes("4096").value(), 4096);
  EXPECT_EQ(ParseBytes("64KiB").value(), 65536);
  EXPECT_EQ(ParseBytes("64 KiB").value(), 65536);
  EXPECT_EQ(ParseBytes("1.5GiB").value(), 1610612736);
  EXPECT_EQ(ParseBytes("2MB").value(), 2000000);
  EXPECT_EQ(ParseBytes("4 B").value(), 4);
  EXPECT_EQ(ParseBytes("8TiB").value(), int64_t{8} << 40);
  for (const char* text : {"2M", "", "KiB", "-1", "-1KiB", "0.3 B", "1e300", "9e18KiB", "64 kib",
                           "64KiBs", "nan", "inf", "1,5KiB", "0x10"}) {
    const auto result = ParseBytes(text);
    EXPECT_FALSE(result.has_value()) << text;
    if (!result) {
      EXPECT_THAT(result.error().message, HasSubstr("64KiB")) << text;
    }
  }
}

TEST(Text, NumbersWithoutExponents) {
  EXPECT_EQ(FormatNumber(3314891.033), "3314891");
  EXPECT_EQ(FormatNumber(0.00018), "0.00018");
  EXPECT_EQ(FormatNumber(819.2), "819.2");
  EXPECT_EQ(FormatNumber(-12.3456), "-12.35");
  EXPECT_EQ(FormatNumber(1e15), "1000000000000000");
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(FormatShare(0.87), "87.0 %");
}

TEST(Text, Times) {
  EXPECT_EQ(FormatSeconds(12.6e-3), "12.6 ms");
  EXPECT_EQ(FormatSeconds(63e-6), "63 µs");
  EXPECT_EQ(FormatSeconds(5e-9), "5 ns");
  EXPECT_EQ(FormatSeconds(2.5), "2.5 s");
  EXPECT_EQ(FormatSeconds(90), "1.5 min");
  EXPECT_EQ(FormatSeconds(7200), "2 h");
}

TEST(Text, SpellingSuggestions) {
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("bf61", "bf16"), 1);
  EXPECT_EQ(EditDistance("same", "same"), 0);
  const std::string_view names[] = {"triad", "transpose", "copy"};
  EXPECT_EQ(NearestName("traid", names).value(), "triad");
  EXPECT_FALSE(NearestName("quicksort", names).has_value());
  EXPECT_FALSE(NearestName(std::string(5000, 'x'), names).has_value());
  const std::string message = UnknownName("benchmark", "traid\n", names);
  EXPECT_THAT(message, HasSubstr("allowed: triad, transpose, copy"));
  EXPECT_THAT(message, HasSubstr("did you mean 'triad'?"));
  EXPECT_THAT(message, HasSubstr("traid\\x0a"));
}

// BabelStream#194: neighbouring columns never run together.
TEST(Text, TableColumnsStayApart) {
  Table table({"name", "MB/s"}, {false, true});
  table.Row({"copy", "3314891.033"});
  table.Row({"µ-triad", "0.00018"});
  EXPECT_EQ(table.ToString(),
            "name            MB/s\n"
            "copy     3314891.033\n"
            "µ-triad      0.00018\n");
  EXPECT_EQ(DisplayWidth("µs · ≥"), 6);
}

TEST(Text, OfManyLinesTheFirstIsShownAndTheOthersAreCounted) {
  EXPECT_EQ(FirstLine("one"), "one");
  EXPECT_EQ(FirstLine("one\n"), "one");
  EXPECT_EQ(FirstLine("\n  one\ntwo"), "one … (1 more line)");
  EXPECT_EQ(FirstLine("one\r\ntwo\nthree\n\n"), "one … (2 more lines)");
  EXPECT_EQ(FirstLine(" \n"), "");
  EXPECT_EQ(FirstLine(""), "");
}

TEST(Text, NothingControlsTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[31mb\x7f"), "a\\x1b[31mb\\x7f");
  EXPECT_EQ(Printable("µ → 界 🙂"), "µ → 界 🙂");
  EXPECT_EQ(Printable("\u009b31m"), "\\u009b31m") << "CSI in one code point";
  EXPECT_EQ(Printable("a\u202egnp.exe"), "a\\u202egnp.exe") << "turns what follows around";
  EXPECT_EQ(Printable("\x9b"
                      "2J\xc3"),
            "\\x9b2J\\xc3")
      << "no UTF-8";
  EXPECT_EQ(Printable("\xc0\x80\xed\xa0\x80"), "\\xc0\\x80\\xed\\xa0\\x80")
      << "too long, a surrogate";
}

}  // namespace
}  // namespace ridgeline
