// `ridgeline compile`: the programs of a suite through the compiler of accelerators that are not
// here.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/compiler_options.h"
#include "cli/progress.h"
#include "cli/suite_choice.h"
#include "cli/target_choice.h"
#include "predict/case_kinds.h"
#include "predict/compile_cache.h"
#include "predict/suite_check.h"
#include "predict/sweep.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string suite = "quick";
  std::vector<std::string> targets;
  CompilerOptions compiler;
  std::string filter;
  bool every_device = false;
  bool json = false;
};

struct CheckedTarget {
  std::string name;
  std::string topology;
  pjrt::PluginInfo plugin;
  Mesh mesh;
  std::vector<predict::CheckedCase> cases;
  double wall_s = 0;
};

Result<predict::SuiteTarget> Prepare(const predict::Target& target, const std::string& library,
                                     const Options& options, predict::CompileCache* cache) {
  if (!target.compiles()) {
    return Fail(Code::kUnimplemented,
                fmt::format("no compiler that works ahead of time is known for {}", target.name),
                "", "`ridgeline targets` lists those that have one");
  }
  if (target.slices > 1) {
    return Fail(Code::kUnimplemented,
                fmt::format("{}: our suites are programs of one slice", target.name), "",
                "leave ,slices= out; `ridgeline predict` takes several slices");
  }
  predict::SuiteTarget suite;
  suite.topology = predict::TopologyOf(target, library);
  suite.limits.seconds = options.compiler.limit_s;
  RL_ASSIGN(const std::vector<DevicePlace> places, predict::ListPlaces(suite.topology));
  RL_ASSIGN(suite.mesh, predict::MeshOf(target, places));
  suite.platform = predict::PluginFor(target.spec);
  suite.cache = cache;
  RL_ASSIGN(suite.flags, predict::ParseFlags(options.compiler.flags));
  return suite;
}

Result<CheckedTarget> Check(const predict::Target& target, const suite::Suite& suite,
                            const pjrt::PluginInfo& plugin, const Options& options,
                            predict::CompileCache* cache) {
  RL_ASSIGN(const predict::SuiteTarget compile, Prepare(target, plugin.library, options, cache));
  RL_ASSIGN(const std::vector<Case> cases,
            suite::ExpandSuite(suite, {.mesh = compile.mesh,
                                       .device_count = static_cast<int>(compile.mesh.size()),
                                       .only = {},
                                       .filter = options.filter,
                                       .precision = {}}));
  CheckedTarget checked{.name = target.name,
                        .topology = compile.topology.name,
                        .plugin = plugin,
                        .mesh = compile.mesh,
                        .cases = {},
                        .wall_s = 0};
  const auto start = std::chrono::steady_clock::now();
  std::vector<predict::CaseKind> kinds;
  if (options.every_device) {
    for (const Case& c : cases) kinds.push_back({c, 1});
  } else {
    kinds = predict::ExamplesOf(cases);
  }
  Progress progress(kinds.size(), IsTerminal(STDERR_FILENO) && !options.json);
  for (const predict::CaseKind& kind : kinds) {
    progress.Doing(fmt::format("{} {}", target.name, kind.example.id()));
    progress.Draw();
    checked.cases.push_back(predict::CheckCase(kind.example, compile));
    checked.cases.back().cases = kind.cases;
    progress.Done();
  }
  progress.Clear();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  checked.wall_s = took.count();
  return checked;
}

// Package, version and build date, where one program at least was compiled.
std::string CompilerOf(const CheckedTarget& checked) {
  const auto named = std::ranges::find_if(
      checked.cases, [](const predict::CheckedCase& one) { return !one.compiler.empty(); });
  return fmt::format("{} {}{}{}", checked.plugin.package, checked.plugin.version,
                     named == checked.cases.end() ? "" : "; ",
                     named == checked.cases.end() ? "" : named->compiler);
}

Json TargetJson(const CheckedTarget& checked) {
  Json programs = Json::array();
  for (const predict::CheckedCase& one : checked.cases) programs.push_back(ToJson(one));
  Json json = {{"name", checked.name},
               {"topology", checked.topology},
               {"predicted", true},
               {"compiler", CompilerOf(checked)},
               {"plugin", ToJson(checked.plugin)},
               {"mesh", ToJson(checked.mesh)}};
  json.update(ToJson(predict::Count(checked.cases)));
  json["cases"] = std::move(programs);
  json["wall_s"] = Number(checked.wall_s);
  return json;
}

int ExitCodeOf(const std::vector<CheckedTarget>& all) {
  int exit_code = kExitOk;
  for (const CheckedTarget& checked : all) {
    const predict::SuiteCounts counts = predict::Count(checked.cases);
    if (counts.failed > 0) return kExitPartial;
    if (!counts.good()) exit_code = kExitVerdict;
  }
  return exit_code;
}

Result<int> Compile(const Options& options) {
  RL_ASSIGN(const std::vector<predict::Target> targets, ChooseTargets(options.targets));
  RL_ASSIGN(const ChosenSuite suite, ChooseSuite(options.suite));
  const std::unique_ptr<predict::CompileCache> cache = OpenCache(options.compiler);
  std::vector<CheckedTarget> all;
  for (const predict::Target& target : targets) {
    RL_ASSIGN(const pjrt::PluginInfo plugin, CompilerPlugin(target, options.compiler.plugin));
    RL_ASSIGN(CheckedTarget checked, Check(target, suite.suite, plugin, options, cache.get()));
    if (!options.json) {
      Out(fmt::format("{}, suite {}: predicted, nothing ran; compiler {}\n{}{}; {}\n\n",
                      checked.name, suite.name, Printable(CompilerOf(checked)),
                      predict::SuiteTable(checked.cases, TerminalWidth(STDOUT_FILENO)),
                      predict::Summary(predict::Count(checked.cases)),
                      FormatSeconds(checked.wall_s)));
    }
    all.push_back(std::move(checked));
  }
  TellCache(cache.get());
  if (options.json) {
    Json list = Json::array();
    for (const CheckedTarget& checked : all) list.push_back(TargetJson(checked));
    Out(DumpPretty({{"schema", "ridgeline.compile/1"}, {"suite", suite.name}, {"targets", list}}) +
        "\n");
  }
  return ExitCodeOf(all);
}

}  // namespace

void Add_compile(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compile", "Compile a suite's programs for TPUs and GPUs that are not here, and audit them");
  command->add_option("suite", options->suite, "a name of `ridgeline list suites`, or a YAML file")
      ->capture_default_str();
  command
      ->add_option("--target", options->targets,
                   "system and slice, as `ridgeline targets` lists them: tpu-v5e:2x2, "
                   "a100-sxm-80:2; may be repeated")
      ->required();
  command->add_flag("--every-device", options->every_device,
                    "compile also what is the same program on other devices (default: the first "
                    "and the last of such cases stand for all)");
  command->add_option("--filter", options->filter, "only cases whose id holds this, or matches it");
  AddCompilerOptions(*command, options->compiler, 300);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  ridgeline compile --target tpu-v5e:2x2\n"
      "  ridgeline compile standard --target tpu-v4:2x2x1 --target tpu-v6e:16x16 --json\n"
      "  ridgeline compile quick --target a100-sxm-80:2\n\n"
      "Exit codes: 0 all compiled or unsupported; 1 the audit refused one; 3 no plugin; 4 a "
      "program failed.");
  command->callback([options, &exit_code] {
    const Result<int> result = Compile(*options);
    exit_code = result ? *result : Report(result.error());
  });
}

}  // namespace ridgeline::cli
