// `ridgeline run`: a suite -> measurements, each on disk before it counts.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/environment.h"
#include "cli/progress.h"
#include "cli/run_header.h"
#include "cli/run_plan.h"
#include "cli/spec_choice.h"
#include "engine/supervisor.h"
#include "report/report.h"
#include "store/results.h"

namespace ridgeline::cli {
namespace {

std::atomic<bool> interrupted = false;
void OnInterrupt(int) { interrupted = true; }

// The newest result file of this suite and host in the current folder.
Result<std::string> NewestFile(const RunPlan& plan) {
  const std::string prefix = fmt::format("ridgeline-{}-{}-", plan.suite_name, HostName());
  std::string newest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(".", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".jsonl")) newest = std::max(newest, name);
  }
  if (newest.empty()) {
    return Fail(Code::kNotFound,
                fmt::format("no file {}*.jsonl in this folder to go on with", prefix), "",
                "name it with --out FILE");
  }
  return newest;
}

std::string DryRunText(const RunPlan& plan, const TimeEstimate& estimate) {
  std::string text;
  for (const Case& c : plan.cases) text += fmt::format("{:<10} {}\n", Name(c.component), c.id());
  return text + fmt::format("{} cases on {} devices ({}), about {} to {}; nothing was run\n",
                            plan.cases.size(), plan.mesh.size(), plan.mesh.note,
                            FormatSeconds(estimate.lo), FormatSeconds(estimate.hi));
}

Json DryRunJson(const RunPlan& plan, const TimeEstimate& estimate) {
  Json cases = Json::array();
  for (const Case& c : plan.cases) {
    cases.push_back({{"id", c.id()}, {"component", Name(c.component)}, {"bench", c.bench}});
  }
  return {{"schema", "ridgeline.plan/1"},
          {"cases", cases},
          {"time_s", {{"lo", Number(estimate.lo)}, {"hi", Number(estimate.hi)}}},
          {"mesh", ToJson(plan.mesh)}};
}

class Runner {
 public:
  Runner(const RunOptions& options, RunPlan plan, std::optional<store::ResultFile> baseline)
      : options_(options),
        plan_(std::move(plan)),
        baseline_(std::move(baseline)),
        progress_(plan_.cases.size(), !options.json) {}

  Result<int> Run() {
    RL_ASSIGN(std::vector<Case> todo, OpenFile());
    for (const Case& c : todo) ++left_[c.component];
    for (size_t i = 0; i < measurements_.size(); ++i) progress_.Done();
    if (todo.empty()) {
      progress_.Say(fmt::format("{} is complete: nothing left to run", path_));
      return Conclude({});
    }
    const engine::SuperviseCallbacks callbacks{
        .ready = [this](const Json& ready) { return CreateFile(ready); },
        .phase = [this](
                     const std::string& id,
                     std::string_view phase) { progress_.Doing(fmt::format("{} {}", id, phase)); },
        .done = [this](Measurement m) { return Record(std::move(m)); },
        .passed =
            [this](const Case& c) {
              const double share = 1.0 / c.precision.passes;
              counted_[c.id()] += share;
              progress_.Advance(share);
            },
        .tick = [this] { progress_.Draw(); }};
    const engine::SuperviseOptions supervise{.worker_command = SelfCommand("worker"),
                                             .start_timeout_s = StartTimeout(plan_.plugin),
                                             .hang_timeout_s = options_.hang_timeout_s,
                                             .time_limit_s = plan_.time_limit_s,
                                             .interrupted = &interrupted};
    std::signal(SIGINT, OnInterrupt);
    std::signal(SIGTERM, OnInterrupt);
    Result<engine::SuperviseResult> result = engine::Supervise({.plugin_path = plan_.plugin.library,
                                                                .plugin_name = plan_.plugin.name,
                                                                .devices = plan_.devices,
                                                                .axes = plan_.axes,
                                                                .seed = options_.seed,
                                                                .cases = std::move(todo)},
                                                               supervise, callbacks);
    if (!result) return tl::unexpected(ExplainStart(result.error(), plan_.plugin, {}));
    return Conclude(*result);
  }

 private:
  // Opens the file to resume, or names the one to make; returns the cases still to run.
  Result<std::vector<Case>> OpenFile() {
    path_ = options_.out;
    if (!options_.resume) {
      if (path_.empty()) {
        path_ = fmt::format("ridgeline-{}-{}-{}.jsonl",
                            std::filesystem::path(plan_.suite_name).stem().string(), HostName(),
                            TimeStamp());
      }
      return plan_.cases;
    }
    if (path_.empty()) {
      RL_ASSIGN(path_, NewestFile(plan_));
    }
    RL_ASSIGN(store::ResumedFile resumed, store::ResumeWriter(path_));
    const std::string conflict = ResumeConflict(resumed.file.header, plan_, options_);
    if (!conflict.empty()) {
      return Fail(Code::kFailedPrecondition, "cannot go on with this file: " + conflict, path_,
                  "run it with the same suite, plugin, devices and seed, or write a new file");
    }
    for (const std::string& note : resumed.file.notes) progress_.Say(note);
    writer_.emplace(std::move(resumed.writer));
    header_ = resumed.file.header;
    measurements_ = std::move(resumed.file.measurements);
    std::vector<Case> todo;
    for (const Case& c : plan_.cases) {
      const std::string id = c.id();
      if (std::ranges::none_of(measurements_, [&id](const Measurement& m) { return m.id == id; })) {
        todo.push_back(c);
      }
    }
    return todo;
  }

  Status CreateFile(const Json& ready) {
    if (writer_) return {};
    header_ = store::MakeHeader(MakeRunHeader(plan_, options_, ready));
    RL_ASSIGN(store::ResultWriter writer, store::ResultWriter::Create(path_, header_));
    writer_.emplace(std::move(writer));
    return {};
  }

  Status Record(Measurement measurement) {
    RL_CHECK_OK(writer_->Append(measurement));
    const Component component = measurement.component;
    const std::string id = measurement.id;
    measurements_.push_back(std::move(measurement));
    progress_.Done(1 - counted_[id]);
    if (--left_[component] == 0) {
      std::vector<Measurement> so_far = measurements_;
      RL_CHECK_OK(Derive(so_far));
      progress_.Say(
          report::ComponentLine(header_, component, so_far, baseline_ ? &*baseline_ : nullptr));
    }
    return {};
  }

  // What the cases come to beside each other, and against the baseline or the spec.
  Status Derive(std::span<Measurement> measurements) const {
    RL_ASSIGN(const std::optional<Machine> spec, SpecOfRun(options_.spec, header_));
    report::Derive(measurements, baseline_ ? &*baseline_ : nullptr, spec ? &*spec : nullptr);
    return {};
  }

  Result<int> Conclude(const engine::SuperviseResult& result) {
    progress_.Clear();
    if (writer_) RL_CHECK_OK(writer_->Close());
    RL_CHECK_OK(Derive(measurements_));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (options_.json) {
      Out(DumpPretty(report::RunJson(header_, measurements_, baseline_ ? &*baseline_ : nullptr)) +
          "\n");
    } else {
      Out(report::ResultTable(header_, measurements_,
                              {.width = TerminalWidth(STDOUT_FILENO), .color = UseColor()}));
      Out("\n" +
          report::SummaryTable(header_, measurements_, baseline_ ? &*baseline_ : nullptr,
                               {.width = TerminalWidth(STDOUT_FILENO), .color = UseColor()}));
    }
    const std::string outcome =
        report::OutcomeLine(header_, measurements_, baseline_ ? &*baseline_ : nullptr);
    const std::string last =
        result.not_run.empty()
            ? fmt::format("completed: {} cases in {}, written to {}{}{}\n", measurements_.size(),
                          FormatSeconds(seconds), path_, outcome.empty() ? "" : ": ", outcome)
            : fmt::format(
                  "stopped: {} cases done, {} not run; go on with: ridgeline run {} --resume "
                  "--out {}\n",
                  measurements_.size(), result.not_run.size(), options_.suite, path_);
    (options_.json ? Err(last) : Out(last));
    return result.stopped ? Report(*result.stopped) : ExitCodeOf(result);
  }

  int ExitCodeOf(const engine::SuperviseResult& result) const {
    if (result.interrupted) return kExitInterrupted;
    bool warned = false;
    for (const Measurement& m : measurements_) {
      if (m.status == CaseStatus::kFailed || m.status == CaseStatus::kWrongResult) {
        return kExitPartial;
      }
      if (m.status == CaseStatus::kUnconverged || m.status == CaseStatus::kSuspect) warned = true;
    }
    if (!result.not_run.empty()) return kExitPartial;
    return warned && options_.strict ? kExitVerdict : kExitOk;
  }

  const RunOptions& options_;
  RunPlan plan_;
  std::optional<store::ResultFile> baseline_;
  Progress progress_;
  std::string path_;
  Json header_ = Json::object();
  std::optional<store::ResultWriter> writer_;
  std::vector<Measurement> measurements_;
  std::map<Component, size_t> left_;
  std::map<std::string, double> counted_;  // what the bar holds of a case that is not done
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Result<int> RunSuite(const RunOptions& options) {
  std::optional<store::ResultFile> baseline;
  if (!options.baseline.empty()) {
    RL_ASSIGN(baseline, store::LoadResults(options.baseline));
    for (const std::string& note : baseline->notes) Err(note + "\n");
  }
  // What is wrong with the spec shows before anything is measured.
  if (!options.spec.empty()) {
    RL_ASSIGN(const ChosenSpec chosen, ChooseSpec(options.spec));
    RL_CHECK_OK(spec::MakeMachine(chosen.spec, chosen.shape, chosen.slices));
  }
  RL_ASSIGN(RunPlan plan, MakePlan(options));
  const TimeEstimate estimate = EstimateTime(plan.cases);
  if (options.dry_run) {
    Out(options.json ? DumpPretty(DryRunJson(plan, estimate)) + "\n" : DryRunText(plan, estimate));
    return kExitOk;
  }
  if (plan.plugin.name != "cpu") {
    Err(fmt::format("{} cases on {} devices, about {} to {}\n", plan.cases.size(), plan.mesh.size(),
                    FormatSeconds(estimate.lo), FormatSeconds(estimate.hi)));
  }
  return Runner(options, std::move(plan), std::move(baseline)).Run();
}

}  // namespace

void Add_run(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Measure a suite and log every figure to a file");
  command->add_option("suite", options->suite,
                      "suite: a name of `ridgeline list suites` or a YAML file (default quick)");
  command->add_option("--plugin", options->plugin, "cpu, tpu, cuda … or the path of a PJRT plugin");
  command->add_option("--only", options->only, "components: network, compute, hbm, host, attention")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--filter", options->filter,
                      "cases whose id holds this text, or matches * and ?");
  command
      ->add_option("--devices", options->devices,
                   "devices to use; CPU: virtual devices (default 4)")
      ->check(CLI::Range(1, 65536));
  command->add_option("--mesh", options->mesh,
                      "logical mesh, e.g. x=2,y=4 (default: the physical axes)");
  command->add_option("--time-limit", options->time_limit, "stop after this time: 90, 10m, 1h");
  command->add_option("--seed", options->seed, "of inputs and of the order of cases (default 1)");
  command
      ->add_option("--precision", options->precision,
                   "relative half-width of the 95 % interval, e.g. 0.01 (default: the suite's)")
      ->check(CLI::Range(0.0001, 0.5));
  command
      ->add_option("--passes", options->passes,
                   "worker processes that share the samples of a case (default: the suite's)")
      ->check(CLI::Range(1, 20));
  command
      ->add_option("--hang-timeout", options->hang_timeout_s,
                   "seconds without a sign of life before a case is given up (default 300)")
      ->check(CLI::PositiveNumber);
  command->add_option("--out", options->out,
                      "result file (default ridgeline-SUITE-HOST-DATE.jsonl)");
  command->add_option("--baseline", options->baseline,
                      "result file to score against and take the expected range from");
  command->add_option("--spec", options->spec,
                      "spec to score against where there is no baseline: a name of `ridgeline "
                      "specs list` or a file (default: the one of the device kind)");
  command->add_flag("--resume", options->resume,
                    "go on with --out, or the newest file of this suite here");
  command->add_flag("--dry-run", options->dry_run, "print the cases and the estimated time only");
  command->add_flag("--strict", options->strict,
                    "unconverged and suspect cases end in exit code 1");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  ridgeline run\n"
      "  ridgeline run network-smoke --devices 8 --mesh x=2,y=4\n"
      "  ridgeline run standard --only compute,hbm --out today.jsonl\n"
      "  ridgeline run standard --resume --out today.jsonl\n"
      "  ridgeline run my_suite.yaml --plugin tpu --time-limit 20m --json");
  command->callback([options, &exit_code] {
    const Result<int> result = RunSuite(*options);
    exit_code = result ? *result : Report(result.error());
  });
}

}  // namespace ridgeline::cli
