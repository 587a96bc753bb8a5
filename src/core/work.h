// Work: what a piece of computation needs, counted, not measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/dtype.h"
#include "base/json.h"

namespace ridgeline {

// A count under a named convention: causal attention counted half, recomputation left out …
struct UsefulFlops {
  double value = 0;
  std::string convention;
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

  double total_matrix_flops() const;
  double total_vector_flops() const;
};

// {flops{matrix{dtype: n}, vector{…}, transcendental}, useful_flops{value, convention}, hbm_bytes,
// …}
Json ToJson(const Work& work);
Result<Work> WorkFromJson(const Json& json);

}  // namespace ridgeline
