// Hockney's law of one sweep over message sizes: time = alpha + bytes / bandwidth
// (R. W. Hockney, The communication challenge for MPP, Parallel Computing 20, 1994).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/measurement.h"

namespace ridgeline {

struct SizePoint {
  double bytes = 0;
  double seconds = 0;
};

// Least squares of the relative error, sum of ((alpha + bytes / bandwidth) / seconds - 1)^2, so
// that the small messages, which alone show alpha, weigh as much as the large ones. alpha is never
// negative. half_size_bytes = alpha * bandwidth when that lies inside the swept range, else absent.
// nullopt with fewer than two sizes, or when the time does not grow with the size.
std::optional<AlphaBeta> FitAlphaBeta(std::span<const SizePoint> points);

// Fits every sweep over "bytes" among the usable network measurements (same benchmark and other
// parameters, at least three sizes) and sets alpha_beta on its members.
void AttachAlphaBeta(std::span<Measurement> measurements);

}  // namespace ridgeline
