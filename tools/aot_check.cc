// Compiles every program of a suite for a TPU that is not here, and audits what came out: which
// programs would run there, and whether their figures would be accepted.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "aot_program.h"
#include "base/text.h"
#include "benchmarks/benchmark.h"
#include "pjrt/discovery.h"
#include "suite/suite.h"

namespace ridgeline::tools {
namespace {

enum ExitCode { kGood = 0, kBad = 1, kUsage = 2, kNoPlugin = 3 };

struct Options {
  std::string topology = "v5e:2x2";
  std::string suite = "quick";  // a name, or the path of a file
  std::string plugin = "tpu";
  std::string filter;
  double limit_s = 120;
  bool json = false;
};

// What libtpu needs away from a TPU VM: no metadata server, no lock, no log files.
void SetEnvironment() {
  constexpr std::pair<const char*, const char*> kValues[] = {
      {"TPU_SKIP_MDS_QUERY", "1"},  {"TPU_WORKER_HOSTNAMES", "localhost"},
      {"TPU_WORKER_ID", "0"},       {"ALLOW_MULTIPLE_LIBTPU_LOAD", "1"},
      {"TPU_LOG_DIR", "disabled"},  {"TPU_ACCELERATOR_TYPE", "v5litepod-4"},
      {"TF_CPP_MIN_LOG_LEVEL", "2"}};
  for (const auto& [name, value] : kValues) setenv(name, value, /*overwrite=*/0);
}

Result<std::vector<Case>> ReadCases(const Options& options, const Mesh& mesh) {
  std::string text;
  if (options.suite.find('/') != std::string::npos || options.suite.ends_with(".yaml")) {
    std::ifstream file(options.suite, std::ios::binary);
    if (!file) return Fail(Code::kNotFound, "cannot be read", options.suite);
    std::stringstream content;
    content << file.rdbuf();
    text = content.str();
  } else {
    RL_ASSIGN(text, suite::FindEmbeddedSuite(options.suite));
  }
  RL_ASSIGN(const suite::ShapeTable shapes, suite::EmbeddedShapes());
  RL_ASSIGN(const suite::Suite suite,
            suite::ReadSuite(text, options.suite, benchmarks::AllBenchmarks(), shapes));
  return suite::ExpandSuite(suite, {.mesh = mesh,
                                    .device_count = static_cast<int>(mesh.size()),
                                    .only = {},
                                    .filter = options.filter,
                                    .precision = {}});
}

struct Counts {
  int programs = 0, compiled = 0, unsupported = 0, failed = 0, refused = 0, loops_gone = 0;

  bool good() const { return failed == 0 && refused == 0 && loops_gone == 0; }
};

Counts Count(const std::vector<AotResult>& results) {
  Counts counts;
  for (const AotResult& result : results) {
    if (result.outcome == Outcome::kNoProgram) continue;
    ++counts.programs;
    counts.compiled += result.outcome == Outcome::kCompiled;
    counts.unsupported += result.outcome == Outcome::kUnsupported;
    counts.failed += result.outcome == Outcome::kFailed;
    counts.refused += result.refused();
    counts.loops_gone += result.loop_kept.has_value() && !*result.loop_kept;
  }
  return counts;
}

std::string Summary(const Counts& counts) {
  std::string text =
      fmt::format("{} programs: {} compiled, {} unsupported, {} failed", counts.programs,
                  counts.compiled, counts.unsupported, counts.failed);
  if (counts.refused > 0) text += fmt::format("; {} refused by the audit", counts.refused);
  if (counts.loops_gone > 0) text += fmt::format("; {} lost their loop", counts.loops_gone);
  return text;
}

void Print(const std::vector<AotResult>& results) {
  Table table({"case", "outcome", "loop kept", "found"});
  for (const AotResult& result : results) {
    std::vector<std::string> found;
    if (!result.reason.empty()) found.push_back(Printable(result.reason));
    for (const AuditLine& line : result.audit) {
      if (line.level == "ok" || line.level == "note") continue;
      found.push_back(line.level + ": " + Printable(line.text));
    }
    const std::string loop = !result.loop_kept ? "-" : *result.loop_kept ? "yes" : "no";
    table.Row({result.id, std::string(Name(result.outcome)), loop, found.empty() ? "" : found[0]});
    for (size_t i = 1; i < found.size(); ++i) table.Row({"", "", "", found[i]});
  }
  fmt::print("{}{}\n", table.ToString(), Summary(Count(results)));
}

int Complain(const Error& error, int exit_code) {
  fmt::print(stderr, "aot_check: {}\n", error.ToString());
  return exit_code;
}

int Main(const Options& options) {
  SetEnvironment();
  const Result<pjrt::PluginInfo> plugin =
      pjrt::FindPlugin(options.plugin, pjrt::SearchEnv::FromProcess());
  if (!plugin) return Complain(plugin.error(), kNoPlugin);
  AotTarget target;
  target.topology = {plugin->library, options.topology, {}};
  target.limit_s = options.limit_s;
  const Result<std::vector<DevicePlace>> places = ListPlaces(target.topology);
  if (!places) return Complain(places.error(), kUsage);
  Result<Mesh> mesh = MakeMesh(*places, {});
  if (!mesh) return Complain(mesh.error(), kUsage);
  target.mesh = std::move(*mesh);
  const Result<std::vector<Case>> cases = ReadCases(options, target.mesh);
  if (!cases) return Complain(cases.error(), kUsage);

  std::vector<AotResult> results;
  for (const Case& c : *cases) {
    results.push_back(CheckCase(c, target));
    fmt::print(stderr, "[{}/{}] {} {}\n", results.size(), cases->size(), results.back().id,
               Name(results.back().outcome));
  }
  const Counts counts = Count(results);
  if (options.json) {
    Json programs = Json::array();
    for (const AotResult& result : results) programs.push_back(ToJson(result));
    const Json all = {{"schema", "ridgeline.aot_check.v1"},
                      {"topology", options.topology},
                      {"plugin", {{"package", plugin->package}, {"version", plugin->version}}},
                      {"mesh", ToJson(target.mesh)},
                      {"compiled", counts.compiled},
                      {"unsupported", counts.unsupported},
                      {"failed", counts.failed},
                      {"refused", counts.refused},
                      {"loops_gone", counts.loops_gone},
                      {"programs", programs}};
    fmt::print("{}\n", DumpPretty(all));
  } else {
    Print(results);
  }
  return counts.good() ? kGood : kBad;
}

}  // namespace
}  // namespace ridgeline::tools

int main(int argc, char** argv) {
  ridgeline::tools::Options options;
  CLI::App app{
      "Compiles the programs of a suite ahead of time for a TPU and audits them.\n"
      "Exit codes: 0 good; 1 a program failed, was refused or lost its loop; 2 usage; 3 no "
      "plugin.",
      "aot_check"};
  app.add_option("--topology", options.topology, "libtpu's name of it")->capture_default_str();
  app.add_option("--suite", options.suite, "name or file of the suite")->capture_default_str();
  app.add_option("--plugin", options.plugin, "name or path of the plugin")->capture_default_str();
  app.add_option("--filter", options.filter, "part or pattern of the case ids");
  app.add_option("--time-limit", options.limit_s, "seconds for one program")->capture_default_str();
  app.add_flag("--json", options.json, "one JSON object instead of the table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return ridgeline::tools::Main(options);
}
