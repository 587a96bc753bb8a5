// Arithmetic of one HLO instruction, run once. What runs in other computations in its place (loops,
// branches, calls, fusions) is not in it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "hlo/module.h"

namespace ridgeline::hlo {

struct OpCost {
  int type = 0;       // XLA PrimitiveType of the arithmetic; complex numbers are their parts
  double matrix = 0;  // FLOP of dots and convolutions
  double vector = 0;  // other arithmetic, integer and comparisons too: one an element
  double transcendental = 0;  // exp, tanh, sqrt …: one an element
  std::string uncounted;      // why the above is less than the instruction's work; or empty
  std::string note;           // where the figures come from when that is not the definition
};

// Counts that instructions of one module share.
class CostModel {
 public:
  explicit CostModel(const Module& module) : module_(module) {}

  // Formulas, n elements of the result and k of what is summed:
  //   dot            2nk; complex 8nk
  //   convolution    2 a tap that reads an input element: neither padding nor a hole of dilation;
  //                  groups divide the input features
  //   reduce         (inputs - outputs) times the function
  //   reduce-window  (taps inside the input - outputs) times the function; a window as long as the
  //                  dimension with one-sided padding is a running sum and costs inputs - 1
  //   scatter        updates times the function
  //   sort           N log2 N comparisons a line
  //   fft            5 N log2 N, 2.5 N log2 N for real ones, N the product of all lengths
  //   cholesky       N^3 / 3;  triangular-solve: N^2 M
  //   all-reduce, reduce-scatter: (g-1)/g times the function an element, g devices in a group
  OpCost Count(const Computation& computation, const Instruction& instruction,
               double group_size = 1);

 private:
  struct Function {
    double vector = 0, transcendental = 0;
  };
  // Of one application of a scalar computation.
  Function Applied(const Instruction& instruction);

  const Module& module_;
  std::unordered_map<int64_t, Function> functions_;
};

// Pairs (output position, tap) along one dimension that read an element of the input, not padding
// and not a hole between elements.
double ValidTaps(int64_t inputs, int64_t outputs, const WindowDimension& window);

// c64 -> f32, c128 -> f64, others unchanged.
int RealType(int primitive);

}  // namespace ridgeline::hlo
