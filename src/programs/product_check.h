// The known answer of a matrix product: plain, batched, or a convolution seen as one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "programs/check.h"
#include "programs/program.h"

namespace ridgeline::programs {

// How exactly the device forms and stores C.
struct ProductTypes {
  DType operand = DType::kF32;
  DType result = DType::kF32;
  // Epsilon of the operands as they are multiplied; 0: exact. 2^-10 for tf32.
  double multiply_epsilon = 0;
};

// C[rows,n] = A[rows,k] · B[k,n].
struct Product {
  int64_t rows = 0;
  int64_t n = 0;
  int64_t k = 0;
  std::function<void(int64_t row, std::span<double> out)> read_a;   // one row of A, k values
  std::function<void(int64_t line, std::span<double> out)> read_b;  // one row of B, n values …
  bool b_by_columns = false;                                        // … or a column, k values
  const HostTensor* c = nullptr;
  int64_t c_start = 0;  // flat index of C[0,0]
};

// Compares products in f64. Every element of C takes part: C·v = A·(B·v) for a random vector v over
// blocks of columns (Freivalds 1977). A block is one column, which compares every element by
// itself, until that would cost more than a few hundred million operations; then sampled rows are
// compared element by element besides.
class ProductComparison {
 public:
  // `products`: how many will be added, which share the cost.
  ProductComparison(const ProductTypes& types, int64_t products);
  void Add(const Product& product);
  CheckResult Finish() const;

 private:
  ProductTypes types_;
  double budget_;  // multiply-adds for one product
  Comparison rows_;
  Comparison blocks_;
};

// C[b,m,n] = A[b,m,k] · B[b,k,n]: input 0 is A ([b,k,m] when transposed), input 1 is B, output 0 is
// C.
struct MatmulCheck {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  ProductTypes types;
};
CheckResult CheckMatmul(const MatmulCheck& check, const CheckInput& input);

}  // namespace ridgeline::programs
