// Scaled dot-product attention, o = softmax(q·kᵀ / sqrt(D))·v, with arrays laid out (batch,
// sequence, heads, dim). Query head h reads key and value head h / (heads / kv_heads), which is
// never repeated in memory. Causal masks are aligned at the end: query i sees keys j <= i + kv_len
// - q_len.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "programs/body.h"
#include "programs/program.h"

namespace ridgeline::benchmarks {

enum class AttentionDirection {
  kForward,          // q, k, v -> o
  kBackward,         // q, k, v, do -> dq, dk, dv
  kForwardBackward,  // q, k, v, do -> o, dq, dk, dv
};

struct Attention {
  bool tiled = false;  // online softmax over blocks of keys; else the scores are a whole array
  AttentionDirection direction = AttentionDirection::kForward;
  bool causal = false;
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t q_len = 1;
  int64_t kv_len = 1;
  int64_t head_dim = 1;
  int64_t block = 1;  // keys of one tile
  DType dtype = DType::kF32;

  int64_t group() const { return heads / kv_heads; }  // query heads to a key head
  int64_t offset() const { return kv_len - q_len; }
  int64_t blocks() const { return tiled ? kv_len / block : 1; }
  bool forward() const { return direction != AttentionDirection::kBackward; }
  bool backward() const { return direction != AttentionDirection::kForward; }
  Shape query_shape() const { return {dtype, {batch, q_len, heads, head_dim}}; }
  Shape key_shape() const { return {dtype, {batch, kv_len, kv_heads, head_dim}}; }
  // Keys that query i sees.
  int64_t visible(int64_t query) const { return causal ? query + offset() + 1 : kv_len; }
  double scores() const;  // batch * heads * q_len * kv_len
  // Dots in the program's text. Each, over all its rounds, is 2 * scores * head_dim flops.
  int64_t products() const;
};

// The op: `in` is q, k, v and, for a backward pass, do. `carried` are arrays of the results' shapes
// that may be overwritten.
std::vector<programs::Value> WriteAttention(programs::Body& body, const Attention& attention,
                                            const std::vector<programs::Value>& in,
                                            const std::vector<programs::Value>& carried);

// Work of one call on one device, without the useful flops.
Work AttentionWork(const Attention& attention);
UsefulFlops UsefulAttentionFlops(const Attention& attention);

// Multiply-adds that a full comparison may cost on the host, seconds of it.
inline constexpr double kAttentionCheckBudget = 2e9;

// Within the budget every element is compared with the host's f64 result. Above it: sampled rows of
// every head of o and dq; every other element of o lies within the values that its row sees; dv
// adds up to do (softmax rows add up to 1); and Σ q·dq = Σ k·dk for every key head.
programs::CheckResult CheckAttention(const Attention& attention, const programs::CheckInput& input,
                                     double budget = kAttentionCheckBudget);

}  // namespace ridgeline::benchmarks
