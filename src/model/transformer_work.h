// A transformer and what is done with it -> the Work of one device and step, and its memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "core/work.h"
#include "model/transformer.h"

namespace ridgeline::model {

enum class Phase {
  kTrain,    // forward, backward and the optimiser's step
  kPrefill,  // forward over whole prompts, caches written
  kDecode,   // one token for each sequence, caches read
};
std::string_view Name(Phase phase);
Result<Phase> ParsePhase(std::string_view text);

// What a layer keeps for the backward pass, and what it computes again.
struct RematPolicy {
  std::string_view name;
  double elements = 0;       // kept a token and layer, in the compute dtype
  double extra_bytes = 0;    // kept a token and layer besides (statistics of the softmax)
  double linear_share = 0;   // of the forward products that are computed again
  double attention = 0;      // forward passes of attention that are computed again
  double extra_gathers = 0;  // inputs that tensor parallelism gathers once more
};
// none, minimal_with_context, minimal, save_dot_with_context_except_mlp, save_qkv_proj, full: the
// names that MaxText uses, for a LLaMA block with flash attention.
Result<RematPolicy> FindRemat(const Transformer& t, std::string_view name);

// How an axis of the mesh is used.
enum class MeshUse {
  kData,    // the batch, weights on every device
  kFsdp,    // the batch, weights and optimiser state sharded
  kTensor,  // heads and MLP columns
};
std::string_view Name(MeshUse use);
Result<MeshUse> ParseMeshUse(std::string_view text);

struct MeshPart {
  std::string axis;  // of the machine
  double size = 1;
  MeshUse use = MeshUse::kData;
};

struct TransformerJob {
  Transformer shape;
  Phase phase = Phase::kTrain;
  double batch = 1;     // sequences of a step, over all devices
  double sequence = 1;  // tokens of each; decode: tokens in the cache
  bool causal = true;
  DType dtype = DType::kBF16;     // of products and activations
  DType weights = DType::kBF16;   // as stored
  DType kv_cache = DType::kBF16;  // prefill and decode
  std::string optimiser = "adam";
  std::string remat = "full";
  double micro_batches = 1;  // steps of gradient accumulation
  double logit_chunks = 1;   // parts in which the loss is computed
  std::vector<MeshPart> mesh = {};
};

// Bytes of one device.
struct TransformerMemory {
  double weights = 0;
  double gradients = 0;
  double optimiser = 0;
  double gathered = 0;  // weights of two layers, whole
  double activations = 0;
  double logits = 0;
  double kv_cache = 0;

  double total() const;
};

struct TransformerNeed {
  Work work;
  TransformerMemory memory;
  double devices = 1;
  double tokens = 0;  // of the step, over all devices
  double params = 0;
  std::vector<std::string> assumptions;  // in words
};

// Executed flops hold what is computed again and flash attention's own recomputation; useful flops
// are the model flops of an MFU. Bytes are a lower bound: each pass reads every weight once, and
// everything between products is fused. Errors: sizes that do not divide.
Result<TransformerNeed> NeedOf(const TransformerJob& job);

}  // namespace ridgeline::model
