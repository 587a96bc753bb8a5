// C[b,m,n] = A[b,m,k] · B[b,k,n]: `batch` products that share nothing.
#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

Result<Program> Build(const Params& params, const Target& target) {
  const int64_t batch = params.Integer("batch");
  const int64_t m = params.Integer("m");
  const int64_t n = params.Integer("n");
  const int64_t k = params.Integer("k");
  RL_ASSIGN(const ProductChoice choice, ChooseProduct(params, target, k));
  const DType operand = choice.types.operand;

  const programs::DotDims dims{{0}, {0}, {2}, {1}};
  Program program = LoopProgram(
      target, operand,
      {{"a", {operand, {batch, m, k}}, choice.fill}, {"b", {operand, {batch, k, n}}, choice.fill}},
      {choice.types.result, {batch, m, n}},
      [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
        return std::vector{
            body.Dot(in[0], in[1], dims, choice.types.result, choice.DotAttributes())};
      });
  CountMatrixFlops(program, operand,
                   2.0 * static_cast<double>(batch) * static_cast<double>(m) *
                       static_cast<double>(n) * static_cast<double>(k),
                   "2·batch·m·n·k");
  CountBytes(program, static_cast<double>(program.device_bytes()),
             "3 arrays: A and B read, C written, each once");
  if (!choice.label.empty()) program.labels.push_back(choice.label);
  program.expected.ops = {{ProductOpcodes(), 1}};
  const programs::MatmulCheck check{.batch = batch, .m = m, .n = n, .k = k, .types = choice.types};
  program.check = [check](const programs::CheckInput& input) {
    return programs::CheckMatmul(check, input);
  };
  return program;
}

}  // namespace

Benchmark batched_gemm_benchmark() {
  std::vector<ParamSpec> params = {
      {.name = "batch", .fallback = int64_t{32}, .help = "number of products"},
      {.name = "m", .fallback = int64_t{128}, .help = "rows of each C"},
      {.name = "n", .fallback = int64_t{128}, .help = "columns of each C"},
      {.name = "k", .fallback = int64_t{128}, .help = "contracted extent"}};
  const std::vector<ParamSpec> types = ProductParams();
  params.insert(params.end(), types.begin(), types.end());
  return {.name = "batched_gemm",
          .component = Component::kCompute,
          .summary = "independent matrix products C[b,m,n] = A[b,m,k]·B[b,k,n]",
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
