// `ridgeline export`: a result file for other programs.
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
  std::string format = "csv";
  std::string spec;
  bool salvage = false;
};

// A result file again: what the records say themselves, nothing that follows from a reference.
std::string AsFile(const store::ResultFile& file, const std::string& source) {
  Json header = file.header;
  if (file.dropped > 0) header["salvaged"] = {{"from", source}, {"notes", file.notes}};
  return store::FormatResults(header, file.measurements);
}

std::string Derived(store::ResultFile file, const std::string& format, const Machine* spec) {
  report::Derive(file.measurements, nullptr, spec);
  return format == "csv" ? report::Csv(file.measurements)
                         : DumpPretty(report::FlatJson(file.measurements)) + "\n";
}

Result<int> Export(const Options& options) {
  RL_ASSIGN(const std::string text, ReadTextFile(options.file));
  const store::ReadMode mode =
      options.salvage ? store::ReadMode::kSalvage : store::ReadMode::kStrict;
  RL_ASSIGN(const store::ResultFile file, store::ReadResults(text, options.file, mode));
  RL_ASSIGN(const std::optional<Machine> spec, SpecOfRun(options.spec, file.header));
  Out(options.format == "jsonl" ? AsFile(file, options.file)
                                : Derived(file, options.format, spec ? &*spec : nullptr));
  for (const std::string& note : file.notes) Err(note + "\n");
  return kExitOk;
}

}  // namespace

void Add_export(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("export", "Write a result file as CSV, flat JSON or a result file again");
  command->add_option("file", options->file, "result file of `ridgeline run`, or - for stdin")
      ->required();
  command
      ->add_option("--format", options->format,
                   "csv, json (a list of flat objects), or jsonl: a result file again")
      ->check(CLI::IsMember({"csv", "json", "jsonl"}));
  command->add_option("--spec", options->spec,
                      "spec that *_of_reference are shares of: a name of `ridgeline specs list` or "
                      "a file (default: the one of the device kind)");
  command->add_flag_callback(
      "--json", [options] { options->format = "json"; }, "same as --format json");
  command->add_flag("--salvage", options->salvage,
                    "use the good part of a damaged file and say what was dropped");
  command->footer(
      "Examples:\n  ridgeline export result.jsonl --format csv > result.csv\n"
      "  ridgeline export result.jsonl --format json | python3 -c "
      "'import pandas, sys; print(pandas.read_json(sys.stdin))'\n"
      "  ridgeline export damaged.jsonl --salvage --format jsonl > good.jsonl");
  command->callback([options, &exit_code] {
    const Result<int> result = Export(*options);
    exit_code = result ? *result : Report(result.error());
  });
}

}  // namespace ridgeline::cli
