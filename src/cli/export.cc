// `ridgeline export`: a result file for other programs.
#include <memory>

#include "cli/command.h"
#include "cli/common.h"
#include "report/report.h"
#include "store/results.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string file;
  std::string format = "csv";
};

Result<int> Export(const Options& options) {
  RL_ASSIGN(const std::string text, ReadTextFile(options.file));
  RL_ASSIGN(store::ResultFile file, store::ReadResults(text, options.file));
  report::Derive(file.measurements, nullptr);
  Out(options.format == "csv" ? report::Csv(file.measurements)
                              : DumpPretty(report::FlatJson(file.measurements)) + "\n");
  for (const std::string& note : file.notes) Err(note + "\n");
  return kExitOk;
}

}  // namespace

void Add_export(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("export", "Write a result file as CSV or flat JSON");
  command->add_option("file", options->file, "result file of `ridgeline run`, or - for stdin")
      ->required();
  command->add_option("--format", options->format, "csv or json (a list of flat objects)")
      ->check(CLI::IsMember({"csv", "json"}));
  command->add_flag_callback(
      "--json", [options] { options->format = "json"; }, "same as --format json");
  command->footer(
      "Examples:\n  ridgeline export result.jsonl --format csv > result.csv\n"
      "  ridgeline export result.jsonl --format json | python3 -c "
      "'import pandas, sys; print(pandas.read_json(sys.stdin))'");
  command->callback([options, &exit_code] {
    const Result<int> result = Export(*options);
    exit_code = result ? *result : Report(result.error());
  });
}

}  // namespace ridgeline::cli
