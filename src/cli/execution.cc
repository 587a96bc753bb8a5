#include "cli/execution.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/text.h"
#include "cli/common.h"
#include "cli/environment.h"
#include "cli/progress.h"
#include "engine/supervisor.h"

namespace ridgeline::cli {
namespace {

verdict::Execution ToExecution(const Measurement& m) {
  verdict::Execution execution{
      .seconds = {}, .status = m.status, .reason = m.reason, .labels = m.labels};
  // A time that does not grow with the count is none.
  if (m.time_s && m.time_s->value > 0) execution.seconds = m.time_s->value;
  return execution;
}

}  // namespace

Result<verdict::Execution> Execute(const ChosenWorkload& chosen, const ExecuteOptions& options) {
  const workload::Workload& workload = chosen.workload;
  if (chosen.stablehlo.empty()) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("'{}' is no StableHLO program: there is nothing to execute",
                    Printable(workload.name)),
        workload.source,
        "give the StableHLO text of the program, as jax.jit(f).lower().as_text() writes it");
  }
  RL_ASSIGN(const pjrt::PluginInfo plugin, ChoosePlugin(options.plugin));
  Case c;
  c.component = Component::kImported;
  c.bench = "imported";
  c.params.Set("file", workload.source);
  c.named = true;
  std::optional<Measurement> measured;
  std::string last_phase = "start";
  Progress progress(1, options.progress);
  const engine::SuperviseCallbacks callbacks{
      .ready = [](const Json&) -> Status { return {}; },
      .phase =
          [&](const std::string& id, std::string_view phase) {
            last_phase = phase;
            progress.Doing(fmt::format("{} {}", id, phase));
          },
      .done = [&measured](Measurement m) -> Status {
        measured = std::move(m);
        return {};
      },
      .tick = [&progress] { progress.Draw(); }};
  const Result<engine::SuperviseResult> run =
      engine::Supervise({.plugin_path = plugin.library,
                         .plugin_name = plugin.name,
                         .devices = plugin.name == "cpu" ? 1 : 0,
                         .axes = {},
                         .seed = 1,
                         .cases = {c}},
                        {.worker_command = SelfCommand("worker"),
                         .start_timeout_s = StartTimeout(plugin),
                         .time_limit_s = options.time_limit_s},
                        callbacks);
  progress.Clear();
  if (!run) return tl::unexpected(ExplainStart(run.error(), plugin, {}));
  if (measured) return ToExecution(*measured);
  return verdict::Execution{
      .seconds = {},
      .status = CaseStatus::kFailed,
      .reason = run->stopped
                    ? run->stopped->message
                    : fmt::format("the time limit of {} ended it in phase '{}' (--time-limit)",
                                  FormatSeconds(options.time_limit_s), last_phase),
      .labels = {}};
}

}  // namespace ridgeline::cli
