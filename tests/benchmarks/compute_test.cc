// Counts and known answers of the compute benchmarks; the right outputs come from plain loops.
#include <gmock/gmock.h>

#include <cmath>

#include "benchmarks/cases.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Program;
using ::testing::Contains;
using ::testing::HasSubstr;

std::vector<double> InputValues(const Program& program, int partition, int input) {
  return HostRun(program, Outputs(static_cast<size_t>(partition) + 1))
      .Input(partition, input)
      .Values();
}

double RateOf(const Program& program, const std::string& name) {
  for (const programs::RateSpec& rate : program.rates) {
    if (rate.name == name) return rate.amount;
  }
  return -1;
}

struct Extents {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
};

Outputs Multiply(const Program& program, const Extents& e) {
  Outputs outputs;
  for (int partition = 0; partition < program.partitions; ++partition) {
    const std::vector<double> a = InputValues(program, partition, 0);
    const std::vector<double> b = InputValues(program, partition, 1);
    HostTensor c(program.outputs[0]);
    for (int64_t g = 0; g < e.batch; ++g) {
      for (int64_t i = 0; i < e.m; ++i) {
        for (int64_t j = 0; j < e.n; ++j) {
          double sum = 0;
          for (int64_t x = 0; x < e.k; ++x) {
            const int64_t at_a = g * e.m * e.k + (e.transpose_a ? x * e.m + i : i * e.k + x);
            const int64_t at_b = g * e.k * e.n + (e.transpose_b ? j * e.k + x : x * e.n + j);
            sum += a[static_cast<size_t>(at_a)] * b[static_cast<size_t>(at_b)];
          }
          c.set((g * e.m + i) * e.n + j, sum);
        }
      }
    }
    outputs.push_back({std::move(c)});
  }
  return outputs;
}

TEST(Gemm, ChecksEveryType) {
  for (const char* dtype : {"f32", "f64", "bf16", "f16", "f8e4m3fn", "f8e5m2", "s8", "s4"}) {
    SCOPED_TRACE(dtype);
    const Program program = MustBuild("gemm", Gemm(dtype), {.platform = "tpu"});
    ExpectCheckCatches(program, Multiply(program, {.m = 48, .n = 40, .k = 72}));
  }
}

TEST(Gemm, ChecksTransposesOnEveryDevice) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      const Program program =
          MustBuild("gemm", Gemm("f32", {{"transpose_a", a}, {"transpose_b", b}}),
                    {.devices = 3, .all = true});
      ASSERT_EQ(program.partitions, 3);
      ExpectCheckCatches(
          program,
          Multiply(program, {.m = 48, .n = 40, .k = 72, .transpose_a = a, .transpose_b = b}));
      // Not the other way round.
      EXPECT_FALSE(
          CheckOutputs(
              program,
              Multiply(program, {.m = 48, .n = 40, .k = 72, .transpose_a = !a, .transpose_b = b}))
              .passed);
    }
  }
}

// jax#20184: 2·2048³, whatever the plugin says.
TEST(Gemm, CountsFlopsAndBytes) {
  const Given size = {{"m", Whole(2048)}, {"n", Whole(2048)}, {"k", Whole(2048)}};
  const Program f32 = MustBuild("gemm", size);
  EXPECT_EQ(f32.work.matrix_flops.at(DType::kF32), 17179869184.0);
  EXPECT_EQ(f32.work.useful_flops->value, 17179869184.0);
  EXPECT_EQ(f32.work.hbm_bytes, 3.0 * 2048 * 2048 * 4);
  EXPECT_EQ(f32.working_set_bytes, 3 * 2048 * 2048 * 4);
  EXPECT_EQ(RateOf(f32, "flops"), 17179869184.0);
  EXPECT_EQ(f32.scope, Scope::kDevice);

  const Program all = MustBuild("gemm", size, {.devices = 4, .all = true});
  EXPECT_EQ(all.scope, Scope::kAll);
  EXPECT_EQ(all.work.matrix_flops.at(DType::kF32), 17179869184.0);  // of one device
  EXPECT_EQ(RateOf(all, "flops"), 4 * 17179869184.0);
  EXPECT_EQ(RateOf(all, "hbm_bw"), 4 * all.work.hbm_bytes);

  Given packed = size;
  packed["dtype"] = Text("s4");
  EXPECT_EQ(MustBuild("gemm", packed, {.platform = "tpu"}).work.hbm_bytes,
            2.0 * 2048 * 2048 / 2 + 2048 * 2048 * 4);
}

TEST(Gemm, TypesOfTheResult) {
  const auto result = [](const char* dtype, const char* out) {
    return MustBuild("gemm", Gemm(dtype, {{"out_dtype", Text(out)}})).outputs[0].dtype;
  };
  EXPECT_EQ(result("f8e4m3fn", "same"), DType::kBF16);
  EXPECT_EQ(result("s8", "same"), DType::kS32);
  EXPECT_EQ(result("bf16", "same"), DType::kBF16);
  EXPECT_EQ(result("bf16", "f32"), DType::kF32);
  for (const auto& [dtype, out] :
       {std::pair{"f32", "bf16"}, {"s8", "f32"}, {"f32", "s32"}, {"bf16", "f16"}}) {
    const auto wrong = TryBuild("gemm", Gemm(dtype, {{"out_dtype", Text(out)}}));
    ASSERT_FALSE(wrong.has_value()) << dtype << out;
    EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
    EXPECT_THAT(wrong.error().message, HasSubstr(out));
  }
}

TEST(Gemm, PrecisionIsOfF32Products) {
  const auto text = [](const char* dtype, const char* precision) {
    return MustBuild("gemm", Gemm(dtype, {{"precision_config", Text(precision)}})).stablehlo;
  };
  EXPECT_THAT(text("f32", "highest"), HasSubstr("precision = [HIGHEST, HIGHEST]"));
  EXPECT_THAT(text("bf16", "highest"), HasSubstr("precision = [DEFAULT, DEFAULT]"));
  EXPECT_THAT(text("f32", "tf32"), HasSubstr("lhs_precision_type = tf32"));
  EXPECT_THAT(text("f32", "bf16x3"), HasSubstr("num_primitive_operations = 3"));
  const auto wrong = TryBuild("gemm", Gemm("bf16", {{"precision_config", Text("tf32")}}));
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message, HasSubstr("'tf32'"));
  EXPECT_THAT(MustBuild("gemm", Gemm("f32", {{"precision_config", Text("tf32")}})).labels,
              Contains(HasSubstr("tf32")));
}

// Products of operands rounded to tf32 pass where tf32 was asked for, and nowhere else.
TEST(Gemm, BoundFollowsThePrecision) {
  const Program exact = MustBuild("gemm", Gemm("f32"));
  const Program tf32 = MustBuild("gemm", Gemm("f32", {{"precision_config", Text("tf32")}}));
  Outputs outputs = Multiply(exact, {.m = 48, .n = 40, .k = 72});
  HostTensor& c = outputs[0][0];
  for (int64_t i = 0; i < c.shape.elements(); ++i) c.set(i, c.at(i) * (1 + 0x1p-11));
  EXPECT_FALSE(CheckOutputs(exact, outputs).passed);
  EXPECT_TRUE(CheckOutputs(tf32, outputs).passed);
}

TEST(Gemm, IntegersUseTheirRangeAndNeverOverflow) {
  const auto limit = [](const char* dtype, int64_t k) {
    return MustBuild("gemm", {{"k", Whole(k)}, {"dtype", Text(dtype)}}, {.platform = "tpu"})
        .inputs[0]
        .fill.limit;
  };
  EXPECT_EQ(limit("s8", 4096), 127);
  EXPECT_EQ(limit("s4", 4096), 7);
  EXPECT_LE(limit("s8", 1 << 20) * limit("s8", 1 << 20) * (1 << 20), INT32_MAX);
}

TEST(Gemm, WhatAPlatformDoesNotTake) {
  const auto s4 = TryBuild("gemm", Gemm("s4"), {.platform = "cpu"});
  ASSERT_FALSE(s4.has_value());
  EXPECT_EQ(s4.error().code, Code::kUnimplemented);
}

TEST(BatchedGemm, ChecksEveryProduct) {
  const Program program =
      MustBuild("batched_gemm", Gemm("bf16", {{"batch", Whole(3)}}), {.devices = 2, .all = true});
  const Outputs right = Multiply(program, {.batch = 3, .m = 48, .n = 40, .k = 72});
  ExpectCheckCatches(program, right);
  EXPECT_EQ(program.work.matrix_flops.at(DType::kBF16), 2.0 * 3 * 48 * 40 * 72);
  // Two products in the wrong order.
  Outputs wrong = right;
  for (int64_t i = 0; i < 48 * 40; ++i) {
    wrong[1][0].set(i, right[1][0].at(48 * 40 + i));
    wrong[1][0].set(48 * 40 + i, right[1][0].at(i));
  }
  EXPECT_FALSE(CheckOutputs(program, wrong).passed);
}

struct Convolved {
  Outputs outputs;
  double taps = 0;  // that read the image, over all outputs and channels
};

Convolved Convolve(const Program& program, int64_t stride, int64_t padding) {
  Convolved result;
  for (int partition = 0; partition < program.partitions; ++partition) {
    const std::vector<double> image = InputValues(program, partition, 0);
    const std::vector<double> kernel = InputValues(program, partition, 1);
    const auto& in = program.inputs[0].shape.dims;
    const auto& taps = program.inputs[1].shape.dims;
    const auto& out = program.outputs[0].dims;
    HostTensor tensor(program.outputs[0]);
    result.taps = 0;
    for (int64_t n = 0; n < out[0]; ++n) {
      for (int64_t y = 0; y < out[1]; ++y) {
        for (int64_t x = 0; x < out[2]; ++x) {
          for (int64_t f = 0; f < out[3]; ++f) {
            double sum = 0;
            for (int64_t ky = 0; ky < taps[0]; ++ky) {
              for (int64_t kx = 0; kx < taps[1]; ++kx) {
                const int64_t iy = y * stride + ky - padding;
                const int64_t ix = x * stride + kx - padding;
                if (iy < 0 || iy >= in[1] || ix < 0 || ix >= in[2]) continue;
                for (int64_t c = 0; c < in[3]; ++c) {
                  sum +=
                      image[static_cast<size_t>(((n * in[1] + iy) * in[2] + ix) * in[3] + c)] *
                      kernel[static_cast<size_t>(((ky * taps[1] + kx) * in[3] + c) * out[3] + f)];
                  ++result.taps;
                }
              }
            }
            tensor.set(((n * out[1] + y) * out[2] + x) * out[3] + f, sum);
          }
        }
      }
    }
    result.outputs.push_back({std::move(tensor)});
  }
  return result;
}

TEST(Convolution, ChecksStridesAndPaddingAndCountsValidTaps) {
  for (const auto& [stride, padding, kernel] :
       {std::tuple{1, 1, 3}, {2, 0, 2}, {2, 2, 4}, {3, 0, 1}}) {
    SCOPED_TRACE(fmt::format("stride {} padding {} kernel {}", stride, padding, kernel));
    const Program program = MustBuild(
        "convolution",
        Image("f32",
              {{"stride", Whole(stride)}, {"padding", Whole(padding)}, {"kernel", Whole(kernel)}}),
        {.devices = 2, .all = true});
    const Convolved right = Convolve(program, stride, padding);
    ExpectCheckCatches(program, right.outputs);
    EXPECT_EQ(program.work.matrix_flops.at(DType::kF32), 2 * right.taps);
    if (padding > 0) {
      EXPECT_FALSE(CheckOutputs(program, Convolve(program, stride, padding - 1).outputs).passed);
    }
  }
  const Program integers = MustBuild("convolution", Image("s8"));
  ExpectCheckCatches(integers, Convolve(integers, 1, 1).outputs);
}

TEST(Convolution, KernelsThatDoNotFit) {
  for (const auto& [kernel, padding] : {std::pair{12, 0}, {3, 3}}) {
    const auto wrong = TryBuild(
        "convolution", Image("f32", {{"kernel", Whole(kernel)}, {"padding", Whole(padding)}}));
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
  }
  EXPECT_FALSE(
      TryBuild("convolution", Image("f32", {{"precision_config", Text("tf32")}})).has_value());
}

double Apply(const std::string& op, double x, double y) {
  if (op == "add") return x + y;
  if (op == "multiply") return x * y;
  if (op == "exponential") return std::exp(y - x);
  if (op == "tanh") return std::tanh(x + y);
  return 1 / std::sqrt(x + y);
}

// Every step rounded to the type, or none but the last: both are right.
Outputs RunChain(const Program& program, const std::string& op, int64_t repeats, bool rounded) {
  Outputs outputs;
  const DType dtype = program.outputs[0].dtype;
  for (int partition = 0; partition < program.partitions; ++partition) {
    const std::vector<double> x = InputValues(program, partition, 0);
    const std::vector<double> y = InputValues(program, partition, 1);
    HostTensor result(program.outputs[0]);
    const auto round = [&](double v) { return rounded ? RoundTo(dtype, v) : v; };
    for (size_t i = 0; i < x.size(); ++i) {
      double chains[8];
      for (int c = 0; c < 8; ++c) {
        chains[c] = round(x[i] + (c + 1) / 16.0);
        for (int64_t r = 0; r < repeats; ++r) chains[c] = round(Apply(op, chains[c], y[i]));
        chains[c] = round(chains[c] + (c + 1) / 16.0);
      }
      double pairs[4];
      for (int c = 0; c < 4; ++c) pairs[c] = round(chains[c] + chains[c + 4]);
      result.set(static_cast<int64_t>(i), round(pairs[0] + pairs[2]) + round(pairs[1] + pairs[3]));
    }
    outputs.push_back({std::move(result)});
  }
  return outputs;
}

TEST(Vector, ChecksEveryChain) {
  for (const char* op : {"add", "multiply", "exponential", "tanh", "rsqrt"}) {
    for (const char* dtype : {"f32", "f64", "bf16", "f16"}) {
      SCOPED_TRACE(std::string(op) + " " + dtype);
      const Program program = MustBuild("vector", Bytes(1 << 12, dtype, {{"op", Text(op)}}),
                                        {.devices = 2, .all = true});
      const Outputs right = RunChain(program, op, 8, true);
      ExpectCheckCatches(program, right);
      EXPECT_TRUE(CheckOutputs(program, RunChain(program, op, 8, false)).passed);
      for (const auto& output : right) {
        double lowest = INFINITY;
        double highest = -INFINITY;
        for (int64_t i = 0; i < output[0].shape.elements(); ++i) {
          ASSERT_TRUE(std::isnormal(output[0].at(i))) << i;
          lowest = std::min(lowest, output[0].at(i));
          highest = std::max(highest, output[0].at(i));
        }
        EXPECT_GT(highest - lowest, 0.1);  // not a constant
      }
    }
  }
}

// Steps that were left out show, where the chain does not settle on a fixed point.
TEST(Vector, MissingStepsFail) {
  for (const char* op : {"add", "multiply"}) {
    const Program program = MustBuild("vector", Bytes(1 << 12, "f32", {{"op", Text(op)}}));
    EXPECT_FALSE(CheckOutputs(program, RunChain(program, op, 7, true)).passed) << op;
    EXPECT_FALSE(CheckOutputs(program, RunChain(program, op, 1, true)).passed) << op;
  }
  for (const char* op : {"exponential", "tanh", "rsqrt"}) {
    const Program program = MustBuild("vector", Bytes(1 << 12, "f32", {{"op", Text(op)}}));
    EXPECT_FALSE(CheckOutputs(program, RunChain(program, op, 1, true)).passed) << op;
  }
}

TEST(Vector, CountsOperations) {
  const Program multiply = MustBuild("vector", Bytes(4096, "f32", {{"repeats", Whole(10)}}));
  // 8 chains of 10 steps, 8 starts, 8 ends, 7 sums.
  EXPECT_EQ(multiply.work.vector_flops.at(DType::kF32), 1024 * 103);
  EXPECT_EQ(multiply.work.transcendentals, 0);
  EXPECT_EQ(RateOf(multiply, "flops"), 1024 * 103);
  EXPECT_EQ(RateOf(multiply, "hbm_bw"), 3 * 4096);
  EXPECT_EQ(RateOf(multiply, "op_rate"), -1);
  const Program tanh =
      MustBuild("vector", Bytes(4096, "bf16", {{"op", Text("tanh")}, {"repeats", Whole(10)}}),
                {.devices = 2, .all = true});
  EXPECT_EQ(tanh.work.vector_flops.at(DType::kBF16), 2048 * 103);
  EXPECT_EQ(tanh.work.transcendentals, 2048 * 80);
  EXPECT_EQ(RateOf(tanh, "op_rate"), 2 * 2048 * 80);
  EXPECT_FALSE(TryBuild("vector", {{"repeats", Whole(5000)}}).has_value());
}

}  // namespace
}  // namespace ridgeline::benchmarks
