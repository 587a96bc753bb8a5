#include "predict/gpu_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/embedded.h"
#include "model/group_axes.h"
#include "spec/fields.h"

namespace ridgeline::predict {
namespace {

using spec::Fields;

constexpr std::string_view kFile = "targets/gpu.yaml";
constexpr int64_t kRegisters = 65536;         // of a multiprocessor and of a block, since 3.7
constexpr int64_t kThreadsPerBlock = 1024;    // of every capability
constexpr int64_t kSharedUnasked = 48 << 10;  // what a block gets without asking
constexpr int64_t kAnyCount = int64_t{1} << 40;

Result<double> Number(const Fields& fields, std::string_view key, double least, double most) {
  RL_ASSIGN(const YAML::Node node, fields.Need(key));
  return fields.file().Number(node, key, least, most, /*whole=*/false);
}

Result<int64_t> Count(const Fields& fields, std::string_view key) {
  RL_ASSIGN(const std::optional<int64_t> count, fields.Whole(key, 1, kAnyCount));
  if (!count) return fields.Fail(key, "is missing");
  return *count;
}

Result<Fields> Inner(const Fields& fields, std::string_view key,
                     std::span<const std::string_view> known) {
  RL_ASSIGN(const YAML::Node node, fields.Need(key));
  return Fields::Read(fields.file(), node, key, known);
}

Result<Share> ReadShare(const Fields& fields, std::string_view key) {
  constexpr std::string_view kKnown[] = {"value", "basis"};
  RL_ASSIGN(const Fields inner, Inner(fields, key, kKnown));
  Share share;
  RL_ASSIGN(share.value, Number(inner, "value", 1e-3, 1));
  RL_ASSIGN(share.basis, inner.Text("basis"));
  return share;
}

Result<GpuGeneration> ReadGeneration(const suite::YamlFile& file, const YAML::Node& node) {
  constexpr std::string_view kKnown[] = {"capability",   "accelerated",      "f32_lanes", "threads",
                                         "shared_bytes", "shared_per_block", "source"};
  RL_ASSIGN(const Fields fields, Fields::Read(file, node, "generation", kKnown));
  GpuGeneration one;
  RL_ASSIGN(one.capability, fields.Text("capability"));
  const char* const end = one.capability.data() + one.capability.size();
  const auto [dot, major] = std::from_chars(one.capability.data(), end, one.major);
  const bool read = major == std::errc() && dot != end && *dot == '.' &&
                    std::from_chars(dot + 1, end, one.minor).ptr == end;
  if (!read) return fields.Fail("capability", "is no MAJOR.MINOR, such as '9.0'");
  RL_ASSIGN(const std::string accelerated, fields.TextOr("accelerated", "false"));
  one.accelerated = accelerated == "true";
  RL_ASSIGN(one.f32_lanes, Count(fields, "f32_lanes"));
  RL_ASSIGN(one.threads, Count(fields, "threads"));
  RL_ASSIGN(one.shared_bytes, Count(fields, "shared_bytes"));
  RL_ASSIGN(one.shared_per_block, Count(fields, "shared_per_block"));
  RL_ASSIGN(one.source, fields.Text("source"));
  return one;
}

Result<GpuCompiler> ReadSystem(const suite::YamlFile& file, const YAML::Node& node,
                               const std::vector<GpuGeneration>& generations) {
  constexpr std::string_view kKnown[] = {"spec",      "capability", "multiprocessors",
                                         "clock_hz",  "source",     "matrix_share",
                                         "hbm_share", "link_share", "verified"};
  constexpr std::string_view kMatrix[] = {"least", "most", "basis"};
  RL_ASSIGN(const Fields fields, Fields::Read(file, node, "system", kKnown));
  GpuCompiler one;
  RL_ASSIGN(one.spec, fields.Text("spec"));
  RL_ASSIGN(const std::string capability, fields.Text("capability"));
  const auto found = std::ranges::find(generations, capability, &GpuGeneration::capability);
  if (found == generations.end()) {
    return fields.Fail("capability", fmt::format("'{}' is not among the generations", capability));
  }
  one.generation = *found;
  RL_ASSIGN(one.multiprocessors, Count(fields, "multiprocessors"));
  RL_ASSIGN(one.clock_hz, Number(fields, "clock_hz", 1e6, 1e11));
  RL_ASSIGN(one.source, fields.Text("source"));
  RL_ASSIGN(const Fields matrix, Inner(fields, "matrix_share", kMatrix));
  RL_ASSIGN(one.matrix_least, Number(matrix, "least", 1e-3, 1));
  RL_ASSIGN(one.matrix_most, Number(matrix, "most", 1e-3, 1));
  RL_ASSIGN(one.matrix_basis, matrix.Text("basis"));
  if (one.matrix_least > one.matrix_most) return matrix.Fail("least", "is above 'most'");
  RL_ASSIGN(one.hbm, ReadShare(fields, "hbm_share"));
  RL_ASSIGN(one.link, ReadShare(fields, "link_share"));
  RL_ASSIGN(one.verified, fields.TextsOr("verified"));
  return one;
}

Result<std::vector<GpuCompiler>> ReadEmbedded() {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path == kFile) return ReadGpuCompilers(file.text, file.path);
  }
  return Fail(Code::kInternal, "is not compiled in", std::string(kFile));
}

const spec::SpecLevel* Level(const spec::Spec& spec, std::string_view name) {
  const auto found = std::ranges::find(spec.memory, name, &spec::SpecLevel::name);
  return found == spec.memory.end() ? nullptr : &*found;
}

int64_t Whole(const std::optional<spec::SpecFigure>& figure) {
  return figure ? std::llround(figure->figure.value) : 0;
}

// Nested blocks with an indent.
class TextProto {
 public:
  void Open(std::string_view name) {
    Line(fmt::format("{} {{", name));
    indent_ += 2;
  }
  void Close() {
    indent_ -= 2;
    Line("}");
  }
  void Add(std::string_view name, int64_t value) { Line(fmt::format("{}: {}", name, value)); }
  void Add(std::string_view name, std::string_view word) {
    Line(fmt::format("{}: {}", name, word));
  }
  void Text(std::string_view name, std::string_view text) {
    Line(fmt::format("{}: \"{}\"", name, text));
  }
  const std::string& text() const { return text_; }

 private:
  void Line(const std::string& line) { text_ += std::string(indent_, ' ') + line + "\n"; }
  std::string text_;
  size_t indent_ = 0;
};

void AddVersion(TextProto& out, const std::string& version) {
  constexpr std::string_view kParts[] = {"major", "minor", "patch"};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (const std::string_view part : kParts) {
    int64_t number = 0;
    at = std::from_chars(at, end, number).ptr;
    out.Add(part, number);
    if (at != end) ++at;
  }
}

}  // namespace

Result<std::vector<GpuCompiler>> ReadGpuCompilers(std::string_view text,
                                                  std::string_view file_name) {
  constexpr std::string_view kKnown[] = {"version", "compiler", "cudnn", "generations", "systems"};
  RL_ASSIGN(const suite::YamlFile file, suite::YamlFile::Load(text, file_name));
  RL_ASSIGN(const auto entries, file.Entries(file.root(), "targets"));
  RL_CHECK_OK(file.CheckVersion(entries, 1));
  RL_ASSIGN(const Fields fields, Fields::Read(file, file.root(), "targets", kKnown));
  RL_ASSIGN(const std::string tried_with, fields.Text("compiler"));
  RL_ASSIGN(const std::string cudnn, fields.Text("cudnn"));
  RL_ASSIGN(const YAML::Node generation_list, fields.Need("generations"));
  RL_ASSIGN(const std::vector<YAML::Node> rows, file.Items(generation_list, "generations"));
  std::vector<GpuGeneration> generations;
  for (const YAML::Node& node : rows) {
    RL_ASSIGN(GpuGeneration one, ReadGeneration(file, node));
    generations.push_back(std::move(one));
  }
  RL_ASSIGN(const YAML::Node list, fields.Need("systems"));
  RL_ASSIGN(const std::vector<YAML::Node> systems, file.Items(list, "systems"));
  std::vector<GpuCompiler> compilers;
  for (const YAML::Node& node : systems) {
    RL_ASSIGN(GpuCompiler one, ReadSystem(file, node, generations));
    one.tried_with = tried_with;
    one.cudnn = cudnn;
    compilers.push_back(std::move(one));
  }
  return compilers;
}

Result<std::span<const GpuCompiler>> GpuCompilers() {
  static const Result<std::vector<GpuCompiler>> compilers = ReadEmbedded();
  if (!compilers) return tl::unexpected(compilers.error());
  return std::span<const GpuCompiler>(*compilers);
}

std::string TargetConfig(const GpuCompiler& gpu, const spec::Spec& spec) {
  const GpuGeneration& generation = gpu.generation;
  const spec::SpecLevel* hbm = Level(spec, "hbm");
  const spec::SpecLevel* l2 = Level(spec, "l2");
  const std::string name = spec.device_kinds.empty() ? spec.title : spec.device_kinds.front();
  TextProto out;
  out.Open("gpu_device_info");
  out.Add("threads_per_block_limit", kThreadsPerBlock);
  out.Add("threads_per_warp", 32);
  out.Add("shared_memory_per_block", kSharedUnasked);
  out.Add("shared_memory_per_block_optin", generation.shared_per_block);
  out.Add("shared_memory_per_core", generation.shared_bytes);
  out.Add("threads_per_core_limit", generation.threads);
  out.Add("registers_per_core_limit", kRegisters);
  out.Add("registers_per_block_limit", kRegisters);
  out.Add("core_count", gpu.multiprocessors);
  out.Add("fpus_per_core", generation.f32_lanes);
  out.Add("block_dim_limit_x", (int64_t{1} << 31) - 1);
  out.Add("block_dim_limit_y", 65535);
  out.Add("block_dim_limit_z", 65535);
  out.Add("thread_dim_limit_x", 1024);
  out.Add("thread_dim_limit_y", 1024);
  out.Add("thread_dim_limit_z", 64);
  out.Add("device_address_bits", 64);
  if (hbm != nullptr) {
    out.Add("memory_bandwidth", Whole(hbm->bytes_per_s));
    out.Add("device_memory_size",
            Whole(hbm->runtime_bytes ? hbm->runtime_bytes : hbm->capacity_bytes));
  }
  if (l2 != nullptr) out.Add("l2_cache_size", Whole(l2->capacity_bytes));
  if (spec.host_link) out.Add("pcie_bandwidth", Whole(spec.host_link));
  out.Add("clock_rate_ghz", fmt::format("{}", gpu.clock_hz / 1e9));
  out.Open("cuda_compute_capability");
  out.Add("major", generation.major);
  out.Add("minor", generation.minor);
  if (generation.accelerated) out.Add("feature_extension", "ACCELERATED_FEATURES");
  out.Close();
  if (spec.network && spec.network->links_per_chip) {
    out.Open("device_interconnect_info");
    out.Add("active_links", *spec.network->links_per_chip);
    out.Close();
  }
  out.Text("device_vendor", "NVIDIA Corporation");
  out.Text("name", name);
  out.Text("dnn_version", gpu.cudnn);
  out.Close();
  out.Text("platform_name", "CUDA");
  out.Open("dnn_version_info");
  AddVersion(out, gpu.cudnn);
  out.Close();
  out.Text("device_description_str", name);
  return out.text();
}

pjrt::TopologyRequest GpuTopology(const GpuCompiler& gpu, const spec::Spec& spec, int64_t chips,
                                  const std::string& plugin_path) {
  const int64_t on_host = std::min(chips, spec.chips_per_host.value_or(chips));
  const bool even = chips % on_host == 0;
  pjrt::TopologyRequest request;
  request.plugin_path = plugin_path;
  request.name = fmt::format("{}:{}", gpu.spec, chips);
  // slices x hosts x devices
  request.options["topology"] =
      fmt::format("1x{}x{}", even ? chips / on_host : 1, even ? on_host : chips);
  request.options["target_config"] = TargetConfig(gpu, spec);
  request.dumps = true;
  return request;
}

Result<Mesh> GpuMesh(const std::vector<DevicePlace>& places, const Machine& machine) {
  // The coordinates that the plugin gives are numbers of hosts and devices, and no torus.
  return MakeMesh(std::vector<DevicePlace>(places.size()), model::MeshOf(machine).axes);
}

}  // namespace ridgeline::predict
