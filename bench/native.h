// Plain loops, compiled for this very processor: the same work as our programs do, without XLA and
// without the slope engine.
#pragma once

#include <cstddef>

namespace ridgeline::truth {

// 1 when built without OpenMP.
int NativeThreads();

// a[i] = b[i] + 3 * c[i], `rounds` times over, on `threads` threads.
void Triad(float* a, const float* b, const float* c, size_t elements, int rounds, int threads);

// memcpy of `bytes` from each source to the destination of the same number; threads share the
// arrays out.
void Copies(float* const* destinations, const float* const* sources, size_t arrays, size_t bytes,
            int threads);

// One value into every element, by the threads that Triad gives these elements to.
void FirstTouch(float* array, size_t elements, float value, int threads);

}  // namespace ridgeline::truth
