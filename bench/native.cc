#include "native.h"

#include <cstring>

#ifdef _OPENMP
#include <omp.h>
#define RL_PARALLEL_SIMD _Pragma("omp parallel for simd schedule(static) num_threads(threads)")
#define RL_PARALLEL_FOR _Pragma("omp parallel for schedule(static, 1) num_threads(threads)")
#else
#define RL_PARALLEL_SIMD
#define RL_PARALLEL_FOR
#endif

namespace ridgeline::truth {

int NativeThreads() {
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  return 1;
#endif
}

void Triad(float* a, const float* b, const float* c, size_t elements, int rounds,
           [[maybe_unused]] int threads) {
  for (int round = 0; round < rounds; ++round) {
    RL_PARALLEL_SIMD
    for (size_t i = 0; i < elements; ++i) a[i] = b[i] + 3 * c[i];
    // The compiler must not see that every round writes the same.
    asm volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
  }
}

void Copies(float* const* destinations, const float* const* sources, size_t arrays, size_t bytes,
            [[maybe_unused]] int threads) {
  RL_PARALLEL_FOR
  for (size_t i = 0; i < arrays; ++i) std::memcpy(destinations[i], sources[i], bytes);
  asm volatile("" : : "r"(destinations) : "memory");
}

void FirstTouch(float* array, size_t elements, float value, [[maybe_unused]] int threads) {
  RL_PARALLEL_SIMD
  for (size_t i = 0; i < elements; ++i) array[i] = value;
}

}  // namespace ridgeline::truth
