// C[m,n] = A[m,k] · B[k,n], either operand stored transposed.
#include <fmt/format.h>

#include <cmath>

#include "benchmarks/benchmark.h"
#include "programs/check.h"
#include "programs/loop.h"
#include "programs/matmul_check.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::TensorSpec;
using programs::Value;

// Names of dot_general's `algorithm` attribute for the emulated and reduced forms of an f32
// product.
std::string DotAttributes(const std::string& precision) {
  if (precision == "default") return "precision = [DEFAULT, DEFAULT]";
  if (precision == "high") return "precision = [HIGH, HIGH]";
  if (precision == "highest") return "precision = [HIGHEST, HIGHEST]";
  const bool tf32 = precision == "tf32";
  const int passes = precision == "bf16x3" ? 3 : precision == "bf16x6" ? 6 : 1;
  const std::string_view type = tf32 ? "tf32" : "bf16";
  return fmt::format(
      "algorithm = <lhs_precision_type = {0}, rhs_precision_type = {0}, accumulation_type = f32, "
      "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {1}, "
      "allow_imprecise_accumulation = false>",
      type, passes);
}

Result<Program> Build(const Params& params, const Target& target) {
  const int64_t m = params.Integer("m");
  const int64_t n = params.Integer("n");
  const int64_t k = params.Integer("k");
  const DType dtype = params.Type("dtype");
  const bool transpose_a = params.Flag("transpose_a");
  const bool transpose_b = params.Flag("transpose_b");
  const DType out = params.Text("out_dtype") == "same"
                        ? (IsFloat(dtype) ? dtype : DType::kS32)
                        : ParseDType(params.Text("out_dtype")).value();

  Program program;
  program.partitions = target.placement.all ? static_cast<int>(target.mesh->size()) : 1;
  program.scope = target.placement.all ? Scope::kAll : Scope::kDevice;
  program.dtype = dtype;
  program.inputs = {{"a", {dtype, transpose_a ? std::vector{k, m} : std::vector{m, k}}, {}},
                    {"b", {dtype, transpose_b ? std::vector{n, k} : std::vector{k, n}}, {}}};
  program.carried = {{"c", {out, {m, n}}, {programs::FillKind::kZeros}}};
  program.outputs = {program.carried[0].shape};
  const programs::DotDims dims{{}, {}, {transpose_a ? 0 : 1}, {transpose_b ? 1 : 0}};
  program.stablehlo =
      programs::WriteLoop(program.partitions, program.inputs, program.carried,
                          [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                            return std::vector{body.Dot(in[0], in[1], dims, out,
                                                        DotAttributes(params.Text("precision")))};
                          });

  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  program.work.matrix_flops[dtype] = flops;
  program.work.useful_flops = UsefulFlops{flops, "2·m·n·k"};
  program.working_set_bytes = program.device_bytes();
  program.work.hbm_bytes = static_cast<double>(program.working_set_bytes);
  program.rates = {{"flops", "FLOP/s", flops * program.partitions}};
  program.expected.dtype = dtype;
  program.expected.moved_bytes = program.work.hbm_bytes;
  program.expected.ops = {{{"dot", "convolution", "custom-call:__onednn$matmul",
                            "custom-call:__cublas", "custom-call:__triton", "fusion:__triton_gemm"},
                           1}};
  const programs::MatmulCheck check{.batch = 1,
                                    .m = m,
                                    .n = n,
                                    .k = k,
                                    .transpose_a = transpose_a,
                                    .transpose_b = transpose_b,
                                    .operand = dtype,
                                    .result = out};
  program.check = [check](const programs::CheckInput& input) {
    return programs::CheckMatmul(check, input);
  };
  return program;
}

}  // namespace

Benchmark gemm_benchmark() {
  return {.name = "gemm",
          .component = Component::kCompute,
          .summary = "matrix product C[m,n] = A[m,k]·B[k,n], either operand transposed",
          .params = {{.name = "m", .fallback = int64_t{1024}, .help = "rows of C"},
                     {.name = "n", .fallback = int64_t{1024}, .help = "columns of C"},
                     {.name = "k", .fallback = int64_t{1024}, .help = "contracted extent"},
                     {.name = "dtype",
                      .type = ParamType::kDType,
                      .fallback = std::string("f32"),
                      .help = "type of A and B"},
                     {.name = "out_dtype",
                      .type = ParamType::kText,
                      .fallback = std::string("same"),
                      .help = "type of C; same: that of A, s32 for integers",
                      .allowed = {"same", "f32", "bf16", "f16", "s32"}},
                     {.name = "precision",
                      .type = ParamType::kText,
                      .fallback = std::string("default"),
                      .help = "precision of the dot, or the algorithm that an f32 product uses",
                      .allowed = {"default", "high", "highest", "tf32", "bf16x3", "bf16x6"}},
                     {.name = "transpose_a",
                      .type = ParamType::kBool,
                      .fallback = false,
                      .help = "A is stored [k,m]"},
                     {.name = "transpose_b",
                      .type = ParamType::kBool,
                      .fallback = false,
                      .help = "B is stored [n,k]"}},
          .build = Build};
}

}  // namespace ridgeline::benchmarks
