// What XLA's buffer assignment lays out, as a dumped HloProto carries it beside the module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ridgeline::hlo {

// A value that lives in an allocation for some time.
struct AssignedValue {
  int64_t bytes = 0;
  int64_t instruction = 0;  // id of the one that defines it; 0: not stated
};

struct Allocation {
  int64_t bytes = 0;
  bool parameter = false;  // of the entry computation
  bool live_out = false;   // holds results
  bool constant = false;
  bool thread_local_ = false;
  int64_t space = 0;  // memory space: 0 is the device's main memory
  std::vector<AssignedValue> values;

  bool temporary() const { return !parameter && !live_out && !constant && !thread_local_; }
};

// Empty when the dump holds no assignment.
Result<std::vector<Allocation>> ReadAllocations(std::string_view dumped_hlo_proto);

}  // namespace ridgeline::hlo
