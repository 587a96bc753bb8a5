// Loops that rewrite an array slice by slice: scan's "take row i, change a little of it, stack it",
// as decoders do with their caches.
#pragma once

#include <cstdint>
#include <optional>

#include "hlo/trace.h"

namespace ridgeline::hlo {

struct StackedUpdate {
  int64_t source = 0;      // element of the loop's state that the rows are taken from, unchanged
  double round_bytes = 0;  // that differ in the row of one round
};

// Where element `element` of the loop's result is filled by rows that are rows of another element
// with small updates. A compiler may then update the other one in place; what must be written is
// the updates only. Rows are not compared by their index: the figure is a lower bound.
std::optional<StackedUpdate> FindStackedUpdate(Tracer& tracer, const Instruction& loop,
                                               const Frame* frame, int64_t element);

}  // namespace ridgeline::hlo
