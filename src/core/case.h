// One thing to measure: a benchmark, its parameters and where it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/params.h"

namespace ridgeline {

// design.md section 4, in the order in which they run. kImported is any StableHLO program.
enum class Component { kNetwork, kCompute, kHbm, kHost, kAttention, kImported };
std::string_view Name(Component component);
Result<Component> ParseComponent(std::string_view text);

// What the figure speaks of.
enum class Scope { kDevice, kChip, kAll };
std::string_view Name(Scope scope);

// Where a case runs: one device alone, or every device of the mesh at once.
struct Placement {
  bool all = false;
  int device = 0;  // index into the client's devices, when not `all`
  bool operator==(const Placement&) const = default;
};

// How sure a figure has to be, and what it may cost.
struct Precision {
  double relative_half_width = 0.03;  // of the 95 % interval
  int min_blocks = 3;
  int max_blocks = 12;
  int passes = 1;               // worker processes, one after the other, that share the blocks
  double block_seconds = 0.05;  // time aimed at for one block of samples
  double time_limit_s = 20;     // of timed work for one case
};

struct Case {
  Component component = Component::kCompute;
  std::string bench;
  Params params;
  Placement placement;
  Precision precision;
  std::string data_mode = "normal";  // normal, zeros, ones
  bool named = false;                // asked for by name: skipping it is an error

  // "gemm/dtype=bf16,k=1024,m=1024,n=1024@device0", the same for the same case in any suite.
  std::string id() const;
};

Json ToJson(const Case& c);
Result<Case> CaseFromJson(const Json& json);

}  // namespace ridgeline
