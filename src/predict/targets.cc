#include "predict/targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/embedded.h"
#include "spec/fields.h"
#include "spec/shape.h"

namespace ridgeline::predict {
namespace {

using spec::Fields;
using spec::Shape;

constexpr std::string_view kFile = "targets/tpu.yaml";

Result<double> Positive(const Fields& fields, std::string_view key, double most) {
  RL_ASSIGN(const YAML::Node node, fields.Need(key));
  return fields.file().Number(node, key, 1e-3, most, /*whole=*/false);
}

Result<Fields> Inner(const Fields& fields, std::string_view key,
                     std::span<const std::string_view> known) {
  RL_ASSIGN(const YAML::Node node, fields.Need(key));
  return Fields::Read(fields.file(), node, key, known);
}

Status ReadOptions(const Fields& fields, std::map<std::string, std::string>& options) {
  constexpr std::string_view kKnown[] = {"chip_config_name"};
  if (!fields.Has("options")) return {};
  RL_ASSIGN(const Fields inner, Inner(fields, "options", kKnown));
  RL_ASSIGN(options["chip_config_name"], inner.Text("chip_config_name"));
  return {};
}

Status ReadShare(const Fields& fields, std::string_view key, double& share, std::string& basis) {
  constexpr std::string_view kKnown[] = {"value", "basis"};
  RL_ASSIGN(const Fields inner, Inner(fields, key, kKnown));
  RL_ASSIGN(share, Positive(inner, "value", 1));
  RL_ASSIGN(basis, inner.Text("basis"));
  return {};
}

Result<TpuCompiler> ReadOne(const suite::YamlFile& file, const YAML::Node& node) {
  constexpr std::string_view kKnown[] = {"spec",      "topology",     "options",
                                         "clock_hz",  "clock_source", "cycles",
                                         "hbm_share", "link_share",   "verified"};
  constexpr std::string_view kCycles[] = {"least", "most", "basis"};
  RL_ASSIGN(const Fields fields, Fields::Read(file, node, "system", kKnown));
  TpuCompiler one;
  RL_ASSIGN(one.spec, fields.Text("spec"));
  RL_ASSIGN(one.topology, fields.Text("topology"));
  RL_CHECK_OK(ReadOptions(fields, one.options));
  RL_ASSIGN(one.clock_hz, Positive(fields, "clock_hz", 1e11));
  RL_ASSIGN(one.clock_source, fields.Text("clock_source"));
  RL_ASSIGN(const Fields cycles, Inner(fields, "cycles", kCycles));
  RL_ASSIGN(one.cycles_least, Positive(cycles, "least", 10));
  RL_ASSIGN(one.cycles_most, Positive(cycles, "most", 10));
  RL_ASSIGN(one.cycles_basis, cycles.Text("basis"));
  if (one.cycles_least > one.cycles_most) return cycles.Fail("least", "is above 'most'");
  RL_CHECK_OK(ReadShare(fields, "hbm_share", one.hbm_share, one.hbm_basis));
  RL_CHECK_OK(ReadShare(fields, "link_share", one.link_share, one.link_basis));
  RL_ASSIGN(one.verified, fields.TextsOr("verified"));
  return one;
}

Result<std::vector<TpuCompiler>> ReadEmbedded() {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path == kFile) return ReadTpuCompilers(file.text, file.path);
  }
  return Fail(Code::kInternal, "is not compiled in", std::string(kFile));
}

// Ascending extents up to the pod, in steps of a cube's edge.
void AddCubes(const spec::SpecNetwork& network, std::vector<Shape>& shapes) {
  constexpr int64_t kEdge = 4;
  const int64_t most = network.max_chips.value_or(0);
  for (int64_t a = kEdge; a * a * a <= most; a += kEdge) {
    for (int64_t b = a; a * b * b <= most; b += kEdge) {
      for (int64_t c = b; a * b * c <= most; c += kEdge) shapes.push_back({a, b, c});
    }
  }
}

// Of a torus whose spec lists no slices: each extent a power of two, the longer at most twice the
// shorter, up to the pod.
void AddDoublings(const spec::SpecNetwork& network, std::vector<Shape>& shapes) {
  const int64_t most = network.max_chips.value_or(0);
  for (int64_t a = 2; a * a <= most; a *= 2) {
    shapes.push_back({a, a});
    if (2 * a * a <= most) shapes.push_back({a, 2 * a});
  }
}

}  // namespace

Result<std::vector<TpuCompiler>> ReadTpuCompilers(std::string_view text,
                                                  std::string_view file_name) {
  constexpr std::string_view kKnown[] = {"version", "compiler", "systems"};
  RL_ASSIGN(const suite::YamlFile file, suite::YamlFile::Load(text, file_name));
  RL_ASSIGN(const auto entries, file.Entries(file.root(), "targets"));
  RL_CHECK_OK(file.CheckVersion(entries, 1));
  RL_ASSIGN(const Fields fields, Fields::Read(file, file.root(), "targets", kKnown));
  RL_ASSIGN(const std::string tried_with, fields.Text("compiler"));
  RL_ASSIGN(const YAML::Node list, fields.Need("systems"));
  RL_ASSIGN(const std::vector<YAML::Node> systems, file.Items(list, "systems"));
  std::vector<TpuCompiler> compilers;
  for (const YAML::Node& node : systems) {
    RL_ASSIGN(TpuCompiler one, ReadOne(file, node));
    one.tried_with = tried_with;
    compilers.push_back(std::move(one));
  }
  return compilers;
}

Result<std::span<const TpuCompiler>> TpuCompilers() {
  static const Result<std::vector<TpuCompiler>> compilers = ReadEmbedded();
  if (!compilers) return tl::unexpected(compilers.error());
  return std::span<const TpuCompiler>(*compilers);
}

std::string_view PluginFor(const spec::Spec& spec) {
  if (spec.vendor == "google") return "tpu";
  if (spec.vendor == "nvidia") return "cuda";
  return spec.vendor == "amd" ? "rocm" : "";
}

std::vector<Shape> Slices(const spec::Spec& spec) {
  if (!spec.network || spec.network->fabric != Fabric::kTorus) return {};
  std::vector<Shape> shapes = spec.network->shapes;
  if (spec.network->wrap == spec::WrapRule::kCubesOf4) AddCubes(*spec.network, shapes);
  if (shapes.empty() && spec.network->axes == 2) AddDoublings(*spec.network, shapes);
  std::ranges::stable_sort(shapes, {}, spec::Chips);
  return shapes;
}

Result<Target> MakeTarget(const spec::Spec& spec, Shape shape, int64_t slices) {
  if (shape.empty()) {
    const std::vector<Shape> shapes = Slices(spec);
    shape = shapes.empty() ? Shape{1} : shapes.front();
  }
  Target target;
  RL_ASSIGN(target.machine, spec::MakeMachine(spec, shape, slices));
  target.name = target.machine.name;
  target.spec = spec;
  target.shape = std::move(shape);
  target.slices = slices;
  RL_ASSIGN(const auto compilers, TpuCompilers());
  const auto found = std::ranges::find(compilers, spec.name, &TpuCompiler::spec);
  if (found != compilers.end()) target.compiler = &*found;
  RL_ASSIGN(const auto gpus, GpuCompilers());
  const auto gpu = std::ranges::find(gpus, spec.name, &GpuCompiler::spec);
  if (gpu != gpus.end()) target.gpu = &*gpu;
  return target;
}

pjrt::TopologyRequest TopologyOf(const Target& target, const std::string& plugin_path) {
  if (target.gpu != nullptr) {
    return GpuTopology(*target.gpu, target.spec, spec::Chips(target.shape), plugin_path);
  }
  pjrt::TopologyRequest request;
  request.plugin_path = plugin_path;
  request.name = fmt::format("{}:{}", target.compiler->topology, spec::ToString(target.shape));
  for (const auto& [name, value] : target.compiler->options) request.options[name] = value;
  if (target.slices > 1) request.options["num_slices"] = target.slices;
  return request;
}

Result<Mesh> MeshOf(const Target& target, const std::vector<DevicePlace>& places) {
  return target.gpu != nullptr ? GpuMesh(places, target.machine) : MakeMesh(places, {});
}

}  // namespace ridgeline::predict
