#include <fmt/format.h>

#include "model/oracles.h"
#include "model/roofline.h"
#include "model/transformer.h"

namespace ridgeline::model {
namespace {

constexpr Transformer kLlama13b = {5120, 13824, 40, 40, 40, 128, 32000, false, 3, 1, 1};
constexpr Transformer kLlama8b = {4096, 14336, 32, 32, 8, 128, 128256, false, 3, 1, 1};
constexpr Transformer kLlama70b = {8192, 28672, 80, 64, 8, 128, 128256, false, 3, 1, 1};
constexpr Transformer kLlama405b = {16384, 53248, 126, 128, 8, 128, 128256, false, 3, 1, 1};
constexpr Transformer kGemma7b = {3072, 24576, 28, 16, 16, 256, 256128, true, 3, 1, 1};
constexpr Transformer kGemma27b = {4608, 36864, 46, 32, 16, 128, 256128, true, 3, 1, 1};
constexpr Transformer kBook18b = {4096, 16384, 64, 32, 8, 256, 32128, true, 3, 1, 1};
constexpr Transformer kQuestion1 = {4096, 16384, 64, 32, 32, 128, 32000, false, 3, 1, 1};
constexpr double kV5e = 1.97e14;
constexpr double kV5eHbm = 8.1e11;
constexpr double kV5p = 4.59e14;
constexpr double kDay = 86400;

Outputs ParamCounts(const Json&) {
  return {{"llama2-13b_params_B", Params(kLlama13b) / 1e9},
          {"llama3-8b_params_B", Params(kLlama8b) / 1e9},
          {"llama3-70b_params_B", Params(kLlama70b) / 1e9},
          {"llama3-405b_params_B", Params(kLlama405b) / 1e9},
          {"gemma-7b_params_B", Params(kGemma7b) / 1e9},
          {"gemma2-27b_params_B", Params(kGemma27b) / 1e9},
          {"book-18b_params_B", Params(kBook18b) / 1e9},
          {"q1_params_B", Params(kQuestion1) / 1e9}};
}

Outputs TrainFlops(const Json& in) {
  const double t = in["T"];
  const Transformer& m = kLlama70b;
  const double linear = LinearFlopsPerToken(m);
  const double causal = AttentionFlopsPerToken(m, t, true);
  const double full = AttentionFlopsPerToken(m, t, false);
  const double run = RuleOfThumbTrainFlops(70e9, 15e12);
  // Only the projections of a square attention, and a whole layer with F = 4D and two matrices.
  const Transformer projections = {4096, 0, 1, 32, 32, 128, 0, false, 3, 1, 1};
  const Transformer layer = {8192, 4 * 8192, 1, 64, 64, 128, 0, false, 3, 1, 1};
  return {{"train_flops_token_6N", RuleOfThumbTrainFlops(Params(m), 1)},
          {"train_linear_token", kTrainPasses * linear},
          {"train_attn_causal_token", kTrainPasses * causal},
          {"train_attn_full_token", kTrainPasses * full},
          {"attn_over_linear_causal", causal / linear},
          {"attn_over_linear_full", full / linear},
          {"book_T_over_8D", AttentionShareRule(t, m.d_model)},
          {"flops_15T", run},
          {"years_one_v5p", TrainSeconds(run, 1, kV5p, 1) / kDay / 365},
          {"days_8960_40mfu", TrainSeconds(run, 8960, kV5p, 0.4) / kDay},
          {"T_attn_eq_qkvo_D4096", AttentionParityLength(projections)},
          {"T_attn_eq_all_D8192", AttentionParityLength(layer)},
          {"hw_flash_train_mult", kFlashAttentionTrainPasses}};
}

Outputs DeepSeek(const Json&) {
  const double need = RuleOfThumbTrainFlops(37e9, 14.8e12);
  const double chip_seconds = 2.79e6 * 3600;
  return {{"mfu", Mfu(need, 1, 1.513e15, chip_seconds)},
          {"total", need / Mfu(need, 1, 1.513e15, chip_seconds)},
          {"need", need}};
}

Outputs KvCaches(const Json&) {
  const double int8_70b = KvBytesPerToken(kLlama70b, 1);
  const Transformer mha = {8192, 0, 64, 64, 64, 128, 0, false, 3, 1, 1};
  return {{"kv13b_8k_GB", KvBytesPerToken(kLlama13b, 2) * 8192 / 1e9},
          {"kv70b_int8_token_kB", int8_70b / 1e3},
          {"kv70b_int8_32k_GB", int8_70b * 32768 / 1e9},
          {"kv_q1_KiB", KvBytesPerToken(kQuestion1, 1) / 1024},
          {"kv18b_int8_token", static_cast<int64_t>(KvBytesPerToken(kBook18b, 1))},
          {"chips_bs240_32k", (70e9 + 240 * int8_70b * 32768) / 16e9},
          {"mha_64L_8192_GiB", KvBytesPerToken(mha, 1) * 8192 / 0x1p30}};
}

Outputs DecodeSteps(const Json&) {
  Outputs out;
  const auto quiz = [](double batch) {
    return DecodeSeconds({30e9, 30e9, 819.2e6, batch, 16}, kV5e, kV5eHbm) * 1e3;
  };
  const auto llama13b = [](double batch, double kv) {
    return DecodeSeconds({26e9, 13e9, kv, batch, 8}, kV5e, 8.2e11) * 1e3;
  };
  out["quiz_bs4_ms"] = quiz(4);
  out["quiz_bs256_ms"] = quiz(256);
  for (const int batch : {1, 8, 16, 64, 240}) {
    out[fmt::format("l13b_bs{}_ms", batch)] = llama13b(batch, 6.7e9);
  }
  out["l13b_bs240_gqa_ms"] = llama13b(240, 1.34e9);
  const double step = DecodeSeconds({70e9, 70e9, 160e3 * 8192, 32, 8}, kV5e, kV5eHbm);
  out["l70b_int8_4x2_bs32_ms"] = step * 1e3;
  out["full_hbm_v5e_ms"] = DecodeSeconds({16e9, 0, 0, 0, 1}, kV5e, 8.2e11) * 1e3;
  out["tok_s_chip"] = QueriesPerSecond(32, step, 1, 8);
  return out;
}

Outputs Prefill(const Json&) {
  return {{"prefill_8192_s", TrainSeconds(2 * 70e9 * 8192, 16, kV5e, 0.4)},
          {"attn_I_prefill_T8192_G8", PrefillAttentionIntensity(8192, 8)},
          {"attn_I_decode_G8", DecodeAttentionIntensity(8192, 8)},
          {"evict_tokens", EvictedTokens(32, 8192, 4096)},
          {"ratio_prefill_to_gen", PrefillServers(0.91, 32, 0.019, 512)},
          {"bf16_16", CachesThatFit(16 * 16e9 - 140e9, 324e3 * 8192)},
          {"int4_params_GB", 70e9 * 0.5 / 1e9},
          {"qps_bf16", QueriesPerSecond(43, 0.019, 512, 16)}};
}

int64_t Total(std::string_view optimiser) {
  return static_cast<int64_t>(OptimiserState(optimiser).value().total());
}

Outputs States(const Json&) {
  const StateBytes mixed = OptimiserState("mixed").value();
  const double adam = OptimiserState("adam").value().total();
  // The input of each layer, and two of the 2.7 times wider ones of the MLP.
  const double elements13b = 5120 * (1 + 2 * 2.7);
  const double checkpoints = SavedActivationBytes(4e6, 80, 4 * 8192, 2);
  return {{"adam_bf16p_fp32mv", Total("adam")},
          {"adam_bf16p_bf16g_fp32mv", Total("adam_grads")},
          {"zero_mixed_fp16", Total("mixed")},
          {"mixed_fp32grad_master", Total("mixed_f32_grads")},
          {"adam_all_fp32", Total("adam_f32")},
          {"adam_all_bf16", Total("adam_bf16")},
          {"zero1_N64", ZeroBytes(mixed, 1, 64)},
          {"zero2_N64", ZeroBytes(mixed, 2, 64)},
          {"zero3_N64", ZeroBytes(mixed, 3, 64)},
          {"largest_pure_dp_v5p_B", 96e9 / adam / 1e9},
          {"l13b_state_GB", adam * 13e9 / 1e9},
          {"l13b_acts_16M_TB", SavedActivationBytes(16e6, 40, elements13b, 2) / 1e12},
          {"l13b_acts_3M_TB", SavedActivationBytes(3e6, 40, elements13b, 2) / 1e12},
          {"l70b_ckpt4_TB", checkpoints / 1e12},
          {"l70b_chips_96GB", (70e9 * adam + checkpoints) / 96e9},
          {"l70b_per_chip_8960_GB", 21.6e12 / 8960 / 1e9},
          {"years_on_225", 44.0 * 8960 / 225 / 365}};
}

Outputs OpenQuestions(const Json&) {
  Transformer moe = kBook18b;
  moe.experts = 16;
  moe.experts_per_token = 2;
  const double params = moe.layers * LayerParams(moe) + moe.d_model * moe.vocab;
  const auto load = [](double bytes, double chips) {
    return DecodeSeconds({bytes, 0, 0, 0, chips}, kV5e, kV5eHbm) * 1e3;
  };
  const double plain_block = 2 * kBook18b.d_model * kBook18b.d_ff;
  return {{"q3_load_ms", load(Params(kBook18b), 16)},
          {"q5_moe_params_B", params / 1e9},
          {"q5_Bcrit_int8w", CriticalBatch(kV5e, kV5eHbm, 1) * moe.experts / moe.experts_per_token},
          {"q6_load_ms_128chips", load(params, 128)},
          {"q6_free_GB_per_chip", 16 - params / 128 / 1e9},
          {"q4_tp_limit_2axes",
           TensorParallelLimit(plain_block, kBook18b.d_model, 2, Ridge(kV5e, 9e10))},
          {"q5_kv_token_bytes_int8", static_cast<int64_t>(KvBytesPerToken(kBook18b, 1))}};
}

Outputs Gpt3(const Json&) {
  const GptLayer layer{2048, 1, 12288, 96};
  const auto gigabytes = [&](double t, GptActivations kept) {
    return GptActivationBytes(layer, t, kept) / 1e9;
  };
  GptLayer step = layer;
  step.batch = 1536;
  const auto flops = [&](GptRecompute recompute) {
    return GptIterationFlops(step, 96, 51200, recompute);
  };
  const double none = flops(GptRecompute::kNone);
  return {{"per_layer_no_par_GB", gigabytes(1, GptActivations::kTensorParallel)},
          {"tp8_GB", gigabytes(8, GptActivations::kTensorParallel)},
          {"tp8_sp_GB", gigabytes(8, GptActivations::kSequenceParallel)},
          {"tp8_sp_selective_GB", gigabytes(8, GptActivations::kSelective)},
          {"full_GB", gigabytes(8, GptActivations::kFull)},
          {"sel_over_none", gigabytes(1, GptActivations::kSelective) /
                                gigabytes(1, GptActivations::kTensorParallel)},
          {"attn_term", GptAttentionTerm(layer)},
          {"model_flops_iter_B1536", none},
          {"hw_selective_over_model", flops(GptRecompute::kSelective) / none},
          {"full_recompute_over_model", flops(GptRecompute::kFull) / none}};
}

}  // namespace

Oracles TransformerOracles() {
  return {{"3.1", ParamCounts}, {"3.2", TrainFlops},    {"3.3", DeepSeek},
          {"3.4", KvCaches},    {"3.5", DecodeSteps},   {"3.6", Prefill},
          {"3.7", States},      {"3.8", OpenQuestions}, {"3.9", Gpt3}};
}

}  // namespace ridgeline::model
