// What the compute and hbm benchmarks share: a looped program with one result, its counts, and the
// parameters that many of them take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/benchmark.h"
#include "programs/check.h"
#include "programs/loop.h"
#include "programs/product_check.h"

namespace ridgeline::benchmarks {

// One device, or every device of the mesh with data of its own. Sets all but counts, rates, the
// check and the expected operations. The result starts as zeros.
programs::Program LoopProgram(const Target& target, DType dtype,
                              std::vector<programs::TensorSpec> inputs, Shape result,
                              const programs::OpWriter& op);

// Bytes that one iteration moves on one device, with the convention that they are counted by.
void CountBytes(programs::Program& program, double bytes, std::string convention);
// Matrix flops of one iteration on one device: executed and useful ones are the same.
void CountMatrixFlops(programs::Program& program, DType dtype, double flops,
                      std::string convention);

// hbm: `bytes` of one array and its `dtype`.
std::vector<ParamSpec> ArrayParams(const std::string& bytes_help);
// Elements of an array of `bytes`; kInvalidArgument when they are not whole.
Result<int64_t> ElementsOf(const Params& params);
// A program over `count` arrays of one shape, one element to one element; counts every input read
// and the result written.
Result<programs::Program> ElementwiseProgram(const Params& params, const Target& target,
                                             const std::vector<std::string>& inputs,
                                             const std::string& convention,
                                             const programs::OpWriter& op);

// Matrix products: `dtype`, `out_dtype` and `precision_config`.
std::vector<ParamSpec> ProductParams();
struct ProductChoice {
  programs::ProductTypes types;
  std::string precision;  // DEFAULT, HIGH or HIGHEST; empty when `algorithm` says all
  std::string algorithm;  // attribute of dot_general
  std::string label;      // what the precision means; empty for operands that go in exactly
  programs::Fill fill;    // of the operands

  std::string DotAttributes() const;
};
// kInvalidArgument for a result narrower than the operands, and for an f32 algorithm on other
// operands; kUnimplemented for a type that the platform's compiler fails on.
Result<ProductChoice> ChooseProduct(const Params& params, const Target& target, int64_t terms);
// HLO opcodes under which plugins run a matrix product.
std::vector<std::string> ProductOpcodes();

}  // namespace ridgeline::benchmarks
