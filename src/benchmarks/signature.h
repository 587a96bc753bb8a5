// The argument and result types of a StableHLO text's @main, and what makes it unfit to run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/shape.h"

namespace ridgeline::benchmarks {

struct Signature {
  std::vector<Shape> arguments;
  std::vector<Shape> results;
  int64_t partitions = 1;
  int64_t replicas = 1;
};

// Errors say where ("line:column") and what was expected: kUnimplemented for bytecode, dynamic
// shapes, types that no buffer here can hold, and programs that call back into the host;
// kInvalidArgument for text that is no StableHLO.
Result<Signature> ReadSignature(std::string_view text);

// The text with its donation marks (tf.aliasing_output, jax.buffer_donor) renamed, so that no call
// takes the arguments away.
std::string WithoutDonation(std::string_view text);

}  // namespace ridgeline::benchmarks
