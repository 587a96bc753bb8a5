// `ridgeline list`: benchmarks, suites, workloads, specs and plugins.
#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "benchmarks/benchmark.h"
#include "cli/command.h"
#include "cli/common.h"
#include "spec/spec.h"
#include "suite/suite.h"
#include "workload/workload.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string what = "all";
  bool json = false;
};

Json ParamJson(const ParamSpec& spec) {
  Json fallback = nullptr;
  std::visit([&fallback](const auto& value) { fallback = value; }, spec.fallback);
  return {{"name", spec.name},
          {"default", spec.required ? Json(nullptr) : fallback},
          {"required", spec.required},
          {"allowed", spec.allowed},
          {"help", spec.help}};
}

Json Benchmarks() {
  Json list = Json::array();
  for (const benchmarks::Benchmark& benchmark : benchmarks::AllBenchmarks()) {
    Json params = Json::array();
    for (const ParamSpec& spec : benchmark.params) params.push_back(ParamJson(spec));
    list.push_back({{"name", benchmark.name},
                    {"component", Name(benchmark.component)},
                    {"summary", benchmark.summary},
                    {"min_devices", benchmark.min_devices},
                    {"params", params}});
  }
  return list;
}

// The suite's own description line.
std::string Description(std::string_view suite) {
  const Result<std::string_view> text = suite::FindEmbeddedSuite(suite);
  const Result<suite::ShapeTable> shapes = suite::EmbeddedShapes();
  if (!text || !shapes) return "";
  const Result<suite::Suite> read =
      suite::ReadSuite(*text, suite, benchmarks::AllBenchmarks(), *shapes);
  return read ? read->description : read.error().ToString();
}

Json Specs() {
  Json list = Json::array();
  const Result<std::span<const spec::Spec>> specs = spec::EmbeddedSpecs();
  if (!specs) return list;
  for (const spec::Spec& spec : *specs) {
    list.push_back({{"name", spec.name},
                    {"title", spec.title},
                    {"device_kinds", spec.device_kinds},
                    {"devices_per_chip", spec.devices_per_chip}});
  }
  return list;
}

// Each file begins with a comment that says what it is.
Json Workloads() {
  Json list = Json::array();
  for (const std::string_view name : workload::ListEmbeddedWorkloads()) {
    const std::string_view text = workload::FindEmbeddedWorkload(name).value_or("");
    const std::string_view first = text.substr(0, text.find('\n'));
    list.push_back({{"name", name}, {"description", first.substr(first.find_first_not_of("# "))}});
  }
  return list;
}

Json Everything() {
  Json suites = Json::array();
  for (const std::string_view name : suite::ListEmbeddedSuites()) {
    suites.push_back({{"name", name}, {"description", Description(name)}});
  }
  Json plugins = Json::array();
  for (const pjrt::PluginInfo& plugin : pjrt::ListPlugins(pjrt::SearchEnv::FromProcess())) {
    plugins.push_back(ToJson(plugin));
  }
  return {{"schema", "ridgeline.list/1"}, {"benchmarks", Benchmarks()}, {"suites", suites},
          {"workloads", Workloads()},     {"plugins", plugins},         {"specs", Specs()}};
}

std::string BenchmarkText(const Json& list) {
  std::string text;
  std::string component;
  for (const Json& benchmark : list) {
    if (const std::string own = StringOr(benchmark, "component"); own != component) {
      component = own;
      text += fmt::format("{}\n", component);
    }
    text +=
        fmt::format("  {:<20} {}\n", StringOr(benchmark, "name"), StringOr(benchmark, "summary"));
    for (const Json& param : benchmark["params"]) {
      const std::string value = BoolOr(param, "required") ? "required" : param["default"].dump();
      text +=
          fmt::format("    {:<18} {} ({}", StringOr(param, "name"), StringOr(param, "help"), value);
      if (!param["allowed"].empty()) {
        std::vector<std::string> allowed;
        for (const Json& one : param["allowed"]) allowed.push_back(one.get<std::string>());
        text += fmt::format("; {}", fmt::join(allowed, ", "));
      }
      text += ")\n";
    }
  }
  return text;
}

int Run(const Options& options) {
  const Json everything = Everything();
  if (options.json) {
    Out(DumpPretty(everything) + "\n");
    return kExitOk;
  }
  const bool all = options.what == "all";
  std::string text;
  if (all || options.what == "benchmarks") {
    text += "Benchmarks\n" + BenchmarkText(everything["benchmarks"]) + "\n";
  }
  if (all || options.what == "suites") {
    Table table({"Suite", ""});
    for (const Json& s : everything["suites"]) {
      table.Row({StringOr(s, "name"), StringOr(s, "description")});
    }
    text += table.ToString() + "\n";
  }
  if (all || options.what == "workloads") {
    Table table({"Workload", ""});
    for (const Json& w : everything["workloads"]) {
      table.Row({StringOr(w, "name"), StringOr(w, "description")});
    }
    text += table.ToString() + "\n";
  }
  if (all || options.what == "specs") {
    Table table({"Spec", ""});
    for (const Json& s : everything["specs"])
      table.Row({StringOr(s, "name"), StringOr(s, "title")});
    text += table.ToString() + "\n";
  }
  if (all || options.what == "plugins") {
    Table table({"Plugin", "found in", "package", "library"});
    for (const Json& p : everything["plugins"]) {
      table.Row({Printable(StringOr(p, "name")), StringOr(p, "source"),
                 Printable(StringOr(p, "package") + " " + StringOr(p, "version")),
                 Printable(StringOr(p, "library"))});
    }
    text += everything["plugins"].empty() ? "no plugin found; next: ./dev plugins cpu\n"
                                          : table.ToString();
  }
  Out(text);
  return kExitOk;
}

}  // namespace

void Add_list(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "list", "Benchmarks with their parameters, suites, workloads, specs and plugins");
  command->add_option("what", options->what, "benchmarks, suites, workloads, specs, plugins or all")
      ->check(CLI::IsMember({"benchmarks", "suites", "workloads", "specs", "plugins", "all"}));
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n  ridgeline list\n  ridgeline list suites\n  ridgeline list --json");
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace ridgeline::cli
