// A transformer's Work: against the closed forms, and how it is shared out over a mesh.
#include "model/transformer_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace ridgeline::model {
namespace {

constexpr Transformer kLlama8b = {4096, 14336, 32, 32, 8, 128, 128256, false, 3, 1, 1};

TransformerJob Job(Phase phase) {
  TransformerJob job;
  job.shape = kLlama8b;
  job.phase = phase;
  job.batch = 16;
  job.sequence = 8192;
  return job;
}

double Flops(const TransformerNeed& need) { return need.work.matrix_flops.at(DType::kBF16); }

const WireUse& Wire(const TransformerNeed& need, std::string_view axis,
                    std::string_view collective) {
  const auto it = std::ranges::find_if(need.work.wire, [&](const WireUse& use) {
    return use.axis == axis && use.collective == collective;
  });
  EXPECT_NE(it, need.work.wire.end()) << axis << " " << collective;
  return *it;
}

TEST(TransformerWork, PrefillIsOneForwardPass) {
  const TransformerNeed need = NeedOf(Job(Phase::kPrefill)).value();
  const double tokens = 16 * 8192;
  EXPECT_DOUBLE_EQ(Flops(need), tokens * (LinearFlopsPerToken(kLlama8b) +
                                          AttentionFlopsPerToken(kLlama8b, 8192, true)));
  EXPECT_DOUBLE_EQ(need.work.hbm_bytes,
                   2 * Params(kLlama8b) + tokens * KvBytesPerToken(kLlama8b, 2));
  EXPECT_EQ(need.tokens, tokens);
  EXPECT_EQ(need.work.wire_bytes, 0);
}

TEST(TransformerWork, DecodeReadsWeightsAndCaches) {
  TransformerJob job = Job(Phase::kDecode);
  job.kv_cache = DType::kS8;
  const TransformerNeed need = NeedOf(job).value();
  EXPECT_DOUBLE_EQ(Flops(need), 16 * (LinearFlopsPerToken(kLlama8b) +
                                      AttentionFlopsPerToken(kLlama8b, 8192, false)));
  EXPECT_DOUBLE_EQ(need.work.hbm_bytes,
                   2 * Params(kLlama8b) + 16 * 8192 * KvBytesPerToken(kLlama8b, 1));
  EXPECT_DOUBLE_EQ(need.memory.kv_cache, 16 * 8192 * KvBytesPerToken(kLlama8b, 1));
}

// model.md 5.3: executed to model flops of LLaMA-3-8B at 8192 tokens, by policy; no logits there.
TEST(TransformerWork, RematCostsWhatTheTableSays) {
  struct Row {
    std::string_view policy;
    double bytes;
    double share;
  };
  for (const Row& row :
       {Row{"none", 139392, 0}, Row{"minimal_with_context", 94336, 0},
        Row{"minimal", 86016, 2.0 / 15}, Row{"save_dot_with_context_except_mlp", 36992, 7.0 / 15},
        Row{"save_qkv_proj", 20480, 2.0 / 3}, Row{"full", 8192, 23.0 / 30}}) {
    const RematPolicy policy = FindRemat(kLlama8b, row.policy).value();
    EXPECT_DOUBLE_EQ(2 * policy.elements + policy.extra_bytes, row.bytes) << row.policy;
    const double linear = 2 * LayerParams(kLlama8b);
    const double attention = AttentionFlopsPerToken(kLlama8b, 8192, true) / kLlama8b.layers;
    const double again = policy.linear_share * linear + policy.attention * attention;
    EXPECT_NEAR(again / (linear + attention), row.share, 1e-9) << row.policy;
  }
  EXPECT_THAT(FindRemat(kLlama8b, "fulll").error().message,
              testing::HasSubstr("did you mean 'full'"));
}

TEST(TransformerWork, TrainingIsThreePassesAndWhatIsComputedAgain) {
  TransformerJob job = Job(Phase::kTrain);
  job.remat = "none";
  const TransformerNeed none = NeedOf(job).value();
  const double tokens = 16 * 8192;
  const double linear = tokens * LinearFlopsPerToken(kLlama8b);
  const double attention = tokens * AttentionFlopsPerToken(kLlama8b, 8192, true);
  EXPECT_DOUBLE_EQ(none.work.useful_flops->value, 3 * (linear + attention));
  EXPECT_DOUBLE_EQ(Flops(none), 3 * linear + 3.5 * attention);
  job.remat = "full";
  const TransformerNeed full = NeedOf(job).value();
  EXPECT_GT(Flops(full), Flops(none));
  EXPECT_EQ(full.work.useful_flops->value, none.work.useful_flops->value);
  EXPECT_LT(full.memory.activations, none.memory.activations / 10);
  EXPECT_LT(full.work.hbm_bytes, none.work.hbm_bytes);
}

TEST(TransformerWork, MemoryIsThatOfTheOptimiser) {
  TransformerJob job = Job(Phase::kTrain);
  const double params = Params(kLlama8b);
  const TransformerMemory one = NeedOf(job).value().memory;
  EXPECT_DOUBLE_EQ(one.weights + one.gradients + one.optimiser, 12 * params);
  job.mesh = {{"x", 16, MeshUse::kFsdp}};
  const TransformerMemory sharded = NeedOf(job).value().memory;
  EXPECT_DOUBLE_EQ(sharded.weights + sharded.gradients + sharded.optimiser, 12 * params / 16);
  EXPECT_DOUBLE_EQ(sharded.gathered, 2 * 2 * LayerParams(kLlama8b));
  EXPECT_DOUBLE_EQ(sharded.activations, one.activations / 16);
  job.mesh = {};
  job.micro_batches = 4;
  EXPECT_DOUBLE_EQ(NeedOf(job)->memory.gradients, 4 * params) << "summed in f32";
  EXPECT_DOUBLE_EQ(NeedOf(job)->memory.activations, one.activations / 4);
  job.logit_chunks = 8;
  EXPECT_DOUBLE_EQ(NeedOf(job)->memory.logits, one.logits / 32);
  EXPECT_NEAR(one.total(),
              one.weights + one.gradients + one.optimiser + one.activations + one.logits, 1);
}

TEST(TransformerWork, AMeshSharesTheWork) {
  TransformerJob job = Job(Phase::kTrain);
  const TransformerNeed one = NeedOf(job).value();
  job.mesh = {{"x", 4, MeshUse::kFsdp}, {"y", 2, MeshUse::kTensor}, {"z", 2, MeshUse::kData}};
  const TransformerNeed need = NeedOf(job).value();
  EXPECT_EQ(need.devices, 16);
  EXPECT_EQ(need.tokens, one.tokens);
  EXPECT_DOUBLE_EQ(Flops(need), Flops(one) / 16);
  // model.md section 4: weights gathered twice and scattered once, in halves of two tensor shards.
  const double layers = 32 * LayerParams(kLlama8b) * 2 / 2;
  EXPECT_DOUBLE_EQ(Wire(need, "x", "all_gather").payload_bytes, 2 * layers);
  EXPECT_DOUBLE_EQ(Wire(need, "x", "all_gather").wire_bytes, 2 * layers * 3 / 4);
  EXPECT_DOUBLE_EQ(Wire(need, "x", "reduce_scatter").payload_bytes, layers);
  EXPECT_DOUBLE_EQ(Wire(need, "z", "all_reduce").payload_bytes, layers / 4);
  EXPECT_DOUBLE_EQ(Wire(need, "z", "all_reduce").wire_bytes, layers / 4) << "2 (n-1)/n, n = 2";
  // Eleven collectives of tokens x D a layer under full recomputation.
  const double tokens = 16.0 * 8192 / 8;
  EXPECT_DOUBLE_EQ(
      Wire(need, "y", "all_gather").payload_bytes + Wire(need, "y", "reduce_scatter").payload_bytes,
      11 * tokens * 4096 * 2 * 32);
  double sum = 0;
  for (const WireUse& use : need.work.wire) sum += use.wire_bytes;
  EXPECT_DOUBLE_EQ(need.work.wire_bytes, sum);
}

TEST(TransformerWork, ExpertsCountOnceAToken) {
  TransformerJob job = Job(Phase::kPrefill);
  job.shape.experts = 8;
  job.shape.experts_per_token = 2;
  const TransformerNeed need = NeedOf(job).value();
  EXPECT_DOUBLE_EQ(need.params, Params(job.shape));
  EXPECT_DOUBLE_EQ(
      Flops(need),
      16 * 8192 * (LinearFlopsPerToken(job.shape) + AttentionFlopsPerToken(job.shape, 8192, true)));
}

// reports.md E4: causal counts half; key heads change bytes, not flops; the batch counts once.
TEST(TransformerWork, E4AttentionConventions) {
  const Transformer one_layer = {16 * 128, 1, 1, 16, 4, 128, 1, false, 3, 1, 1};
  EXPECT_EQ(2 * 8192 * AttentionFlopsPerToken(one_layer, 8192, false), 1099511627776);
  EXPECT_EQ(2 * 8192 * AttentionFlopsPerToken(one_layer, 8192, true), 549755813888);
  Transformer mha = one_layer;
  mha.kv_heads = 16;
  EXPECT_EQ(AttentionFlopsPerToken(mha, 8192, true), AttentionFlopsPerToken(one_layer, 8192, true));
  EXPECT_EQ(KvBytesPerToken(mha, 2), 4 * KvBytesPerToken(one_layer, 2));
  // A window that the sequence does not reach changes nothing but the triangle it cuts.
  EXPECT_EQ(AttentionFlopsPerToken(one_layer, 4096, true, 8192),
            AttentionFlopsPerToken(one_layer, 4096, true));
  EXPECT_LT(AttentionFlopsPerToken(one_layer, 8192, true, 1024),
            AttentionFlopsPerToken(one_layer, 8192, true) / 3);
}

TEST(TransformerWork, SizesThatDoNotFitAreNamed) {
  TransformerJob job = Job(Phase::kTrain);
  job.mesh = {{"x", 3, MeshUse::kData}};
  EXPECT_THAT(NeedOf(job).error().message,
              testing::HasSubstr("batch (16) does not divide over 3 batch shards"));
  job.mesh = {{"x", 64, MeshUse::kTensor}};
  EXPECT_THAT(NeedOf(job).error().message, testing::HasSubstr("number of heads (32)"));
  job.mesh = {};
  job.optimiser = "adma";
  EXPECT_THAT(NeedOf(job).error().message, testing::HasSubstr("did you mean 'adam'"));
  job = Job(Phase::kTrain);
  job.shape.layers = 0;
  EXPECT_THAT(NeedOf(job).error().message, testing::HasSubstr("layers is 0"));
  job = Job(Phase::kTrain);
  job.shape.experts_per_token = 2;
  EXPECT_THAT(NeedOf(job).error().message, testing::HasSubstr("2 experts a token of 1"));
  EXPECT_THAT(ParsePhase("trian").error().message, testing::HasSubstr("did you mean 'train'"));
  EXPECT_EQ(ParseMeshUse("fsdp"), MeshUse::kFsdp);
}

}  // namespace
}  // namespace ridgeline::model
