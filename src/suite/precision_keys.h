// The keys of a suite that say how sure a figure has to be, with what they allow.
#pragma once

#include <array>
#include <string_view>

#include "core/case.h"

namespace ridgeline::suite {

struct PrecisionKey {
  std::string_view name;
  double min;
  double max;
  bool whole;
  void (*set)(Precision& precision, double value);
};

inline constexpr std::array<PrecisionKey, 6> kPrecisionKeys = {{
    {"precision", 0.0001, 1, false,
     [](Precision& p, double value) { p.relative_half_width = value; }},
    {"min_blocks", 2, 1000, true,
     [](Precision& p, double value) { p.min_blocks = static_cast<int>(value); }},
    {"max_blocks", 2, 1000, true,
     [](Precision& p, double value) { p.max_blocks = static_cast<int>(value); }},
    {"passes", 1, 20, true, [](Precision& p, double value) { p.passes = static_cast<int>(value); }},
    {"block_seconds", 0.001, 60, false,
     [](Precision& p, double value) { p.block_seconds = value; }},
    {"time_limit_s", 0.1, 86400, false, [](Precision& p, double value) { p.time_limit_s = value; }},
}};

inline const PrecisionKey* FindPrecisionKey(std::string_view name) {
  for (const PrecisionKey& key : kPrecisionKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

}  // namespace ridgeline::suite
