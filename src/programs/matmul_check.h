// The known answer of a (batched) matrix product.
#pragma once

#include <cstdint>

#include "programs/program.h"

namespace ridgeline::programs {

// C[b,m,n] = A[b,m,k] · B[b,k,n]: input 0 is A ([b,k,m] when transposed), input 1 is B, output 0 is
// C.
struct MatmulCheck {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  DType operand = DType::kF32;
  DType result = DType::kF32;
};

// Every element of C takes part: C·v = A·(B·v) for a random sign vector v over blocks of columns
// (Freivalds 1977), and sampled rows are compared element by element, both in f64.
CheckResult CheckMatmul(const MatmulCheck& check, const CheckInput& input);

}  // namespace ridgeline::programs
