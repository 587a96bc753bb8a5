// Arithmetic of transformers in closed form: parameters, flops, caches, states, activations. The
// JAX scaling book, chapters 4 to 7; Narayanan 2021; Korthikanti 2022; Rajbhandari 2020 (ZeRO).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ridgeline::model {

struct Transformer {
  double d_model = 0;
  double d_ff = 0;  // of each matrix
  double layers = 0;
  double heads = 0;     // of queries
  double kv_heads = 0;  // of keys and values
  double head_dim = 0;
  double vocab = 0;
  bool tied = false;        // the output layer is the embedding, transposed
  double mlp_matrices = 3;  // 3 gated, 2 plain
  double experts = 1;
  double experts_per_token = 1;
};

// Weights of one layer: all of them, or those that a token meets (mixture of experts).
double LayerParams(const Transformer& t);
double ActiveLayerParams(const Transformer& t);
// Layers, embedding, output layer and norms.
double Params(const Transformer& t);

// Forward flops of a token in all products with weights. 1 multiply-add is 2.
double LinearFlopsPerToken(const Transformer& t);
// Forward flops of a token in scores and their product with the values. Causal attention counts
// half; a window of w tokens limits how far a token looks (0: none).
double AttentionFlopsPerToken(const Transformer& t, double sequence, bool causal,
                              double window = 0);
// Training is this many forward passes: the backward pass needs two. With flash attention the
// scores are computed once more in hardware, which the model flops of an MFU do not count.
inline constexpr double kTrainPasses = 3;
inline constexpr double kFlashAttentionTrainPasses = 3.5;
// Six flops a parameter and token: the rule of thumb, embedding counted, attention not.
double RuleOfThumbTrainFlops(double params, double tokens);

// Sequence length at which full attention takes as many flops as all products with weights.
double AttentionParityLength(const Transformer& t);
// Of attention's flops to those of the products, for F = 4D, D = NH, all heads with their own keys.
double AttentionShareRule(double sequence, double d_model);

// Share of the machine's peak.
double Mfu(double model_flops, double chips, double flops_per_s, double seconds);
double TrainSeconds(double flops, double chips, double flops_per_s, double mfu);

// Keys and values of one token over all layers, in bytes.
double KvBytesPerToken(const Transformer& t, double bytes_per_element);

// One token for each of `batch` sequences on n chips. Attention reads the caches; the products read
// every weight once, or are bound by compute.
struct DecodeStep {
  double weight_bytes = 0;
  double params = 0;
  double kv_bytes_per_sequence = 0;
  double batch = 1;
  double chips = 1;
};
double DecodeSeconds(const DecodeStep& step, double flops_per_s, double bytes_per_s);

// FLOP per byte of attention with `group` query heads a key head, bf16.
double PrefillAttentionIntensity(double sequence, double group);
double DecodeAttentionIntensity(double context, double group);

// Bytes a parameter that training keeps, and in which of them ZeRO shards.
struct StateBytes {
  double weights = 2;
  double gradients = 0;
  double optimiser = 8;  // moments, and master weights where there are any

  double total() const { return weights + gradients + optimiser; }
};
// adam (bf16 weights, f32 moments), adam_grads (bf16 gradients too), mixed (ZeRO: f16 weights and
// gradients, f32 master weights and moments), mixed_f32_grads, adam_f32, adam_bf16, sgd (no
// state), none (inference).
Result<StateBytes> OptimiserState(std::string_view name);
// Bytes a parameter and chip when the optimiser (stage 1), gradients too (2), weights too (3) are
// sharded over `shards`.
double ZeroBytes(const StateBytes& state, int stage, double shards);

// Activations that are kept for the backward pass.
double SavedActivationBytes(double tokens, double layers, double elements_per_token_and_layer,
                            double bytes_per_element);

// Chips up to which a block of `block_params` can be split along `axes` axes of a torus before its
// collectives take longer than its products. `ridge` is that of one axis.
double TensorParallelLimit(double block_params, double d_model, double axes, double ridge);

// Serving with prompts and answers of fixed length.
double CachesThatFit(double free_bytes, double kv_bytes_per_sequence);
// Tokens of prompts and answers that leave the cache for each step of `batch` sequences.
double EvictedTokens(double batch, double prompt, double answer);
// Prefill servers for each server that generates.
double PrefillServers(double prefill_s, double batch, double step_s, double answer);
double QueriesPerSecond(double batch, double step_s, double answer, double chips);

// Activations of one layer of a GPT block with dropout, in 16 bit (Korthikanti 2022, equations 1 to
// 6): tensor parallelism over t, with sequence parallelism, with the attention recomputed, or only
// the layer's input kept.
enum class GptActivations { kTensorParallel, kSequenceParallel, kSelective, kFull };
struct GptLayer {
  double sequence = 0;
  double batch = 0;
  double hidden = 0;
  double heads = 0;
};
double GptAttentionTerm(const GptLayer& layer);  // 5as/h
double GptActivationBytes(const GptLayer& layer, double tensor_parallel, GptActivations kept);

// Flops of one iteration of GPT training (Narayanan 2021), with what is computed again.
enum class GptRecompute { kNone, kSelective, kFull };
double GptIterationFlops(const GptLayer& layer, double layers, double vocab,
                         GptRecompute recompute);

}  // namespace ridgeline::model
