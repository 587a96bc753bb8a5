#include "model/transformer.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace ridgeline::model {
namespace {

double AttentionParams(const Transformer& t) {
  return 2 * t.d_model * (t.heads + t.kv_heads) * t.head_dim;
}

double MlpParams(const Transformer& t) { return t.mlp_matrices * t.d_model * t.d_ff; }

}  // namespace

double LayerParams(const Transformer& t) { return t.experts * MlpParams(t) + AttentionParams(t); }

double ActiveLayerParams(const Transformer& t) {
  return t.experts_per_token * MlpParams(t) + AttentionParams(t);
}

double Params(const Transformer& t) {
  const double embeddings = (t.tied ? 1 : 2) * t.vocab * t.d_model;
  return t.layers * LayerParams(t) + embeddings + (2 * t.layers + 1) * t.d_model;
}

double LinearFlopsPerToken(const Transformer& t) {
  return 2 * (t.layers * ActiveLayerParams(t) + t.vocab * t.d_model);
}

double AttentionFlopsPerToken(const Transformer& t, double sequence, bool causal, double window) {
  const double per_position = 4 * t.heads * t.head_dim * t.layers;
  if (window > 0 && window < sequence) {
    return per_position * (sequence * window - window * window / 2) / sequence;
  }
  return per_position * sequence * (causal ? 0.5 : 1);
}

double RuleOfThumbTrainFlops(double params, double tokens) { return 6 * params * tokens; }

double AttentionParityLength(const Transformer& t) {
  return 2 * ActiveLayerParams(t) / (4 * t.heads * t.head_dim);
}

double AttentionShareRule(double sequence, double d_model) { return sequence / (8 * d_model); }

double Mfu(double model_flops, double chips, double flops_per_s, double seconds) {
  return model_flops / (chips * flops_per_s * seconds);
}

double TrainSeconds(double flops, double chips, double flops_per_s, double mfu) {
  return flops / (chips * flops_per_s * mfu);
}

double KvBytesPerToken(const Transformer& t, double bytes_per_element) {
  return 2 * bytes_per_element * t.kv_heads * t.head_dim * t.layers;
}

double DecodeSeconds(const DecodeStep& step, double flops_per_s, double bytes_per_s) {
  const double caches = step.batch * step.kv_bytes_per_sequence / (step.chips * bytes_per_s);
  const double compute = 2 * step.batch * step.params / (step.chips * flops_per_s);
  return caches + std::max(compute, step.weight_bytes / (step.chips * bytes_per_s));
}

double PrefillAttentionIntensity(double sequence, double group) {
  return sequence * group / (group + 1);
}

double DecodeAttentionIntensity(double context, double group) {
  return context * group / (context + group);
}

Result<StateBytes> OptimiserState(std::string_view name) {
  struct Named {
    std::string_view name;
    StateBytes bytes;
  };
  static constexpr std::array<Named, 8> kStates = {{{"adam", {2, 0, 8}},
                                                    {"adam_grads", {2, 2, 8}},
                                                    {"mixed", {2, 2, 12}},
                                                    {"mixed_f32_grads", {2, 4, 12}},
                                                    {"adam_f32", {4, 4, 8}},
                                                    {"adam_bf16", {2, 2, 4}},
                                                    {"sgd", {2, 2, 0}},
                                                    {"none", {2, 0, 0}}}};
  std::vector<std::string_view> names;
  for (const Named& state : kStates) {
    if (state.name == name) return state.bytes;
    names.push_back(state.name);
  }
  return Fail(Code::kInvalidArgument, UnknownName("optimiser", Printable(name), names));
}

double ZeroBytes(const StateBytes& state, int stage, double shards) {
  const auto sharded = [&](double bytes, int from) {
    return stage >= from ? bytes / shards : bytes;
  };
  return sharded(state.optimiser, 1) + sharded(state.gradients, 2) + sharded(state.weights, 3);
}

double SavedActivationBytes(double tokens, double layers, double elements_per_token_and_layer,
                            double bytes_per_element) {
  return tokens * layers * elements_per_token_and_layer * bytes_per_element;
}

double TensorParallelLimit(double block_params, double d_model, double axes, double ridge) {
  return axes * block_params / (2 * d_model) / ridge;
}

double CachesThatFit(double free_bytes, double kv_bytes_per_sequence) {
  return free_bytes / kv_bytes_per_sequence;
}

double EvictedTokens(double batch, double prompt, double answer) {
  return batch * (prompt + answer) / answer;
}

double PrefillServers(double prefill_s, double batch, double step_s, double answer) {
  return prefill_s * batch / (step_s * answer);
}

double QueriesPerSecond(double batch, double step_s, double answer, double chips) {
  return batch / (step_s * answer * chips);
}

double GptAttentionTerm(const GptLayer& layer) {
  return 5 * layer.heads * layer.sequence / layer.hidden;
}

double GptActivationBytes(const GptLayer& layer, double t, GptActivations kept) {
  const double sbh = layer.sequence * layer.batch * layer.hidden;
  const double attention = GptAttentionTerm(layer);
  switch (kept) {
    case GptActivations::kTensorParallel:
      return sbh * (10 + 24 / t + attention / t);
    case GptActivations::kSequenceParallel:
      return sbh / t * (34 + attention);
    case GptActivations::kSelective:
      return sbh / t * 34;
    case GptActivations::kFull:
      return 2 * sbh;
  }
  return 0;
}

double GptIterationFlops(const GptLayer& layer, double layers, double vocab,
                         GptRecompute recompute) {
  const double tokens = layer.batch * layer.sequence;
  const double products = 24 * tokens * layer.hidden * layer.hidden * layers;  // one forward pass
  const double attention = products * layer.sequence / (6 * layer.hidden);
  const double logits = 6 * tokens * layer.hidden * vocab;
  const double passes = recompute == GptRecompute::kFull ? 4 : 3;
  // Selective recomputation doubles the term of attention, as the paper prints it.
  const double attention_passes = recompute == GptRecompute::kNone        ? 3
                                  : recompute == GptRecompute::kSelective ? 6
                                                                          : 4;
  return passes * products + attention_passes * attention + logits;
}

}  // namespace ridgeline::model
