#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace ridgeline {
namespace {

struct Unit {
  std::string_view suffix;
  double scale;
};

// Digits without trailing zeros: "1.50" -> "1.5", "64.0" -> "64".
std::string Trim(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 1;
  bool valid = false;
};

// Of UTF-8 text that is not empty. What is not valid is one byte long.
CodePoint FirstCodePoint(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1, true};
  const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
  char32_t value = byte(0) & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3fu);
  }
  // Longer than needed, a surrogate, or past the last one.
  const bool longer = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (longer || (value >= 0xd800 && value < 0xe000) || value > 0x10ffff) return {};
  return {value, bytes, true};
}

// Controls of old terminals, marks that turn the direction of text, and separators of lines.
bool IsInvisible(char32_t c) {
  return (c >= 0x80 && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

}  // namespace

std::string FormatNumber(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  const int decimals = std::max(0, digits - 1 - magnitude);
  return Trim(fmt::format("{:.{}f}", value, decimals));
}

std::string FormatBytes(int64_t bytes) {
  static constexpr std::array<Unit, 5> kUnits = {{{"TiB", 1099511627776.0},
                                                  {"GiB", 1073741824.0},
                                                  {"MiB", 1048576.0},
                                                  {"KiB", 1024.0},
                                                  {"B", 1.0}}};
  const auto value = static_cast<double>(bytes);
  for (const Unit& unit : kUnits) {
    if (std::fabs(value) >= unit.scale) {
      return fmt::format("{} {}", FormatNumber(value / unit.scale), unit.suffix);
    }
  }
  return "0 B";
}

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double magnitude = std::fabs(seconds);
  if (magnitude >= 3600) return FormatNumber(seconds / 3600) + " h";
  if (magnitude >= 60) return FormatNumber(seconds / 60) + " min";
  if (magnitude >= 1) return FormatNumber(seconds) + " s";
  if (magnitude >= 1e-3) return FormatNumber(seconds * 1e3) + " ms";
  if (magnitude >= 1e-6) return FormatNumber(seconds * 1e6) + " µs";
  return FormatNumber(seconds * 1e9) + " ns";
}

std::string FormatRate(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "-";
  static constexpr std::array<Unit, 6> kPrefixes = {
      {{"P", 1e15}, {"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1.0}}};
  for (const Unit& prefix : kPrefixes) {
    // Bandwidths stay in GB/s so that they compare at a glance; FLOP/s use every prefix.
    if (unit == "B/s" && prefix.scale > 1e9) continue;
    if (std::fabs(value) >= prefix.scale || prefix.scale == 1.0) {
      return fmt::format("{} {}{}", FormatNumber(value / prefix.scale), prefix.suffix, unit);
    }
  }
  return "-";
}

std::string FormatShare(double share) { return fmt::format("{:.1f} %", share * 100); }

Result<int64_t> ParseBytes(std::string_view text) {
  static constexpr std::array<Unit, 9> kUnits = {{{"B", 1.0},
                                                  {"", 1.0},
                                                  {"KiB", 1024.0},
                                                  {"MiB", 1048576.0},
                                                  {"GiB", 1073741824.0},
                                                  {"TiB", 1099511627776.0},
                                                  {"kB", 1e3},
                                                  {"MB", 1e6},
                                                  {"GB", 1e9}}};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) {
    std::string_view suffix = text.substr(static_cast<size_t>(end - text.data()));
    while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
    for (const Unit& unit : kUnits) {
      if (suffix != unit.suffix) continue;
      const double bytes = value * unit.scale;
      if (bytes >= 0 && bytes < 9.2e18 && bytes == std::floor(bytes)) {
        return static_cast<int64_t>(bytes);
      }
    }
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("'{}' is not a size in bytes; expected a whole number of B, KiB, MiB, "
                          "GiB, TiB, kB, MB or GB, for example 64KiB",
                          Printable(text)));
}

int EditDistance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1);  // row i - 2
  std::vector<int> above(b.size() + 1);   // row i - 1
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::optional<std::string_view> NearestName(std::string_view name,
                                            std::span<const std::string_view> names) {
  std::optional<std::string_view> best;
  int best_distance = static_cast<int>(std::max<size_t>(name.size(), 3)) / 3 + 1;
  if (name.size() > 200) return best;
  for (const std::string_view candidate : names) {
    const int distance = EditDistance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string UnknownName(std::string_view what, std::string_view name,
                        std::span<const std::string_view> allowed) {
  std::string text =
      fmt::format("unknown {} '{}'; allowed: {}", what, Printable(name), fmt::join(allowed, ", "));
  if (const auto nearest = NearestName(name, allowed)) {
    text += fmt::format("; did you mean '{}'?", *nearest);
  }
  return text;
}

std::string FirstLine(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  text = text.substr(0, text.find_last_not_of(kBlank) + 1);
  const auto more = std::ranges::count(text, '\n');
  std::string line(text.substr(0, text.find_first_of("\r\n")));
  if (more > 0) line += fmt::format(" … ({} more line{})", more, more == 1 ? "" : "s");
  return line;
}

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint point = FirstCodePoint(text);
    if (!point.valid || point.value < 0x20 || point.value == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (IsInvisible(point.value)) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(point.value));
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

int DisplayWidth(std::string_view utf8) {
  return static_cast<int>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

Table::Table(std::vector<std::string> header, std::vector<bool> right) : right_(std::move(right)) {
  right_.resize(header.size());
  rows_.push_back(std::move(header));
}

void Table::Row(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string Table::ToString() const {
  std::vector<int> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(static_cast<size_t>(widths[i] - DisplayWidth(row[i])), ' ');
      if (i > 0) line += "  ";
      line += right_[i] ? pad + row[i] : row[i] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace ridgeline
