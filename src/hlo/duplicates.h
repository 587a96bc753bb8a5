// Instructions that compute what an earlier one of their computation computes already.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hlo/module.h"

namespace ridgeline::hlo {

class DuplicateFinder {
 public:
  explicit DuplicateFinder(const Module& module) : module_(module) {}

  // By position. Collectives, random numbers and effects are never duplicates.
  std::vector<bool> Find(const Computation& computation);

 private:
  // Of what a computation computes, so that the same text under another name is the same.
  uint64_t Meaning(int64_t computation);

  const Module& module_;
  std::unordered_map<int64_t, uint64_t> meanings_;
};

}  // namespace ridgeline::hlo
