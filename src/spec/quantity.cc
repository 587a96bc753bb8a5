#include "spec/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "base/text.h"

namespace ridgeline::spec {
namespace {

struct UnitOf {
  std::string_view unit;
  double scale = 1;
};

std::span<const UnitOf> UnitsOf(Dimension dimension) {
  static constexpr std::array<UnitOf, 2> kFlops = {{{"FLOP/s", 1}, {"OP/s", 1}}};
  static constexpr std::array<UnitOf, 2> kRates = {{{"B/s", 1}, {"bit/s", 1.0 / 8}}};
  static constexpr std::array<UnitOf, 1> kBytes = {{{"B", 1}}};
  static constexpr std::array<UnitOf, 1> kSeconds = {{{"s", 1}}};
  static constexpr std::array<UnitOf, 1> kWatts = {{{"W", 1}}};
  switch (dimension) {
    case Dimension::kFlopsPerSecond:
      return kFlops;
    case Dimension::kBytesPerSecond:
      return kRates;
    case Dimension::kBytes:
      return kBytes;
    case Dimension::kSeconds:
      return kSeconds;
    case Dimension::kWatts:
      return kWatts;
  }
  return {};
}

std::string_view ExampleOf(Dimension dimension) {
  switch (dimension) {
    case Dimension::kFlopsPerSecond:
      return "197 TFLOP/s";
    case Dimension::kBytesPerSecond:
      return "819 GB/s or 100 Gbit/s";
    case Dimension::kBytes:
      return "16 GiB";
    case Dimension::kSeconds:
      return "1 us";
    case Dimension::kWatts:
      return "700 W";
  }
  return "";
}

// Parts of a unit make sense for times only: "16 mB" is a slip.
std::optional<double> PrefixScale(std::string_view prefix, Dimension dimension) {
  struct Prefix {
    std::string_view text;
    double scale;
  };
  static constexpr std::array<Prefix, 14> kPrefixes = {{{"", 1},
                                                        {"k", 1e3},
                                                        {"M", 1e6},
                                                        {"G", 1e9},
                                                        {"T", 1e12},
                                                        {"P", 1e15},
                                                        {"Ki", 0x1p10},
                                                        {"Mi", 0x1p20},
                                                        {"Gi", 0x1p30},
                                                        {"Ti", 0x1p40},
                                                        {"m", 1e-3},
                                                        {"u", 1e-6},
                                                        {"µ", 1e-6},
                                                        {"n", 1e-9}}};
  const auto it = std::ranges::find(kPrefixes, prefix, &Prefix::text);
  if (it == kPrefixes.end() || (it->scale < 1 && dimension != Dimension::kSeconds)) {
    return std::nullopt;
  }
  return it->scale;
}

}  // namespace

Result<double> ParseQuantity(std::string_view text, Dimension dimension) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  std::optional<double> scale;
  if (unit.empty()) scale = 1;
  for (const UnitOf& known : UnitsOf(dimension)) {
    if (scale || !unit.ends_with(known.unit)) continue;
    const std::optional<double> prefix =
        PrefixScale(unit.substr(0, unit.size() - known.unit.size()), dimension);
    if (prefix) scale = *prefix * known.scale;
  }
  if (error != std::errc() || !scale || !(number > 0) || !std::isfinite(number * *scale)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("'{}' is no positive quantity of the kind {}",
                            Printable(text.substr(0, 100)), ExampleOf(dimension)));
  }
  return number * *scale;
}

}  // namespace ridgeline::spec
