#include "model/transformer_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace ridgeline::model {
namespace {

constexpr std::array<std::string_view, 3> kPhases = {"train", "prefill", "decode"};
constexpr std::array<std::string_view, 3> kUses = {"data", "fsdp", "tensor"};
// Reads and writes of Adam in bf16 weights and f32 moments: weights read and written (4 B),
// gradients read (2 B), both moments read and written (16 B).
constexpr double kMomentTraffic = 2;  // times the state's size
// A gathered layer is used while the next one arrives.
constexpr double kLayersGathered = 2;

template <typename T>
Result<T> ParseName(std::string_view what, std::string_view text,
                    std::span<const std::string_view> names) {
  const auto it = std::ranges::find(names, text);
  if (it == names.end()) {
    return Fail(Code::kInvalidArgument, UnknownName(what, Printable(text), names));
  }
  return static_cast<T>(it - names.begin());
}

double Bytes(DType dtype) { return Info(dtype).bits / 8.0; }

// Axes of one use, as a Work names them, and the product of their sizes.
struct Group {
  std::string axes;
  double size = 1;
};

Group GroupOf(const TransformerJob& job, MeshUse use) {
  Group group;
  for (const MeshPart& part : job.mesh) {
    if (part.use != use || part.size <= 1) continue;
    group.axes += (group.axes.empty() ? "" : "+") + part.axis;
    group.size *= part.size;
  }
  return group;
}

Status CheckDivides(double whole, double parts, std::string_view what, std::string_view over) {
  if (std::fmod(whole, parts) == 0) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("{} ({}) does not divide over {} {}", what, whole, parts, over));
}

Status CheckSizes(const TransformerJob& job) {
  const Transformer& t = job.shape;
  struct Named {
    std::string_view name;
    double value;
  };
  for (const Named& size :
       {Named{"d_model", t.d_model}, Named{"d_ff", t.d_ff}, Named{"layers", t.layers},
        Named{"heads", t.heads}, Named{"kv_heads", t.kv_heads}, Named{"head_dim", t.head_dim},
        Named{"vocab", t.vocab}, Named{"batch", job.batch}, Named{"sequence", job.sequence},
        Named{"micro_batches", job.micro_batches}, Named{"logit_chunks", job.logit_chunks},
        Named{"experts_per_token", t.experts_per_token}}) {
    if (!(size.value >= 1) || !std::isfinite(size.value)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{} is {}; expected at least 1", size.name, size.value));
    }
  }
  if (t.experts < t.experts_per_token) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} experts a token of {}", t.experts_per_token, t.experts));
  }
  return CheckDivides(t.heads, t.kv_heads, "the number of heads", "key heads");
}

class Builder {
 public:
  explicit Builder(const TransformerJob& job)
      : job_(job),
        t_(job.shape),
        data_(GroupOf(job, MeshUse::kData)),
        fsdp_(GroupOf(job, MeshUse::kFsdp)),
        tensor_(GroupOf(job, MeshUse::kTensor)) {}

  Result<TransformerNeed> Build() {
    RL_CHECK_OK(CheckSizes(job_));
    const double shards = data_.size * fsdp_.size;
    RL_CHECK_OK(CheckDivides(job_.batch, shards * job_.micro_batches, "batch",
                             "batch shards and micro-batches"));
    RL_CHECK_OK(CheckDivides(t_.heads, tensor_.size, "the number of heads", "tensor shards"));
    RL_CHECK_OK(CheckDivides(t_.d_ff, tensor_.size, "d_ff", "tensor shards"));
    need_.devices = shards * tensor_.size;
    need_.params = Params(t_);
    sequences_ = job_.batch / shards;
    const bool decode = job_.phase == Phase::kDecode;
    tokens_ = sequences_ * (decode ? 1 : job_.sequence);
    need_.tokens = tokens_ * shards;
    if (job_.phase == Phase::kTrain) {
      RL_CHECK_OK(Train());
    } else {
      Infer();
    }
    for (const WireUse& use : need_.work.wire) need_.work.wire_bytes += use.wire_bytes;
    return std::move(need_);
  }

 private:
  // Forward flops of one device, in products and in attention.
  double Linear() const { return tokens_ * LinearFlopsPerToken(t_) / tensor_.size; }
  double Attention() const {
    // A token that is generated sees the whole cache.
    const bool causal = job_.causal && job_.phase != Phase::kDecode;
    return tokens_ * AttentionFlopsPerToken(t_, job_.sequence, causal) / tensor_.size;
  }
  double KvShards() const { return std::min(tensor_.size, t_.kv_heads); }
  double WeightBytes() const { return need_.params * Bytes(job_.weights) / tensor_.size; }

  void Wire(const Group& group, std::string collective, double payload, double calls,
            double passes) {
    if (group.size <= 1 || !(payload > 0)) return;
    const double rest = (group.size - 1) / group.size;
    need_.work.wire.push_back(
        {group.axes, std::move(collective), payload, payload * rest * passes, calls});
  }

  // Two blocks a layer, each an all-gather before and a reduce-scatter after its products.
  void TensorWire(double gathers, double scatters) {
    const double payload = tokens_ * t_.d_model * Bytes(job_.dtype) * t_.layers;
    const double calls = t_.layers * job_.micro_batches;
    Wire(tensor_, "all_gather", gathers * payload, gathers * calls, 1);
    Wire(tensor_, "reduce_scatter", scatters * payload, scatters * calls, 1);
  }

  Status Train() {
    RL_ASSIGN(const RematPolicy remat, FindRemat(t_, job_.remat));
    RL_ASSIGN(const StateBytes state, OptimiserState(job_.optimiser));
    Work& work = need_.work;
    // The output layer is not computed again.
    const double head = tokens_ * 2 * t_.vocab * t_.d_model / tensor_.size;
    work.matrix_flops[job_.dtype] = kTrainPasses * Linear() +
                                    remat.linear_share * (Linear() - head) +
                                    (kFlashAttentionTrainPasses + remat.attention) * Attention();
    work.useful_flops = {
        kTrainPasses * (Linear() + Attention()),
        fmt::format("model flops: 3 forward passes, {} attention, nothing computed "
                    "again",
                    job_.causal ? "causal (half)" : "full")};
    TrainMemory(remat, state);
    TrainBytes(remat, state);
    TrainWire(remat);
    return {};
  }

  void TrainMemory(const RematPolicy& remat, const StateBytes& state) {
    const double params = need_.params / tensor_.size;
    const double gradients = job_.micro_batches > 1 ? 4 : std::max(2.0, state.gradients);
    TransformerMemory& memory = need_.memory;
    memory.weights = params * state.weights / fsdp_.size;
    memory.gradients = params * gradients / fsdp_.size;
    memory.optimiser = params * state.optimiser / fsdp_.size;
    const double layer = LayerParams(t_) * Bytes(job_.dtype) / tensor_.size;
    memory.gathered = fsdp_.size > 1 ? kLayersGathered * layer : 0;
    const double live = tokens_ / job_.micro_batches;
    memory.activations = SavedActivationBytes(live, t_.layers, KeptBytes(remat), 1) / tensor_.size;
    // f32 logits and their gradient.
    memory.logits = 8 * live * t_.vocab / tensor_.size / job_.logit_chunks;
  }

  double KeptBytes(const RematPolicy& remat) const {
    return remat.elements * Bytes(job_.dtype) + remat.extra_bytes;
  }

  void TrainBytes(const RematPolicy& remat, const StateBytes& state) {
    const double params = need_.params / tensor_.size;
    // Read in the forward and in the backward pass, and once more for what is computed again.
    const double reads = 2 + (remat.linear_share > 0 ? remat.linear_share : 0);
    const double weights = reads * WeightBytes() * job_.micro_batches;
    const double gradients = 2 * params * job_.micro_batches;
    const double kept = 2 * tokens_ * t_.layers * KeptBytes(remat) / tensor_.size;
    const double logits = 2 * 4 * tokens_ * t_.vocab / tensor_.size;
    const double update =
        params / fsdp_.size * (2 * state.weights + 2 + kMomentTraffic * state.optimiser);
    need_.work.hbm_bytes = weights + gradients + kept + logits + update;
    need_.assumptions.emplace_back(
        "bytes: weights once a pass, kept activations and logits written and read once, the "
        "optimiser's state read and written; everything else fused");
  }

  void TrainWire(const RematPolicy& remat) {
    const double layers = t_.layers * LayerParams(t_) * Bytes(job_.weights) / tensor_.size;
    const double g = job_.micro_batches;
    // Gathered for the forward and again for the backward pass; gradients scattered.
    Wire(fsdp_, "all_gather", 2 * layers * g, 2 * t_.layers * g, 1);
    Wire(fsdp_, "reduce_scatter", layers * g, t_.layers * g, 1);
    Wire(data_, "all_reduce", layers / fsdp_.size, t_.layers, 2);
    TensorWire(6 + remat.extra_gathers, 4);
    need_.assumptions.emplace_back(
        "network: layers only; the embedding and the output layer are left out");
  }

  void Infer() {
    Work& work = need_.work;
    const bool decode = job_.phase == Phase::kDecode;
    work.matrix_flops[job_.dtype] = Linear() + Attention();
    work.useful_flops = {Linear() + Attention(), job_.causal && !decode
                                                     ? "forward, causal attention (half)"
                                                     : "forward, full attention"};
    const double cache =
        sequences_ * job_.sequence * KvBytesPerToken(t_, Bytes(job_.kv_cache)) / KvShards();
    // Decode reads the caches, prefill writes them.
    work.hbm_bytes = WeightBytes() + cache;
    need_.memory.weights = WeightBytes() / fsdp_.size;
    need_.memory.kv_cache = cache;
    need_.memory.logits = 4 * sequences_ * t_.vocab / tensor_.size;
    TensorWire(2, 2);
    Wire(fsdp_, "all_gather", t_.layers * LayerParams(t_) * Bytes(job_.weights) / tensor_.size,
         t_.layers, 1);
    need_.assumptions.emplace_back(
        decode ? "bytes: every weight and every cached key and value read once"
               : "bytes: every weight read once, keys and values written; everything else fused");
  }

  const TransformerJob& job_;
  const Transformer& t_;
  Group data_;
  Group fsdp_;
  Group tensor_;
  double sequences_ = 0;  // of one device
  double tokens_ = 0;     // of one device
  TransformerNeed need_;
};

}  // namespace

std::string_view Name(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }
Result<Phase> ParsePhase(std::string_view text) { return ParseName<Phase>("phase", text, kPhases); }
std::string_view Name(MeshUse use) { return kUses[static_cast<size_t>(use)]; }
Result<MeshUse> ParseMeshUse(std::string_view text) {
  return ParseName<MeshUse>("use of an axis", text, kUses);
}

double TransformerMemory::total() const {
  return weights + gradients + optimiser + gathered + activations + logits + kv_cache;
}

Result<RematPolicy> FindRemat(const Transformer& t, std::string_view name) {
  const double d = t.d_model;
  const double f = t.d_ff;
  const double nh = t.heads * t.head_dim;
  const double kh = t.kv_heads * t.head_dim;
  const double p = ActiveLayerParams(t);
  const double qkv = d * (nh + 2 * kh);
  const double statistics = 4 * t.heads;
  const std::array<RematPolicy, 6> policies = {
      {{"none", 4 * d + 2 * nh + 2 * kh + 3 * f, statistics, 0, 0, 0},
       {"minimal_with_context", 2 * d + 2 * nh + 2 * kh + 2 * f, statistics, 0, 0, 0},
       {"minimal", 2 * d + nh + 2 * kh + 2 * f, 0, 0, 1, 0},
       {"save_dot_with_context_except_mlp", 2 * d + 2 * nh + 2 * kh, statistics, 2 * d * f / p, 0,
        0},
       {"save_qkv_proj", d + nh + 2 * kh, 0, (p - qkv - d * f) / p, 1, 1},
       // The last product of a block is not computed again: nobody needs its result.
       {"full", d, 0, (p - d * f) / p, 1, 1}}};
  std::vector<std::string_view> names;
  for (const RematPolicy& policy : policies) {
    if (policy.name == name) return policy;
    names.push_back(policy.name);
  }
  return Fail(Code::kInvalidArgument, UnknownName("remat policy", Printable(name), names));
}

Result<TransformerNeed> NeedOf(const TransformerJob& job) { return Builder(job).Build(); }

}  // namespace ridgeline::model
