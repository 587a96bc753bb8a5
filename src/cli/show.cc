// `ridgeline show`: a result file as tables.
#include <unistd.h>

#include <memory>

#include "cli/command.h"
#include "cli/common.h"
#include "cli/spec_choice.h"
#include "report/report.h"
#include "store/results.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string file;
  std::string baseline;
  std::string spec;
  bool salvage = false;
  bool json = false;
};

store::ReadMode ModeOf(const Options& options) {
  return options.salvage ? store::ReadMode::kSalvage : store::ReadMode::kStrict;
}

Result<int> Show(const Options& options) {
  RL_ASSIGN(const std::string text, ReadTextFile(options.file));
  RL_ASSIGN(store::ResultFile file, store::ReadResults(text, options.file, ModeOf(options)));
  std::optional<store::ResultFile> baseline;
  if (!options.baseline.empty()) {
    RL_ASSIGN(baseline, store::LoadResults(options.baseline));
    for (const std::string& note : baseline->notes) Err(note + "\n");
  }
  const store::ResultFile* reference = baseline ? &*baseline : nullptr;
  RL_ASSIGN(const std::optional<Machine> spec, SpecOfRun(options.spec, file.header));
  report::Derive(file.measurements, reference, spec ? &*spec : nullptr);
  if (options.json) {
    Out(DumpPretty(report::RunJson(file.header, file.measurements, reference)) + "\n");
  } else {
    const report::TableOptions table{.width = TerminalWidth(STDOUT_FILENO), .color = UseColor()};
    Out(report::ResultTable(file.header, file.measurements, table) + "\n" +
        report::SummaryTable(file.header, file.measurements, reference, table));
  }
  for (const std::string& note : file.notes) Err(note + "\n");
  return kExitOk;
}

}  // namespace

void Add_show(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("show", "Show a result file");
  command->add_option("file", options->file, "result file of `ridgeline run`, or - for stdin")
      ->required();
  command->add_option("--baseline", options->baseline, "result file to score against");
  command->add_option("--spec", options->spec,
                      "spec to score against where there is no baseline: a name of `ridgeline "
                      "specs list` or a file (default: the one of the device kind)");
  command->add_flag("--salvage", options->salvage,
                    "use the good part of a damaged file and say what was dropped");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n  ridgeline show result.jsonl\n  ridgeline show result.jsonl --json");
  command->callback([options, &exit_code] {
    const Result<int> result = Show(*options);
    exit_code = result ? *result : Report(result.error());
  });
}

}  // namespace ridgeline::cli
