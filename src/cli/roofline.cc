// `ridgeline roofline`: machines and workloads -> what limits them, as text, JSON and pictures.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/execution.h"
#include "cli/run_plan.h"
#include "cli/spec_choice.h"
#include "cli/workload_choice.h"
#include "model/measured_machine.h"
#include "report/figures.h"
#include "report/limit_report.h"
#include "spec/spec.h"
#include "store/results.h"
#include "verdict/limit.h"
#include "workload/workload.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string result;
  std::vector<std::string> specs;
  std::vector<std::string> workloads;
  workload::Numbers numbers;
  std::string dtype = "bf16";
  std::string pattern = "sequential";
  double balance = 0.10;
  std::optional<double> trips;
  int partitions = 0;
  bool execute = false;
  std::string plugin;
  std::string time_limit = "5m";
  std::string svg;
  std::string html;
  bool no_plot = false;
  bool ascii = false;
  bool json = false;
};

// Measured first: what was seen goes before what a sheet says.
Result<std::vector<Machine>> ReadMachines(const Options& options) {
  std::vector<Machine> machines;
  for (const std::string& name : options.specs) {
    RL_ASSIGN(const ChosenSpec chosen, ChooseSpec(name));
    RL_ASSIGN(Machine machine, spec::MakeMachine(chosen.spec, chosen.shape, chosen.slices));
    machines.push_back(std::move(machine));
  }
  if (!options.result.empty()) {
    Result<store::ResultFile> read = store::LoadResults(options.result);
    if (!read) {
      Error error = std::move(read).error();
      if (error.next.empty()) {
        error.next =
            "the file before the options is one of `ridgeline run`; a program or a "
            "description goes with --workload";
      }
      return tl::unexpected(std::move(error));
    }
    const store::ResultFile& results = *read;
    for (const std::string& note : results.notes) Err(note + "\n");
    RL_ASSIGN(const std::optional<Machine> matched, SpecOfRun("", results.header));
    const Machine* spec = matched ? &*matched : machines.empty() ? nullptr : &machines.front();
    machines.insert(machines.begin(),
                    model::MeasuredMachine(
                        results, {.file_name = options.result,
                                  .spec = spec,
                                  .last_cache_bytes = report::LastCacheBytes(results.header)}));
  }
  if (machines.empty()) {
    return Fail(Code::kInvalidArgument, "no machine", "",
                "give a result file of `ridgeline run`, or --spec NAME (`ridgeline specs list`)");
  }
  return machines;
}

Result<std::vector<ChosenWorkload>> ReadWorkloads(Options& options) {
  std::vector<ChosenWorkload> workloads;
  for (const std::string& name : options.workloads) {
    RL_ASSIGN(ChosenWorkload one, ChooseWorkload(name, {.partitions = options.partitions,
                                                        .unknown_trips = options.trips}));
    workloads.push_back(std::move(one));
  }
  workload::Numbers& numbers = options.numbers;
  const bool any = numbers.flops || numbers.vector_flops || numbers.bytes || numbers.wire_bytes ||
                   numbers.host_bytes || numbers.intensity;
  if (any) {
    RL_ASSIGN(numbers.dtype, ParseDType(options.dtype));
    RL_ASSIGN(numbers.pattern, ParsePattern(options.pattern));
    RL_ASSIGN(workload::Workload one, workload::FromNumbers(numbers));
    workloads.push_back({.workload = std::move(one), .stablehlo = {}});
  }
  return workloads;
}

// "" for a count; else what is wrong with it.
std::string CheckCount(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc() && end == text.data() + text.size();
  if (number && value >= 0 && value <= 1e30) return "";
  return fmt::format("'{}' is no number from 0 to 1e30{}", Printable(text),
                     number && std::isinf(value) ? "; what needs no bytes is --flops alone" : "");
}

Json ReportJson(std::span<const Machine> machines, std::span<const report::JudgedWorkload> judged) {
  Json all = Json::array();
  for (const Machine& machine : machines) all.push_back(ToJson(machine));
  Json workloads = Json::array();
  for (const report::JudgedWorkload& one : judged) {
    for (const verdict::Limit& limit : one.limits) {
      workloads.push_back(ToJson(one.workload, limit));
    }
  }
  return {{"schema", "ridgeline.roofline/1"},
          {"machine", all.front()},
          {"machines", all},
          {"workloads", std::move(workloads)}};
}

Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    return Fail(Code::kInvalidArgument, "cannot write the file", path,
                "is the folder there, writable and not full?");
  Err(fmt::format("wrote {}\n", path));
  return {};
}

Result<int> Roofline(Options& options) {
  RL_ASSIGN(const std::vector<Machine> machines, ReadMachines(options));
  RL_ASSIGN(std::vector<ChosenWorkload> workloads, ReadWorkloads(options));
  RL_ASSIGN(const double time_limit_s, ParseDuration(options.time_limit));
  std::vector<report::JudgedWorkload> judged;
  bool all_measured = true;
  for (ChosenWorkload& one : workloads) {
    std::optional<verdict::Execution> execution;
    if (options.execute) {
      RL_ASSIGN(execution, Execute(one, {.plugin = options.plugin,
                                         .time_limit_s = time_limit_s,
                                         .progress = !options.json}));
      all_measured = all_measured && execution->seconds;
    }
    report::JudgedWorkload with{.workload = std::move(one.workload), .limits = {}};
    for (size_t i = 0; i < machines.size(); ++i) {
      // It ran on the measured machine, or on the only one that was named.
      with.limits.push_back(verdict::FindLimit(with.workload, machines[i],
                                               i == 0 ? execution : std::nullopt, options.balance));
    }
    judged.push_back(std::move(with));
  }
  const report::RooflinePlot plot = report::LimitPlot(machines, judged);
  if (options.json) {
    Out(DumpPretty(ReportJson(machines, judged)) + "\n");
  } else {
    const report::TableOptions table{
        .width = TerminalWidth(STDOUT_FILENO), .color = UseColor(), .ascii = options.ascii};
    if (!options.no_plot) Out(report::RooflineText(plot, table) + "\n");
    Out(report::LimitReport(machines, judged, table));
  }
  if (!options.svg.empty()) RL_CHECK_OK(WriteFile(options.svg, report::RooflineSvg(plot)));
  if (!options.html.empty()) RL_CHECK_OK(WriteFile(options.html, report::RooflineHtml(plot)));
  return all_measured ? kExitOk : kExitPartial;
}

}  // namespace

void Add_roofline(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("roofline", "What limits a workload: compute, memory, network or host");
  command->add_option("result", options->result, "result file of `ridgeline run`: measured roofs");
  command->add_option("--spec", options->specs,
                      "nominal roofs: a name of `ridgeline specs list`, with a slice's shape where "
                      "the network matters (tpu-v5e:4x4), or a YAML file; may be repeated");
  command->add_option("--workload", options->workloads,
                      "workload file (YAML), a name of `ridgeline list workloads`, or a program "
                      "(StableHLO, jax.export, HLO text or .hlo.pb); may be repeated");
  workload::Numbers& numbers = options->numbers;
  const auto count = [command](const char* name, std::optional<double>& value, const char* help) {
    command->add_option(name, value, help)
        ->check(CheckCount, "NUMBER")
        ->group("A workload in numbers, per device");
  };
  count("--flops", numbers.flops, "FLOP of matrix products");
  count("--vector-flops", numbers.vector_flops, "FLOP of elementwise operations");
  count("--bytes", numbers.bytes, "bytes of device memory, read and written");
  count("--wire-bytes", numbers.wire_bytes, "bytes that one device sends");
  count("--host-bytes", numbers.host_bytes, "bytes over the host link");
  count("--intensity", numbers.intensity, "FLOP per byte, instead of --flops or --bytes");
  command->add_option("--dtype", options->dtype, "dtype of --flops (default bf16)");
  command->add_option("--pattern", options->pattern,
                      "memory access: sequential, strided, gather or reused");
  command
      ->add_option("--balance", options->balance,
                   "share within which two roofs are one bound (default 0.1)")
      ->check(CLI::Range(0.0, 0.9));
  command
      ->add_option("--trips", options->trips,
                   "rounds of loops whose rounds the program does not tell")
      ->check(CLI::Range(0.0, 1e15));
  command
      ->add_option("--partitions", options->partitions,
                   "devices that the program is compiled for (default: as many as it asks for)")
      ->check(CLI::Range(1, 65536));
  command->add_flag("--execute", options->execute,
                    "also run the program and put the measured time beside the predicted one");
  command->add_option("--plugin", options->plugin, "of --execute: cpu, tpu, cuda … or a path");
  command->add_option("--time-limit", options->time_limit,
                      "of --execute, for one program with its compilation (default 5m)");
  command->add_option("--svg", options->svg, "also write the picture as SVG");
  command->add_option("--html", options->html, "also write an interactive page");
  command->add_flag("--no-plot", options->no_plot, "no picture on the terminal");
  command->add_flag("--ascii", options->ascii, "plain ASCII");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  ridgeline roofline --spec tpu-v5e --flops 2e12 --bytes 1e10\n"
      "  ridgeline roofline --spec tpu-v5e --spec a100-sxm-80 --intensity 120\n"
      "  ridgeline roofline result.jsonl --spec tpu-v5e:4x4 --workload step.yaml --html step.html\n"
      "  ridgeline roofline --spec tpu-v5p:4x4x4 --workload llama3-8b-train --json\n"
      "  ridgeline roofline result.jsonl --workload step.mlir --execute --svg step.svg");
  command->callback([options, &exit_code] {
    const Result<int> result = Roofline(*options);
    exit_code = result ? *result : Report(result.error());
  });
}

}  // namespace ridgeline::cli
