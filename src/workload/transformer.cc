#include "workload/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/transformer_work.h"
#include "suite/yaml.h"

namespace ridgeline::workload {
namespace {

using model::MeshPart;
using model::TransformerJob;
using spec::Fields;
using suite::YamlFile;

constexpr int64_t kMostExtent = 1'000'000'000;

constexpr std::array<std::string_view, 15> kKeys = {
    "transformer", "phase",         "batch",        "sequence",  "causal",
    "dtype",       "weights",       "kv_cache",     "optimiser", "remat",
    "mesh",        "micro_batches", "logit_chunks", "name",      "version"};

struct ShapeKey {
  std::string_view name;
  double model::Transformer::*member;
  bool required;
};
constexpr std::array<ShapeKey, 9> kShapeKeys = {{
    {"layers", &model::Transformer::layers, true},
    {"d_model", &model::Transformer::d_model, true},
    {"d_ff", &model::Transformer::d_ff, true},
    {"heads", &model::Transformer::heads, true},
    {"kv_heads", &model::Transformer::kv_heads, false},
    {"head_dim", &model::Transformer::head_dim, false},
    {"vocab", &model::Transformer::vocab, true},
    {"experts", &model::Transformer::experts, false},
    {"experts_per_token", &model::Transformer::experts_per_token, false},
}};

Result<bool> ReadBool(const Fields& fields, std::string_view key, bool fallback) {
  if (!fields.Has(key)) return fallback;
  RL_ASSIGN(const std::string text, fields.Text(key));
  if (text == "true") return true;
  if (text == "false") return false;
  return fields.Fail(key,
                     fmt::format("'{}' is '{}'; expected true or false", key, Printable(text)));
}

Status ReadCount(const Fields& fields, std::string_view key, double& out) {
  RL_ASSIGN(const std::optional<int64_t> value, fields.Whole(key, 1, kMostExtent));
  if (value) out = static_cast<double>(*value);
  return {};
}

Status ReadDType(const Fields& fields, std::string_view key, DType& out) {
  if (!fields.Has(key)) return {};
  RL_ASSIGN(const std::string name, fields.Text(key));
  const Result<DType> dtype = ParseDType(name);
  if (!dtype) return fields.Fail(key, dtype.error().message);
  out = *dtype;
  return {};
}

Result<model::Transformer> ReadShape(const Fields& fields) {
  RL_ASSIGN(const YAML::Node node, fields.Need("transformer"));
  std::vector<std::string_view> known = {"tied", "gated"};
  for (const ShapeKey& key : kShapeKeys) known.push_back(key.name);
  RL_ASSIGN(const Fields shape, Fields::Read(fields.file(), node, "'transformer'", known));
  model::Transformer transformer;
  for (const ShapeKey& key : kShapeKeys) {
    if (key.required) RL_CHECK_OK(shape.Need(key.name));
    RL_CHECK_OK(ReadCount(shape, key.name, transformer.*key.member));
  }
  if (transformer.kv_heads == 0) transformer.kv_heads = transformer.heads;
  if (transformer.head_dim == 0) transformer.head_dim = transformer.d_model / transformer.heads;
  RL_ASSIGN(transformer.tied, ReadBool(shape, "tied", false));
  RL_ASSIGN(const bool gated, ReadBool(shape, "gated", true));
  transformer.mlp_matrices = gated ? 3 : 2;
  return transformer;
}

// mesh: {x: {size: 4, use: fsdp}}
Result<std::vector<MeshPart>> ReadMesh(const Fields& fields) {
  std::vector<MeshPart> mesh;
  if (!fields.Has("mesh")) return mesh;
  const YamlFile& file = fields.file();
  RL_ASSIGN(const YAML::Node node, fields.Need("mesh"));
  RL_ASSIGN(const auto entries, file.Entries(node, "'mesh'"));
  constexpr std::array<std::string_view, 2> kAxisKeys = {"size", "use"};
  for (const YamlFile::Entry& entry : entries) {
    RL_ASSIGN(const Fields axis, Fields::Read(file, entry.value, "an axis of 'mesh'", kAxisKeys));
    MeshPart part{.axis = entry.key};
    RL_CHECK_OK(axis.Need("size"));
    RL_CHECK_OK(ReadCount(axis, "size", part.size));
    RL_ASSIGN(const std::string use, axis.Text("use"));
    const Result<model::MeshUse> parsed = model::ParseMeshUse(use);
    if (!parsed) return axis.Fail("use", parsed.error().message);
    part.use = *parsed;
    mesh.push_back(std::move(part));
  }
  return mesh;
}

Result<TransformerJob> ReadJob(const Fields& fields) {
  TransformerJob job;
  RL_ASSIGN(job.shape, ReadShape(fields));
  RL_ASSIGN(const std::string phase, fields.Text("phase"));
  const Result<model::Phase> parsed = model::ParsePhase(phase);
  if (!parsed) return fields.Fail("phase", parsed.error().message);
  job.phase = *parsed;
  for (const std::string_view key : {"batch", "sequence"}) RL_CHECK_OK(fields.Need(key));
  RL_CHECK_OK(ReadCount(fields, "batch", job.batch));
  RL_CHECK_OK(ReadCount(fields, "sequence", job.sequence));
  RL_CHECK_OK(ReadCount(fields, "micro_batches", job.micro_batches));
  RL_CHECK_OK(ReadCount(fields, "logit_chunks", job.logit_chunks));
  RL_ASSIGN(job.causal, ReadBool(fields, "causal", job.causal));
  RL_CHECK_OK(ReadDType(fields, "dtype", job.dtype));
  job.weights = job.kv_cache = job.dtype;
  RL_CHECK_OK(ReadDType(fields, "weights", job.weights));
  RL_CHECK_OK(ReadDType(fields, "kv_cache", job.kv_cache));
  RL_ASSIGN(job.optimiser, fields.TextOr("optimiser", job.optimiser));
  RL_ASSIGN(job.remat, fields.TextOr("remat", job.remat));
  RL_ASSIGN(job.mesh, ReadMesh(fields));
  return job;
}

}  // namespace

std::span<const std::string_view> TransformerKeys() { return kKeys; }

Status ReadTransformer(const Fields& fields, Workload& workload) {
  RL_ASSIGN(const TransformerJob job, ReadJob(fields));
  const Result<model::TransformerNeed> need = model::NeedOf(job);
  if (!need) {
    return fields.file().Fail(fields.node(), need.error().message);
  }
  for (const MeshPart& part : job.mesh) {
    workload.mesh.push_back({part.axis, static_cast<int64_t>(part.size)});
  }
  workload.devices = static_cast<int64_t>(need->devices);
  workload.memory_bytes = need->memory.total();
  workload.notes = need->assumptions;
  workload.operations.push_back({.name = std::string(Name(job.phase)), .work = need->work});
  return {};
}

}  // namespace ridgeline::workload
