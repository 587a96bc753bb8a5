// Text for people: sizes, times, rates, tables, spelling suggestions. Locale-proof: fmt only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ridgeline {

// "64 KiB", "1.5 MiB", "1000 B". Exact multiples print without a fraction.
std::string FormatBytes(int64_t bytes);
// "12.6 ms", "63 µs": four significant digits at most.
std::string FormatSeconds(double seconds);
// A rate with its SI prefix: FormatRate(1.17e12, "FLOP/s") is "1.17 TFLOP/s". 1 GB/s is 1e9 B/s.
std::string FormatRate(double value, std::string_view unit);
// Plain decimal with `digits` significant digits; never scientific notation.
std::string FormatNumber(double value, int digits = 4);
// "87.0 %" of a share 0.870.
std::string FormatShare(double share);

// "4096", "64KiB", "64 KiB", "1.5GiB", "2M" is refused (ambiguous): bytes.
Result<int64_t> ParseBytes(std::string_view text);

// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
int EditDistance(std::string_view a, std::string_view b);
// The nearest of `names` within a third of the length, if any.
std::optional<std::string_view> NearestName(std::string_view name,
                                            std::span<const std::string_view> names);
// "unknown dtype 'bf61'; allowed: …; did you mean 'bf16'?"
std::string UnknownName(std::string_view what, std::string_view name,
                        std::span<const std::string_view> allowed);

// Text from files and devices before it reaches a terminal: control characters become \xNN.
std::string Printable(std::string_view text);

// The first line with words in it, and how many more there are: "no such type … (3 more lines)".
std::string FirstLine(std::string_view text);

// Columns of text, each as wide as its widest cell, two blanks apart. Numbers align right when
// `right` says so for their column.
class Table {
 public:
  explicit Table(std::vector<std::string> header, std::vector<bool> right = {});
  void Row(std::vector<std::string> cells);
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

// Terminal columns that UTF-8 text takes (one each code point; enough for the signs we print).
int DisplayWidth(std::string_view utf8);

}  // namespace ridgeline
