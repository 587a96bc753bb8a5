// How often each computation of a program runs: through calls, branches and the rounds of loops.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hlo/trips.h"

namespace ridgeline::hlo {

// Computations that run from the entry, callers before what they call.
std::vector<const Computation*> CallersFirst(const Module& module);

// The rounds of every `while`, found before anything is counted.
class TripCounts {
 public:
  TripCounts(const Module& module, const std::vector<const Computation*>& order,
             std::optional<double> unknown);

  const TripCount& Of(const Instruction& loop) const { return counts_.at(&loop); }
  // Rounds to count with: 1 where they are not known, or what the caller says they are.
  double Rounds(const Instruction& loop) const;

 private:
  std::optional<double> unknown_;
  std::unordered_map<const Instruction*, TripCount> counts_;
};

}  // namespace ridgeline::hlo
