// Custom calls whose work is known: by definition, or because the kernel states it.
#pragma once

#include <optional>
#include <string>

#include "hlo/cost.h"
#include "hlo/module.h"

namespace ridgeline::hlo {

enum class CustomCallKind {
  kMarker,  // says something to a compiler pass; moves nothing
  kToHost,  // its array goes to the host's memory
  kToDevice,
  kKernel,
};

CustomCallKind KindOfCustomCall(const Computation& computation, const Instruction& instruction);

// `uncounted` says so where the work is not known.
OpCost CostOfCustomCall(const Computation& computation, const Instruction& instruction);

// HBM bytes that the kernel itself states, if any.
std::optional<double> StatedBytes(const Instruction& instruction);

}  // namespace ridgeline::hlo
