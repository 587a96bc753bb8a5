// `ridgeline predict`: what a workload would take on systems that are not here.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/compiler_options.h"
#include "cli/progress.h"
#include "cli/target_choice.h"
#include "cli/workload_choice.h"
#include "pjrt/lower.h"
#include "predict/prediction.h"
#include "predict/sweep.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string workload;
  std::vector<std::string> targets;
  CompilerOptions compiler;
  std::vector<std::string> sweep;
  std::optional<double> trips;
  int partitions = 0;
  bool explain = false;
  bool no_calibration = false;
  bool ascii = false;
  bool json = false;
};

class Predictor {
 public:
  Predictor(const Options& options, const ChosenWorkload& chosen, predict::CompileCache* cache)
      : options_(options), chosen_(chosen), cache_(cache) {}

  Result<predict::TargetPrediction> Run(const predict::Target& target,
                                        const predict::Flags& flags) const {
    const Result<pjrt::PluginInfo> plugin = CompilerPlugin(target, options_.compiler.plugin);
    const std::string why = WhyNoCompiler(target, plugin);
    if (!why.empty()) {
      return predict::PredictByRoofs(
          chosen_.workload, target,
          flags.empty() ? why : why + ", so that its flags are of no effect");
    }
    RL_ASSIGN(predict::Program program, MakeProgram());
    program.flags = flags;
    RL_ASSIGN(predict::TargetPrediction prediction,
              predict::PredictProgram(program, target, plugin->library,
                                      {.seconds = options_.compiler.limit_s}, cache_));
    // What the plugin says of itself does not hold its package's version.
    if (!plugin->version.empty()) {
      prediction.compiler =
          fmt::format("{} {}{}{}", plugin->package, plugin->version,
                      prediction.compiler.empty() ? "" : "; ", prediction.compiler);
    }
    return prediction;
  }

 private:
  std::string WhyNoCompiler(const predict::Target& target,
                            const Result<pjrt::PluginInfo>& plugin) const {
    if (!target.compiles()) {
      return "no compiler is asked for this system";
    }
    if (chosen_.stablehlo.empty()) {
      return "the workload is no StableHLO program that a compiler takes";
    }
    if (!plugin) {
      return fmt::format("its compiler is not here; `./dev plugins {}` fetches it",
                         predict::PluginFor(target.spec));
    }
    return "";
  }

  Result<predict::Program> MakeProgram() const {
    predict::Program program;
    RL_ASSIGN(program.module, pjrt::MlirModule(chosen_.stablehlo));
    program.shardy = pjrt::UsesShardy(program.module);
    program.partitions = static_cast<int>(chosen_.workload.devices);
    return program;
  }

  const Options& options_;
  const ChosenWorkload& chosen_;
  predict::CompileCache* cache_;
};

// Not fitting is an answer that a script wants to see; a compiler that died is no answer.
int ExitCodeOf(const std::vector<predict::TargetPrediction>& predictions) {
  using predict::PredictionStatus;
  int exit_code = kExitOk;
  for (const predict::TargetPrediction& one : predictions) {
    if (one.status == PredictionStatus::kFailed) return kExitPartial;
    if (one.status != PredictionStatus::kPredicted) exit_code = kExitVerdict;
  }
  return exit_code;
}

Result<int> Predict(const Options& options) {
  RL_ASSIGN(std::vector<predict::Target> targets, ChooseTargets(options.targets));
  for (predict::Target& target : targets) target.calibrated = !options.no_calibration;
  RL_ASSIGN(const ChosenWorkload chosen,
            ChooseWorkload(options.workload,
                           {.partitions = options.partitions, .unknown_trips = options.trips}));
  RL_ASSIGN(const predict::Flags flags, predict::ParseFlags(options.compiler.flags));
  RL_ASSIGN(const std::vector<predict::Flags> variants, predict::FlagSweep(flags, options.sweep));
  const std::unique_ptr<predict::CompileCache> cache = OpenCache(options.compiler);
  const Predictor predictor(options, chosen, cache.get());
  std::vector<predict::TargetPrediction> predictions;
  Progress progress(targets.size() * variants.size(), IsTerminal(STDERR_FILENO) && !options.json);
  for (const predict::Target& target : targets) {
    for (const predict::Flags& variant : variants) {
      progress.Doing(fmt::format("compiling for {} {}", target.name, predict::ToString(variant)));
      progress.Draw();
      RL_ASSIGN(predict::TargetPrediction one, predictor.Run(target, variant));
      predictions.push_back(std::move(one));
      progress.Done();
    }
  }
  progress.Clear();
  TellCache(cache.get());
  if (options.json) {
    Json list = Json::array();
    for (const predict::TargetPrediction& one : predictions) list.push_back(ToJson(one));
    Out(DumpPretty({{"schema", "ridgeline.predict/1"},
                    {"workload", chosen.workload.name},
                    {"devices", chosen.workload.devices},
                    {"predicted", true},
                    {"targets", std::move(list)}}) +
        "\n");
  } else {
    const predict::ReportOptions report = {.table = {.width = TerminalWidth(STDOUT_FILENO),
                                                     .color = UseColor(),
                                                     .ascii = options.ascii},
                                           .explain = options.explain};
    Out(options.sweep.empty() ? predict::PredictionReport(predictions, report)
                              : predict::SweepReport(predictions, report));
  }
  return ExitCodeOf(predictions);
}

}  // namespace

void Add_predict(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "predict", "What a workload would take on systems that are not here: memory, time, money");
  command
      ->add_option("workload", options->workload,
                   "a program (StableHLO, jax.export, HLO), a YAML file, or a name of `ridgeline "
                   "list workloads`")
      ->required();
  command
      ->add_option("--target", options->targets,
                   "system and slice, as `ridgeline targets` lists them: tpu-v5e:4x4, "
                   "h100-sxm:8; may be repeated")
      ->required();
  command->add_flag("--explain", options->explain, "how the time of each operation is made");
  command->add_flag("--no-calibration", options->no_calibration,
                    "products of TPUs at the compiler's estimated cycles as they are");
  command
      ->add_option("--partitions", options->partitions,
                   "devices that the program is compiled for (default: as many as it asks for)")
      ->check(CLI::Range(1, 65536));
  command
      ->add_option("--trips", options->trips,
                   "roofs only: rounds of loops whose rounds the program does not tell")
      ->check(CLI::Range(0.0, 1e15));
  AddCompilerOptions(*command, options->compiler, 900);
  command->add_option(
      "--sweep-flags", options->sweep,
      "FLAG=A,B,…: the program under each value of the compiler's flag, against its "
      "defaults; may be repeated, for every combination");
  command->add_flag("--ascii", options->ascii, "plain ASCII");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  ridgeline predict step.mlir --target tpu-v5e:4x4 --target tpu-v5p:2x2x2\n"
      "  ridgeline predict step.mlir --target tpu-v6e:4x4 --target h100-sxm:8 --explain\n"
      "  ridgeline predict step.mlir --target tpu-v6e:4x4 --sweep-flags "
      "xla_tpu_scoped_vmem_limit_kib=16384,65536\n"
      "  ridgeline predict llama3-8b-train --target tpu-v5p:4x4x4 --target h100-sxm:64 --json\n\n"
      "Exit codes: 0 predicted; 1 does not fit, or the compiler refuses it; 4 a compiler did not "
      "survive.");
  command->callback([options, &exit_code] {
    const Result<int> result = Predict(*options);
    exit_code = result ? *result : Report(result.error());
  });
}

}  // namespace ridgeline::cli
