// Work: what a piece of computation needs, counted, not measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/json.h"

namespace ridgeline {

// A count under a named convention: causal attention counted half, recomputation left out …
struct UsefulFlops {
  double value = 0;
  std::string convention;
  bool operator==(const UsefulFlops&) const = default;
};

// How memory is walked. kReused: read again while it still lies in a nearer level.
enum class Pattern { kSequential, kStrided, kGather, kReused };
std::string_view Name(Pattern pattern);
Result<Pattern> ParsePattern(std::string_view text);

// What one device puts on the network for one kind of collective along one mesh axis.
struct WireUse {
  std::string axis;        // a mesh axis, several joined by '+', or "" when it is not known
  std::string collective;  // all_reduce, all_gather, reduce_scatter, all_to_all, collective_permute
  double payload_bytes = 0;  // sum over the calls of the full array: all-gather's output, …
  double wire_bytes = 0;     // sum over the calls of the bytes that one device sends
  double calls = 1;          // each pays the latency of the axis once
  // Without an axis: positions of the devices of one group, from which a machine's axes follow.
  std::vector<int64_t> group = {};
  bool operator==(const WireUse&) const = default;
};

// Per device and per iteration. Flops are FLOP (1 multiply-add = 2), bytes are bytes.
struct Work {
  std::map<DType, double> matrix_flops;  // dots and convolutions, by operand dtype
  std::map<DType, double> vector_flops;  // elementwise arithmetic and reductions
  double transcendentals = 0;            // exp, tanh, rsqrt …: one an element
  std::optional<UsefulFlops> useful_flops;
  double hbm_bytes =
      0;  // read and written in device memory, each array once unless the op says else
  double wire_bytes = 0;  // sent by one device over its links, by the formula of the collective
  double host_bytes = 0;  // over the host link
  // Parts of hbm_bytes that are not walked in order; the rest is sequential.
  std::map<Pattern, double> hbm_pattern_bytes;
  std::vector<WireUse> wire;  // parts of wire_bytes, where they are known
  double launches = 0;        // programs that the host starts, one after the other

  double total_matrix_flops() const;
  double total_vector_flops() const;
  // hbm_bytes walked in that way.
  double hbm_bytes_by(Pattern pattern) const;
  bool operator==(const Work&) const = default;
};

// Adds `part`, `times` times. Useful flops add up where every part names the same convention;
// else the sum has none.
void Add(Work& sum, const Work& part, double times);

// {flops{matrix{dtype: n}, vector{…}, transcendental}, useful_flops{value, convention}, hbm_bytes,
// …}; hbm_pattern{pattern: n}, wire[] and launches only where there are any.
Json ToJson(const Work& work);
Result<Work> WorkFromJson(const Json& json);

}  // namespace ridgeline
