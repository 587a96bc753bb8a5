// C[m,n] = A[m,k] · B[k,n], either operand stored transposed.
#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  const int64_t m = params.Integer("m");
  const int64_t n = params.Integer("n");
  const int64_t k = params.Integer("k");
  const bool transpose_a = params.Flag("transpose_a");
  const bool transpose_b = params.Flag("transpose_b");
  RL_ASSIGN(const ProductChoice choice, ChooseProduct(params, target, k));
  const DType operand = choice.types.operand;
  const DType result = choice.types.result;

  const Shape a{operand, transpose_a ? std::vector{k, m} : std::vector{m, k}};
  const Shape b{operand, transpose_b ? std::vector{n, k} : std::vector{k, n}};
  const programs::DotDims dims{{}, {}, {transpose_a ? 0 : 1}, {transpose_b ? 1 : 0}};
  Program program =
      LoopProgram(target, operand, {{"a", a, choice.fill}, {"b", b, choice.fill}}, {result, {m, n}},
                  [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                    return std::vector{
                        body.Dot(in[0], in[1], dims, choice.types.result, choice.DotAttributes())};
                  });
  CountMatrixFlops(program, operand,
                   2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
                   "2·m·n·k");
  CountBytes(program, static_cast<double>(program.device_bytes()),
             "3 arrays: A and B read, C written, each once");
  if (!choice.label.empty()) program.labels.push_back(choice.label);
  program.expected.ops = {{ProductOpcodes(), 1}};
  const programs::MatmulCheck check{.batch = 1,
                                    .m = m,
                                    .n = n,
                                    .k = k,
                                    .transpose_a = transpose_a,
                                    .transpose_b = transpose_b,
                                    .types = choice.types};
  program.check = [check](const programs::CheckInput& input) {
    return programs::CheckMatmul(check, input);
  };
  return program;
}

}  // namespace

Benchmark gemm_benchmark() {
  std::vector<ParamSpec> params = {
      {.name = "m", .fallback = int64_t{1024}, .help = "rows of C"},
      {.name = "n", .fallback = int64_t{1024}, .help = "columns of C"},
      {.name = "k", .fallback = int64_t{1024}, .help = "contracted extent"},
      {.name = "transpose_a",
       .type = ParamType::kBool,
       .fallback = false,
       .help = "A is stored [k,m]"},
      {.name = "transpose_b",
       .type = ParamType::kBool,
       .fallback = false,
       .help = "B is stored [n,k]"}};
  const std::vector<ParamSpec> types = ProductParams();
  params.insert(params.end(), types.begin(), types.end());
  return {.name = "gemm",
          .component = Component::kCompute,
          .summary = "matrix product C[m,n] = A[m,k]·B[k,n], either operand transposed",
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
