// `ridgeline targets`: systems that programs can be compiled or predicted for without having one.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/spec_choice.h"
#include "cli/target_choice.h"
#include "spec/shape.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string name;
  bool json = false;
};

struct Row {
  const spec::Spec* spec = nullptr;
  const predict::TpuCompiler* tpu = nullptr;
  const predict::GpuCompiler* gpu = nullptr;
  std::vector<spec::Shape> slices;
  std::string plugin;       // that has a compiler for it
  std::string plugin_here;  // package and version; empty: absent

  bool compiles() const { return tpu != nullptr || gpu != nullptr; }  // else by the spec's roofs
  const std::vector<std::string>& verified() const { return tpu ? tpu->verified : gpu->verified; }
  const std::string& tried_with() const { return tpu ? tpu->tried_with : gpu->tried_with; }
};

Result<Row> MakeRow(const spec::Spec& spec) {
  Row row;
  row.spec = &spec;
  RL_ASSIGN(const predict::Target target, predict::MakeTarget(spec, {}));
  row.tpu = target.compiler;
  row.gpu = target.gpu;
  row.slices = predict::Slices(spec);
  row.plugin = predict::PluginFor(spec);
  if (const auto plugin = ChoosePlugin(row.plugin); !row.plugin.empty() && plugin) {
    row.plugin_here = plugin->package.empty()
                          ? plugin->library
                          : fmt::format("{} {}", plugin->package, plugin->version);
  }
  return row;
}

std::string DeviceText(const spec::Spec& spec) {
  return spec.devices_per_chip == 1 ? "chip"
                                    : fmt::format("core, {} a chip", spec.devices_per_chip);
}

std::string SliceRange(const Row& row) {
  if (row.slices.empty()) return row.spec->network ? "any number of chips" : "1 chip";
  return fmt::format("{} .. {} ({})", spec::ToString(row.slices.front()),
                     spec::ToString(row.slices.back()), row.slices.size());
}

std::string Method(const Row& row) { return row.compiles() ? "compiler" : "roofs"; }

Json ToJson(const Row& row) {
  Json slices = Json::array();
  for (const spec::Shape& shape : row.slices) slices.push_back(spec::ToString(shape));
  return {{"name", row.spec->name},
          {"title", row.spec->title},
          {"device", row.spec->devices_per_chip == 1 ? "chip" : "core"},
          {"devices_per_chip", row.spec->devices_per_chip},
          {"predicted_by", Method(row)},
          {"plugin", row.plugin},
          {"plugin_here", row.plugin_here.empty() ? Json(nullptr) : Json(row.plugin_here)},
          {"slices", std::move(slices)},
          {"topology_options", row.tpu ? Json(row.tpu->options) : Json::object()},
          {"verified", row.compiles() ? Json(row.verified()) : Json::array()}};
}

// What would make a system without compiler one that has one.
std::string NextForRoofs(const Row& row) {
  if (row.plugin == "rocm") {
    return "no ROCm plugin is pinned: name one with a row `rocm` in tools/plugins.lock (package "
           "jax-rocm7-pjrt), and the facts of the GPU in data/targets/gpu.yaml";
  }
  if (row.plugin == "cuda") {
    return "the pinned CUDA compiler knows no such GPU: its facts go into data/targets/gpu.yaml "
           "once "
           "a newer one does";
  }
  return "";
}

std::string ListText(const std::vector<Row>& rows) {
  Table table({"target", "one device is a", "predicted by", "plugin", "slices", ""});
  std::vector<std::string> absent;
  for (const Row& row : rows) {
    const bool needs = row.compiles();
    table.Row({row.spec->name, DeviceText(*row.spec), Method(row),
               !needs                    ? "-"
               : row.plugin_here.empty() ? row.plugin + ", absent"
                                         : row.plugin_here,
               SliceRange(row), row.spec->title});
    if (needs && row.plugin_here.empty() &&
        std::find(absent.begin(), absent.end(), row.plugin) == absent.end()) {
      absent.push_back(row.plugin);
    }
  }
  std::string text = table.ToString() +
                     "compiler: programs are compiled ahead of time for that system; roofs: Work "
                     "over the spec's figures.\n`ridgeline targets NAME` lists the slices and what "
                     "was verified.\n";
  std::vector<std::string> nexts;
  for (const Row& row : rows) {
    const std::string next = row.compiles() ? "" : NextForRoofs(row);
    if (next.empty()) continue;
    if (std::ranges::find(nexts, next) == nexts.end()) nexts.push_back(next);
  }
  for (const std::string& next : nexts) text += "roofs: " + next + "\n";
  if (!absent.empty()) {
    text +=
        fmt::format("next: `./dev plugins {}` fetches what is absent\n", fmt::join(absent, " "));
  }
  return text;
}

std::string ShowText(const Row& row) {
  const spec::Spec& spec = *row.spec;
  std::string text =
      fmt::format("{}: {}\none PJRT device is a {}\n", spec.name, spec.title, DeviceText(spec));
  if (row.compiles()) {
    text += fmt::format("compiled by the {} plugin: {}\n", row.plugin,
                        row.plugin_here.empty() ? "absent; next: `./dev plugins " + row.plugin + "`"
                                                : row.plugin_here);
    if (row.tpu != nullptr) {
      for (const auto& [name, value] : row.tpu->options) {
        text += fmt::format("topology option {}={}\n", name, value);
      }
    } else {
      text += fmt::format("told of compute capability {}, {} multiprocessors at {} ({})\n",
                          row.gpu->generation.capability, row.gpu->multiprocessors,
                          FormatRate(row.gpu->clock_hz, "Hz"), row.gpu->source);
    }
  } else {
    text += "predicted by the spec's roofs: no compiler is asked\n";
    const std::string next = NextForRoofs(row);
    if (!next.empty()) text += "next: " + next + "\n";
  }
  if (!row.slices.empty()) {
    text += "slices (the extents in any order):\n";
    for (const spec::Shape& shape : row.slices) {
      text += fmt::format("  {}:{}\n", spec.name, spec::ToString(shape));
    }
  }
  if (row.compiles()) {
    text += row.verified().empty() ? "verified: nothing\n"
                                   : fmt::format("verified with {}:\n", row.tried_with());
    for (const std::string& what : row.verified()) text += "  - " + what + "\n";
  }
  return text;
}

Result<int> Targets(const Options& options) {
  std::vector<Row> rows;
  ChosenSpec chosen;
  if (options.name.empty()) {
    RL_ASSIGN(const std::span<const spec::Spec> specs, spec::EmbeddedSpecs());
    for (const spec::Spec& spec : specs) {
      RL_ASSIGN(Row row, MakeRow(spec));
      rows.push_back(std::move(row));
    }
  } else {
    RL_ASSIGN(chosen, ChooseSpec(options.name));
    RL_ASSIGN(Row row, MakeRow(chosen.spec));
    rows.push_back(std::move(row));
  }
  if (options.json) {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(ToJson(row));
    Out(DumpPretty({{"schema", "ridgeline.targets/1"}, {"targets", std::move(list)}}) + "\n");
  } else {
    Out(options.name.empty() ? ListText(rows) : ShowText(rows.front()));
  }
  return kExitOk;
}

}  // namespace

void Add_targets(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "targets", "Systems that programs can be compiled or predicted for without having one");
  command->add_option("name", options->name, "one system, with its slices and what was verified");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Examples:\n  ridgeline targets\n  ridgeline targets tpu-v5p\n  ridgeline targets --json");
  command->callback([options, &exit_code] {
    const Result<int> result = Targets(*options);
    exit_code = result ? *result : Report(result.error());
  });
}

}  // namespace ridgeline::cli
