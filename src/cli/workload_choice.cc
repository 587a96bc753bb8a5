#include "cli/workload_choice.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "cli/common.h"
#include "pjrt/program.h"
#include "workload/program.h"

namespace ridgeline::cli {
namespace {

Result<ChosenWorkload> ReadProgramWorkload(std::string bytes, const std::string& path,
                                           const WorkloadOptions& options) {
  // HLO is read as it is; StableHLO needs the CPU plugin's compiler.
  const Result<pjrt::PluginInfo> plugin = ChoosePlugin("cpu");
  Result<pjrt::AnalysedProgram> program =
      pjrt::ReadProgram(bytes, {.plugin_path = plugin ? plugin->library : std::string(),
                                .partitions = options.partitions,
                                .unknown_trips = options.unknown_trips});
  if (!program) {
    if (!plugin) return tl::unexpected(plugin.error());
    Error error = program.error();
    error.where = error.where.empty() ? path : path + ":" + error.where;
    return tl::unexpected(std::move(error));
  }
  ChosenWorkload chosen;
  workload::Workload& workload = chosen.workload;
  workload = workload::FromAnalysis(
      program->device, std::filesystem::path(path).filename().string(), program->devices);
  workload.source = path;
  workload.notes.insert(
      workload.notes.begin(),
      fmt::format("{} for {} device{}; flops before optimisation, per device", program->form,
                  program->devices, program->devices == 1 ? "" : "s"));
  workload.notes.insert(workload.notes.end(), program->notes.begin(), program->notes.end());
  if (!program->form.starts_with("HLO")) chosen.stablehlo = std::move(bytes);
  return chosen;
}

}  // namespace

bool IsYamlName(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

Result<ChosenWorkload> ChooseWorkload(const std::string& name, const WorkloadOptions& options) {
  ChosenWorkload chosen;
  if (name.find('.') == std::string::npos && name.find('/') == std::string::npos) {
    RL_ASSIGN(const std::string_view text, workload::FindEmbeddedWorkload(name));
    RL_ASSIGN(chosen.workload, workload::ReadWorkload(text, name));
    return chosen;
  }
  RL_ASSIGN(std::string text, ReadTextFile(name));
  if (!IsYamlName(name)) return ReadProgramWorkload(std::move(text), name, options);
  RL_ASSIGN(chosen.workload, workload::ReadWorkload(text, name));
  return chosen;
}

}  // namespace ridgeline::cli
