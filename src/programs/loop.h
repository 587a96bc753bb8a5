// The one form of every timed program (design.md section 3.2): a `while` whose trip count is
// argument 0, an optimization_barrier over the counter and the operands, then the op; its results
// are carried and donated.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "programs/body.h"
#include "programs/program.h"

namespace ridgeline::programs {

// Writes the op. `inputs` come through the barrier and are the same in every round; `carried` are
// the results of the round before. Returns the new carried values, of the same shapes.
using OpWriter = std::function<std::vector<Value>(Body& body, const std::vector<Value>& inputs,
                                                  const std::vector<Value>& carried)>;

// Text of the module: @main(n: i32, inputs…, carried…) -> carried. With more than one partition
// every argument and result is sharded {manual}: shapes are per device.
std::string WriteLoop(int partitions, const std::vector<TensorSpec>& inputs,
                      const std::vector<TensorSpec>& carried, const OpWriter& op);

// The empty loop: counter only. Its time per round is the floor of every other.
Program NullLoop(int partitions);

}  // namespace ridgeline::programs
