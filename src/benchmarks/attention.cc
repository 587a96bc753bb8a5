#include "benchmarks/attention.h"

#include <fmt/format.h>

#include "base/text.h"
#include "benchmarks/benchmark.h"
#include "programs/loop.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::TensorSpec;
using programs::Value;

double Count(int64_t n) { return static_cast<double>(n); }

AttentionDirection ParseDirection(const std::string& text) {
  if (text == "forward") return AttentionDirection::kForward;
  if (text == "backward") return AttentionDirection::kBackward;
  return AttentionDirection::kForwardBackward;
}

Result<Attention> Resolve(const Params& params) {
  Attention a;
  a.tiled = params.Text("form") == "tiled";
  a.direction = ParseDirection(params.Text("direction"));
  a.causal = params.Flag("causal");
  a.batch = params.Integer("batch");
  a.heads = params.Integer("heads");
  a.kv_heads = params.Integer("kv_heads");
  a.q_len = params.Integer("q_len");
  a.kv_len = params.Integer("kv_len");
  a.head_dim = params.Integer("head_dim");
  a.dtype = params.Type("dtype");
  a.block = std::min(params.Integer("block"), a.kv_len);
  if (a.heads % a.kv_heads != 0) {
    return Fail(Code::kInvalidArgument,
                fmt::format("heads = {} is no multiple of kv_heads = {}", a.heads, a.kv_heads));
  }
  if (a.tiled && a.kv_len % a.block != 0) {
    return Fail(Code::kInvalidArgument,
                fmt::format("kv_len = {} is no multiple of block = {}", a.kv_len, a.block));
  }
  if (a.causal && a.q_len > a.kv_len) {
    return Fail(Code::kInvalidArgument,
                fmt::format("causal with q_len = {} > kv_len = {}: the first queries see no key",
                            a.q_len, a.kv_len));
  }
  return a;
}

std::vector<TensorSpec> Zeros(const std::vector<std::pair<std::string, Shape>>& arrays) {
  std::vector<TensorSpec> specs;
  specs.reserve(arrays.size());
  for (const auto& [name, shape] : arrays) {
    specs.push_back({name, shape, {programs::FillKind::kZeros}});
  }
  return specs;
}

// Arrays between the products that stand in memory at the same time: scores and, narrowed,
// probabilities; their gradients; and the running output of the tiled form.
int64_t TemporaryBytes(const Attention& a) {
  const auto tile = static_cast<int64_t>(a.scores()) / a.blocks();
  const int64_t each = 4 + HostBytesPerElement(a.dtype);
  const int64_t running = a.tiled ? 4 * a.query_shape().elements() : 0;
  return (a.backward() ? 2 : 1) * (tile * each + running);
}

// What the products of one round of the inner loop read and write, by the scores alone: each
// product has them, f32 or narrowed, on one side.
double MovedBytes(const Attention& a) {
  return Count(a.products()) * a.scores() / Count(a.blocks()) * Count(HostBytesPerElement(a.dtype));
}

Result<Program> Build(const Params& params, const Target& target) {
  RL_ASSIGN(const Attention a, Resolve(params));
  Program program;
  program.partitions = target.placement.all ? static_cast<int>(target.mesh->size()) : 1;
  program.scope = target.placement.all ? Scope::kAll : Scope::kDevice;
  program.dtype = a.dtype;
  program.inputs = {{"q", a.query_shape(), {}}, {"k", a.key_shape(), {}}, {"v", a.key_shape(), {}}};
  if (a.backward()) program.inputs.push_back({"do", a.query_shape(), {}});
  std::vector<std::pair<std::string, Shape>> results;
  if (a.forward()) results.emplace_back("o", a.query_shape());
  if (a.backward()) {
    results.emplace_back("dq", a.query_shape());
    results.emplace_back("dk", a.key_shape());
    results.emplace_back("dv", a.key_shape());
  }
  program.carried = Zeros(results);
  for (const TensorSpec& spec : program.carried) program.outputs.push_back(spec.shape);
  program.stablehlo = programs::WriteLoop(
      program.partitions, program.inputs, program.carried,
      [&a](Body& body, const std::vector<Value>& in, const std::vector<Value>& carried) {
        return WriteAttention(body, a, in, carried);
      });

  program.work = AttentionWork(a);
  program.work.useful_flops = UsefulAttentionFlops(a);
  program.work.hbm_bytes = Count(program.device_bytes());
  program.working_set_bytes = program.device_bytes() + TemporaryBytes(a);
  program.rates = {
      {"flops", "FLOP/s", program.work.total_matrix_flops() * program.partitions},
      {"useful_flops", "FLOP/s", program.work.useful_flops->value * program.partitions}};
  program.labels.push_back(fmt::format("{} products{}", a.products(),
                                       a.causal ? "; masked scores are computed too" : ""));
  if (a.direction == AttentionDirection::kBackward) {
    program.labels.emplace_back(a.tiled ? "includes the forward pass, for its row sums"
                                        : "includes the scores again, not the forward's output");
  }
  program.labels.push_back(
      fmt::format("{} of scores in memory beside the arguments, not counted as "
                  "bytes of the op",
                  FormatBytes(TemporaryBytes(a))));
  program.expected.dtype = a.dtype;
  program.expected.moved_bytes = program.work.hbm_bytes + MovedBytes(a);
  program.expected.ops = {{{"dot", "convolution", "custom-call:__onednn$matmul",
                            "custom-call:__cublas", "custom-call:__triton", "fusion:__triton_gemm"},
                           a.products()},
                          // What the compiler may leave outside of the products' fusions.
                          {{"transpose", "copy", "convert", "broadcast", "dynamic-slice",
                            "dynamic-update-slice", "multiply", "divide"},
                           0,
                           true}};
  program.check = [a](const programs::CheckInput& input) { return CheckAttention(a, input); };
  return program;
}

}  // namespace

double Attention::scores() const {
  return Count(batch) * Count(heads) * Count(q_len) * Count(kv_len);
}

int64_t Attention::products() const {
  switch (direction) {
    case AttentionDirection::kForward:
      return 2;  // q·kᵀ, p·v
    case AttentionDirection::kBackward:
      return tiled ? 7 : 5;  // q·kᵀ, do·vᵀ, ds·k, dsᵀ·q, pᵀ·do
    case AttentionDirection::kForwardBackward:
      return tiled ? 7 : 6;  // tiled: q·kᵀ again in the second pass
  }
  return 0;
}

Work AttentionWork(const Attention& a) {
  const double scores = a.scores();
  const double rows = scores / Count(a.kv_len);
  const double dim = Count(a.head_dim);
  const double blocks = Count(a.blocks());
  const double masked = a.causal ? 1 : 0;
  Work work;
  work.matrix_flops[a.dtype] = Count(a.products()) * 2 * scores * dim;
  double vector = 0;
  if (!a.tiled) {
    // Scale, mask, maximum, subtract, sum, divide; then p·dp, its sum, subtract, multiply, scale.
    vector = scores * (5 + masked) + (a.backward() ? scores * 5 : 0);
    work.transcendentals = scores;
  } else {
    // Scale, mask, maximum, subtract, sum; for each block and row: maximum, subtract, and the
    // correction of the sum (2) and of the output (2 a dim); at the end the division.
    vector = scores * (4 + masked) + rows * (blocks * (4 + 2 * dim) + dim);
    work.transcendentals = scores + rows * blocks;
    if (a.backward()) {
      // max + log(sum), delta; scale, mask, subtract, subtract, multiply, scale; dq's sum.
      vector += rows * (1 + 2 * dim) + scores * (5 + masked) + rows * blocks * dim;
      work.transcendentals += scores + rows;
    }
  }
  work.vector_flops[DType::kF32] = vector;
  return work;
}

UsefulFlops UsefulAttentionFlops(const Attention& a) {
  double pairs = Count(a.q_len) * Count(a.kv_len);
  std::string convention = "4·B·H·Sq·Skv·D";
  if (a.causal && a.q_len == a.kv_len) {
    pairs /= 2;
    convention += "/2 (causal half, without the diagonal's other half)";
  } else if (a.causal) {
    pairs = Count(a.q_len) * (Count(a.offset()) + (Count(a.q_len) + 1) / 2);
    convention = "4·B·H·D·(query-key pairs that the causal mask leaves)";
  }
  const double forward = 4 * Count(a.batch) * Count(a.heads) * pairs * Count(a.head_dim);
  switch (a.direction) {
    case AttentionDirection::kForward:
      return {forward, convention};
    case AttentionDirection::kBackward:
      return {2.5 * forward, "2.5 x forward (5 products), forward " + convention};
    case AttentionDirection::kForwardBackward:
      return {3.5 * forward, "3.5 x forward (7 products), forward " + convention};
  }
  return {};
}

Benchmark attention_benchmark() {
  const auto count = [](std::string name, int64_t fallback, std::string help) {
    return ParamSpec{.name = std::move(name), .fallback = fallback, .help = std::move(help)};
  };
  return {.name = "attention",
          .component = Component::kAttention,
          .summary = "scaled dot-product attention, forward and backward",
          .params = {{.name = "form",
                      .type = ParamType::kText,
                      .fallback = std::string("materialised"),
                      .help = "materialised: all scores as one array; tiled: online softmax over "
                              "blocks of keys",
                      .allowed = {"materialised", "tiled"}},
                     {.name = "direction",
                      .type = ParamType::kText,
                      .fallback = std::string("forward"),
                      .help = "backward: dq, dk, dv from q, k, v, do",
                      .allowed = {"forward", "backward", "forward_backward"}},
                     {.name = "causal",
                      .type = ParamType::kBool,
                      .fallback = false,
                      .help = "query i sees keys up to i + kv_len - q_len"},
                     count("batch", 1, "sequences"),
                     count("heads", 8, "query heads"),
                     count("kv_heads", 8, "key and value heads; fewer than heads: GQA, 1: MQA"),
                     count("q_len", 1024, "queries; 1: decode"),
                     count("kv_len", 1024, "keys, the length of the KV cache"),
                     count("head_dim", 128, "size of one head"),
                     count("block", 512, "keys of one tile of the tiled form, at most kv_len"),
                     {.name = "dtype",
                      .type = ParamType::kDType,
                      .fallback = std::string("bf16"),
                      .help = "type of the arrays and of the products' operands; softmax is f32",
                      .allowed = {"bf16", "f16", "f32"}}},
          .build = Build};
}

}  // namespace ridgeline::benchmarks
