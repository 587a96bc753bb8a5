// Slices of a torus: their shapes, which exist, and which axes close into rings.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "spec/spec.h"

namespace ridgeline::spec {

// "4x4", "16", "4x4x4".
Result<Shape> ParseShape(std::string_view text);
int64_t Chips(const Shape& shape);

// Whether such a slice exists: the right number of axes, not above the pod, and one of the known
// shapes in any order of axes.
Status CheckSlice(const SpecNetwork& network, const Shape& shape);

// One flag an axis (docs.cloud.google.com/tpu/docs/v4 and …/v5e, MaxText). An axis of two chips is
// one link and wraps nowhere.
std::vector<bool> WrapsOf(const SpecNetwork& network, const Shape& shape);

}  // namespace ridgeline::spec
