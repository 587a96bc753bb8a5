// The StableHLO that is written. tests/benchmarks runs it on a plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "programs/body.h"
#include "programs/loop.h"

namespace ridgeline::programs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Body, Literals) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Literal(0, DType::kF32), "0.000000e+00");
  EXPECT_EQ(Literal(-kInfinity, DType::kF32), "0xFF800000");
  EXPECT_EQ(Literal(kInfinity, DType::kF64), "0x7FF0000000000000");
  EXPECT_EQ(Literal(-kInfinity, DType::kBF16), "0xFF80");
  EXPECT_EQ(Literal(-kInfinity, DType::kF16), "0xFC00");
  EXPECT_EQ(Literal(-3, DType::kS32), "-3");
  EXPECT_EQ(Literal(1, DType::kPred), "true");
}

TEST(Body, ShapesFollowTheOperations) {
  Body body;
  const Value a{"%a", {DType::kF32, {2, 3, 4}}};
  EXPECT_EQ(body.Transpose(a, {2, 0, 1}).shape.dims, (std::vector<int64_t>{4, 2, 3}));
  EXPECT_EQ(body.Slice(a, {0, 1, 0}, {2, 3, 4}, {1, 1, 3}).shape.dims,
            (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(body.Reduce("add", a, 0, {0, 2}).shape.dims, (std::vector<int64_t>{3}));
  EXPECT_EQ(body.Concatenate({a, a}, 1).shape.dims, (std::vector<int64_t>{2, 6, 4}));
  EXPECT_EQ(body.Compare("GE", a, a).shape.dtype, DType::kPred);
  const Value b{"%b", {DType::kF32, {2, 5, 4}}};
  const Value dot = body.Dot(a, b, {{0}, {0}, {2}, {2}}, DType::kF32);
  EXPECT_EQ(dot.shape.dims, (std::vector<int64_t>{2, 3, 5}));
  EXPECT_THAT(body.text(),
              HasSubstr("batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
                        "(tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>"));
}

TEST(Body, RowMajorNamesTheLayoutOfEveryRank) {
  Body body;
  body.RowMajor({"%a", {DType::kF32, {2, 3, 4}}});
  EXPECT_THAT(body.text(), HasSubstr("result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>]"));
}

std::vector<TensorSpec> Arrays(int count) {
  std::vector<TensorSpec> specs(static_cast<size_t>(count));
  for (TensorSpec& spec : specs) spec = {"x", {DType::kF32, {8}}, {}};
  return specs;
}

TEST(Loop, GuardsTheOperandsAndDonatesTheResults) {
  const std::string text =
      WriteLoop(1, Arrays(2), Arrays(1),
                [](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                  EXPECT_EQ(in.size(), 2u);
                  return std::vector{body.Binary("add", in[0], in[1])};
                });
  EXPECT_THAT(text, HasSubstr("@main(%n: tensor<i32>, %in0: tensor<8xf32>, %in1: tensor<8xf32>, "
                              "%out0: tensor<8xf32> {tf.aliasing_output = 0 : i32}) -> "
                              "(tensor<8xf32>)"));
  EXPECT_THAT(text, HasSubstr("%b:3 = stablehlo.optimization_barrier %i, %a0, %a1"));
  EXPECT_THAT(text, HasSubstr("stablehlo.add %b#1, %b#2"));
  EXPECT_THAT(text, HasSubstr("stablehlo.compare LT, %i, %limit, SIGNED"));
  EXPECT_THAT(text, Not(HasSubstr("sharding")));
  EXPECT_THAT(text, HasSubstr("mhlo.num_partitions = 1"));
}

TEST(Loop, EveryArgumentIsPerDeviceWithPartitions) {
  const std::string text =
      WriteLoop(4, Arrays(1), Arrays(1),
                [](Body&, const std::vector<Value>& in, const std::vector<Value>&) { return in; });
  size_t manual = 0;
  for (size_t at = text.find("\"{manual}\""); at != std::string::npos;
       at = text.find("\"{manual}\"", at + 1)) {
    ++manual;
  }
  EXPECT_EQ(manual, 4u);  // n, input, carried and the result
  EXPECT_THAT(text, HasSubstr("mhlo.num_partitions = 4"));
}

TEST(Loop, NullLoopHoldsTheCounterAlone) {
  const Program program = NullLoop(1);
  EXPECT_TRUE(program.inputs.empty());
  EXPECT_TRUE(program.expected.ops.empty());
  EXPECT_THAT(program.stablehlo, HasSubstr("%b = stablehlo.optimization_barrier %i : tensor<i32>"));
}

}  // namespace
}  // namespace ridgeline::programs
