// Our figures beside those of other clocks and other code, on one machine in one run: what the
// engine says of a program against one long call timed from outside, and what XLA's triad and
// device-to-host copy reach against native loops.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>

#include "base/text.h"
#include "benchmarks/benchmark.h"
#include "engine/case_runner.h"
#include "engine/host_state.h"
#include "independent.h"
#include "native.h"
#include "pjrt/client.h"
#include "pjrt/discovery.h"

namespace ridgeline::truth {
namespace {

constexpr double kBlockSeconds = 0.3;

struct Options {
  std::string plugin = "cpu";
  std::string json;
  int64_t gemm_size = 512;
  int64_t rounds = 1000;
  std::string array_bytes = "512MiB";
  std::string cached_bytes = "256KiB";
  std::string transfer_bytes = "64MiB";
};

struct Row {
  std::string what;
  std::string independent;  // what the other side is
  std::string expected;     // of the ratio, where something is
  Measurement ours = {};
  Rate rate = {};                  // ours
  std::vector<double> other = {};  // rate of each block of the other side
  double floor_s = 0;

  double other_median() const { return Median(other); }
  double other_best() const { return std::ranges::max(other); }
};

struct Machine {
  device::Client* client;
  engine::RunContext* context;
  benchmarks::Target target;
};

Case MakeCase(const benchmarks::Benchmark& benchmark, const Params& params) {
  Case c;
  c.component = benchmark.component;
  c.bench = benchmark.name;
  c.params = params;
  c.precision = {.relative_half_width = 0.01,
                 .min_blocks = 5,
                 .max_blocks = 15,
                 .block_seconds = kBlockSeconds,
                 .time_limit_s = 60};
  return c;
}

using Assignment = std::map<std::string, ParamValue>;

// `make_block` gives the other side of the program. Its blocks and ours alternate.
Result<Row> Compare(Machine& machine, Row row, const std::string& bench, const Assignment& given,
                    const std::string& rate_name,
                    const std::function<Result<Block>(const programs::Program&)>& make_block) {
  RL_ASSIGN(const benchmarks::Benchmark* benchmark, benchmarks::FindBenchmark(bench));
  RL_ASSIGN(const Params params, ResolveParams(benchmark->params, given));
  RL_ASSIGN(const programs::Program program, benchmark->build(params, machine.target));
  fmt::print(stderr, "{} …\n", row.what);
  engine::CaseRunner runner(*machine.context, MakeCase(*benchmark, params));
  const auto complaint = [&runner] {
    return Fail(
        Code::kAborted,
        fmt::format("{}: {}", Name(runner.measurement().status), runner.measurement().reason),
        runner.measurement().id);
  };
  if (!runner.Build() || !runner.Load()) return complaint();
  RL_ASSIGN(const Block block, make_block(program));
  std::vector<double> seconds;
  RL_CHECK_OK(block());  // warms up
  for (bool going = true; going;) {
    going = runner.Sample();
    RL_ASSIGN(const double one, block());
    seconds.push_back(one);
  }
  runner.Finish();
  row.ours = runner.measurement();
  const auto rate = std::ranges::find(row.ours.rates, rate_name, &Rate::name);
  const auto spec = std::ranges::find(program.rates, rate_name, &programs::RateSpec::name);
  if (rate == row.ours.rates.end() || spec == program.rates.end()) return complaint();
  row.rate = *rate;
  for (const double one : seconds) row.other.push_back(spec->amount / one);
  row.floor_s = row.ours.fit ? row.ours.fit->floor_s : 0;
  return row;
}

Result<Row> Gemm(Machine& machine, const Options& options, const std::string& dtype) {
  return Compare(machine,
                 {.what = fmt::format("gemm {} {}³", dtype, options.gemm_size),
                  .independent = fmt::format("one call of {} rounds, from outside", options.rounds),
                  .expected = "0.97..1.03"},
                 "gemm",
                 {{"m", options.gemm_size},
                  {"n", options.gemm_size},
                  {"k", options.gemm_size},
                  {"dtype", dtype}},
                 "flops", [&](const programs::Program& program) {
                   return OneCall(*machine.client, program, options.rounds);
                 });
}

Result<Row> Triad(Machine& machine, int64_t bytes, int threads, const std::string& expected) {
  return Compare(
      machine,
      {.what = fmt::format("triad 3 x {}", FormatBytes(bytes)),
       .independent = fmt::format("native loop, {} thread{}", threads, threads == 1 ? "" : "s"),
       .expected = expected},
      "triad", {{"bytes", bytes}}, "hbm_bw", [&](const programs::Program&) -> Result<Block> {
        return NativeTriad(bytes, threads, kBlockSeconds);
      });
}

Result<Row> DeviceToHost(Machine& machine, int64_t bytes, int threads) {
  return Compare(
      machine,
      {.what = fmt::format("device_to_host {}", FormatBytes(bytes)),
       .independent = fmt::format("memcpy, {} thread{}", threads, threads == 1 ? "" : "s"),
       .expected = ""},
      "device_to_host", {{"bytes", bytes}}, "host_bw",
      [&](const programs::Program&) -> Result<Block> { return NativeCopies(bytes, threads); });
}

// Our three arrays, the native three and the host's copies while they are filled fit into half of
// what is free.
int64_t ArraysThatFit(int64_t asked) {
  int64_t bytes = asked;
  while (16 * bytes > engine::FreeHostMemory() && bytes > (int64_t{1} << 20)) bytes /= 2;
  return bytes;
}

std::string Caches() {
  const std::vector<int64_t> caches = engine::DataCacheBytes();
  if (caches.empty()) return "unknown";
  std::vector<std::string> names(caches.size());
  std::ranges::transform(caches, names.begin(), FormatBytes);
  return fmt::format("{}", fmt::join(names, ", "));
}

Json ToJson(const Row& row) {
  Json blocks = Json::array();
  for (const double one : row.other) blocks.push_back(Number(one));
  const double ours = row.rate.value.value;
  return {{"case", row.what},
          {"ours",
           {{"value", Number(ours)},
            {"lo", Number(row.rate.value.lo)},
            {"hi", Number(row.rate.value.hi)},
            {"unit", row.rate.unit}}},
          {"status", Name(row.ours.status)},
          {"labels", row.ours.labels},
          {"independent", row.independent},
          {"independent_median", Number(row.other_median())},
          {"independent_best", Number(row.other_best())},
          {"independent_blocks", blocks},
          {"ratio", Number(ours / row.other_median())},
          {"ratio_to_best", Number(ours / row.other_best())},
          {"expected", row.expected},
          {"floor_s", Number(row.floor_s)}};
}

void Print(const std::vector<Row>& rows) {
  Table table({"case", "ours", "interval", "independent", "median", "best", "ratio", "to best",
               "expected", "loop floor", "status"},
              {false, true, true, false, true, true, true, true});
  for (const Row& row : rows) {
    const Interval& ours = row.rate.value;
    const auto rate = [&row](double value) { return FormatRate(value, row.rate.unit); };
    table.Row({row.what, rate(ours.value), fmt::format("{} .. {}", rate(ours.lo), rate(ours.hi)),
               row.independent, rate(row.other_median()), rate(row.other_best()),
               fmt::format("{:.3f}", ours.value / row.other_median()),
               fmt::format("{:.3f}", ours.value / row.other_best()), row.expected,
               row.floor_s > 0 ? FormatSeconds(row.floor_s) : "",
               std::string(Name(row.ours.status))});
  }
  fmt::print("{}", table.ToString());
}

Result<std::vector<Row>> Measure(const Options& options, Json& about) {
  RL_ASSIGN(const pjrt::PluginInfo plugin,
            pjrt::FindPlugin(options.plugin, pjrt::SearchEnv::FromProcess()));
  RL_ASSIGN(const int64_t asked_bytes, ParseBytes(options.array_bytes));
  RL_ASSIGN(const int64_t cached_bytes, ParseBytes(options.cached_bytes));
  RL_ASSIGN(const int64_t transfer_bytes, ParseBytes(options.transfer_bytes));
  pjrt::ClientOptions client_options{.plugin_path = plugin.library, .create_options = {}};
  client_options.create_options["cpu_device_count"] = int64_t{1};
  RL_ASSIGN(const std::unique_ptr<device::Client> client, pjrt::CreateClient(client_options));
  RL_ASSIGN(const Mesh mesh, MakeMesh({DevicePlace{}}, {}));
  engine::RunContext context;
  context.client = client.get();
  context.mesh = &mesh;
  context.free_bytes = [](int) { return engine::FreeHostMemory(); };
  context.read_file = [](const std::string& path) -> Result<std::string> {
    return Fail(Code::kNotFound, "no files are read here", path);
  };
  Machine machine{client.get(),
                  &context,
                  {.mesh = &mesh, .placement = {}, .platform = "cpu", .program_text = {}}};

  const int threads = NativeThreads();
  const engine::CpuTimes start = engine::ReadCpuTimes();
  std::vector<Row> rows;
  for (const std::string dtype : {"f32", "bf16"}) {
    RL_ASSIGN(Row row, Gemm(machine, options, dtype));
    rows.push_back(std::move(row));
  }
  RL_ASSIGN(Row memory, Triad(machine, ArraysThatFit(asked_bytes), threads, ">= 0.85"));
  rows.push_back(std::move(memory));
  RL_ASSIGN(Row cached, Triad(machine, cached_bytes, threads, ""));
  rows.push_back(std::move(cached));
  RL_ASSIGN(Row transfer, DeviceToHost(machine, transfer_bytes, 1));
  rows.push_back(std::move(transfer));
  if (threads > 1) {
    RL_ASSIGN(Row one_thread, Triad(machine, cached_bytes, 1, ""));
    rows.push_back(std::move(one_thread));
    RL_ASSIGN(Row all_threads, DeviceToHost(machine, transfer_bytes, threads));
    rows.push_back(std::move(all_threads));
  }
  about = {{"host", engine::DescribeHost()},
           {"plugin", {{"package", plugin.package}, {"version", plugin.version}}},
           {"threads", threads},
           {"load", engine::LoadSince(start)}};
  return rows;
}

int Main(const Options& options) {
  Json about;
  const Result<std::vector<Row>> rows = Measure(options, about);
  if (!rows) {
    fmt::print(stderr, "truth: {}\n", rows.error().ToString());
    return 1;
  }
  Print(*rows);
  const Json& load = about["load"];
  fmt::print("native threads: {}; data caches: {}; others used {} CPUs of {} meanwhile\n",
             NativeThreads(), Caches(),
             FormatNumber(OptionalNumber(load, "other_cpus").value_or(0), 2),
             FormatNumber(OptionalNumber(load, "cpus").value_or(0), 2));
  if (options.json.empty()) return 0;
  Json all = {{"schema", "ridgeline.truth.v1"}, {"about", about}, {"cases", Json::array()}};
  for (const Row& row : *rows) all["cases"].push_back(ToJson(row));
  std::ofstream file(options.json);
  file << DumpPretty(all) << "\n";
  if (!file.flush()) {
    fmt::print(stderr, "truth: {} cannot be written\n", options.json);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ridgeline::truth

int main(int argc, char** argv) {
  ridgeline::truth::Options options;
  CLI::App app{"Our figures against independent ones, in one run. See bench/README.md.", "truth"};
  app.add_option("--plugin", options.plugin, "name or path of a CPU plugin")->capture_default_str();
  app.add_option("--json", options.json, "also write a JSON file");
  app.add_option("--gemm-size", options.gemm_size, "m = n = k")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "of the one call from outside")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--array-bytes", options.array_bytes, "one array of the triad out of cache")
      ->capture_default_str();
  app.add_option("--cached-bytes", options.cached_bytes, "one array of the triad in cache")
      ->capture_default_str();
  app.add_option("--transfer-bytes", options.transfer_bytes, "of one transfer")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return ridgeline::truth::Main(options);
}
