#include "aot_program.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "benchmarks/benchmark.h"
#include "child.h"
#include "hlo/audit.h"
#include "hlo/loop.h"
#include "hlo/reader.h"

namespace ridgeline::tools {
namespace {

constexpr double kListLimitS = 60;

Outcome OutcomeOf(const Error& error) {
  const bool other_platform =
      error.code == Code::kUnimplemented || error.code == Code::kFailedPrecondition;
  return other_platform ? Outcome::kUnsupported : Outcome::kFailed;
}

std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// What an aborting compiler said last, without the stack.
std::string CheckFailure(const std::string& log) {
  constexpr std::string_view kMark = "Check failed:";
  const size_t start = log.find(kMark);
  if (start == std::string::npos) return "";
  return "; " + log.substr(start, log.find('\n', start) - start);
}

Result<programs::Program> Build(const Case& c, const benchmarks::Benchmark& benchmark,
                                const AotTarget& target) {
  std::string imported;
  if (c.params.Has("file")) {
    std::ifstream file(c.params.Text("file"), std::ios::binary);
    if (!file) return Fail(Code::kNotFound, "cannot be read", c.params.Text("file"));
    std::stringstream text;
    text << file.rdbuf();
    imported = text.str();
  }
  if (target.mesh.size() < benchmark.min_devices) {
    return Fail(Code::kFailedPrecondition, "needs more devices than the topology has");
  }
  return benchmark.build(c.params, {.mesh = &target.mesh,
                                    .placement = c.placement,
                                    .platform = target.platform,
                                    .program_text = std::move(imported)});
}

bool HasLoop(const hlo::Module& module) {
  hlo::Tracer tracer(module);
  const hlo::Frame* entry = tracer.Enter(module.entry, nullptr, nullptr);
  return std::ranges::any_of(hlo::OuterLoops(tracer, entry), hlo::RunsParameterRounds);
}

// Runs in the child.
Json CompileAndAudit(const programs::Program& program, const std::vector<int>& devices,
                     const pjrt::TopologyRequest& topology) {
  const auto start = std::chrono::steady_clock::now();
  const Result<device::ProgramText> text =
      pjrt::CompileForTopology(topology, {.program = program.stablehlo,
                                          .partitions = program.partitions,
                                          .devices = devices,
                                          .xla_options = {},
                                          .shardy = program.shardy});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!text) {
    // As in the engine: what a compiler refuses it does not support, unless it could not read our
    // text.
    const bool unreadable = text.error().message.find("parse") != std::string::npos;
    return {{"outcome", Name(unreadable ? Outcome::kFailed : Outcome::kUnsupported)},
            {"reason", text.error().ToString()}};
  }
  const Result<hlo::Module> module = hlo::ReadModule(text->bytes);
  if (!module) {
    return {{"outcome", Name(Outcome::kFailed)},
            {"reason", "the compiled program cannot be read: " + module.error().ToString()}};
  }
  const hlo::AuditResult audit = hlo::Audit(*module, program.expected);
  Json lines = Json::array();
  for (const hlo::Finding& finding : audit.findings) {
    lines.push_back({{"level", Name(finding.level)}, {"text", finding.text}});
  }
  return {{"outcome", Name(Outcome::kCompiled)},
          {"compile_s", Number(took.count())},
          {"loop_kept", program.expected.loop ? Json(HasLoop(*module)) : Json(nullptr)},
          {"executed_as", audit.executed_as},
          {"audit", lines}};
}

Outcome ParseOutcome(const std::string& name) {
  for (const Outcome outcome : {Outcome::kCompiled, Outcome::kUnsupported}) {
    if (name == Name(outcome)) return outcome;
  }
  return Outcome::kFailed;
}

}  // namespace

std::string_view Name(Outcome outcome) {
  static constexpr std::string_view kNames[] = {"compiled", "unsupported", "failed", "no program"};
  return kNames[static_cast<size_t>(outcome)];
}

bool AotResult::refused() const {
  return std::ranges::any_of(audit, [](const AuditLine& line) { return line.level == "refused"; });
}

Json ToJson(const AotResult& result) {
  Json audit = Json::array();
  for (const AuditLine& line : result.audit) {
    audit.push_back({{"level", line.level}, {"text", line.text}});
  }
  return {{"id", result.id},
          {"outcome", Name(result.outcome)},
          {"reason", result.reason},
          {"loop_kept", OrNull(result.loop_kept)},
          {"executed_as", result.executed_as},
          {"compile_s", Number(result.compile_s)},
          {"audit", audit}};
}

AotResult CheckCase(const Case& c, const AotTarget& target) {
  AotResult result;
  result.id = c.id();
  const auto end = [&result](Outcome outcome, const std::string& reason) {
    result.outcome = outcome;
    result.reason = OneLine(reason);
    return result;
  };
  const Result<const benchmarks::Benchmark*> benchmark = benchmarks::FindBenchmark(c.bench);
  if (!benchmark) return end(Outcome::kFailed, benchmark.error().ToString());
  const Result<programs::Program> program = Build(c, **benchmark, target);
  if (!program) return end(OutcomeOf(program.error()), program.error().ToString());
  if (program->repeat == programs::Repeat::kTransfers) return end(Outcome::kNoProgram, "");

  const bool whole_mesh = (*benchmark)->uses_mesh || c.placement.all;
  const std::vector<int> devices =
      whole_mesh ? target.mesh.order : std::vector<int>{c.placement.device};
  const ChildResult child =
      RunInChild([&] { return DumpLine(CompileAndAudit(*program, devices, target.topology)); },
                 target.limit_s);
  if (!child.finished)
    return end(Outcome::kFailed,
               "the compiler's process: " + child.problem + CheckFailure(child.log));
  const Result<Json> answer = ParseJson(child.output);
  if (!answer) return end(Outcome::kFailed, answer.error().ToString());
  result.compile_s = OptionalNumber(*answer, "compile_s").value_or(0);
  result.executed_as = StringOr(*answer, "executed_as");
  if (Member(*answer, "loop_kept") != nullptr) result.loop_kept = BoolOr(*answer, "loop_kept");
  if (const Json* audit = Member(*answer, "audit")) {
    for (const Json& line : *audit) {
      result.audit.push_back({StringOr(line, "level"), StringOr(line, "text")});
    }
  }
  return end(ParseOutcome(StringOr(*answer, "outcome")), StringOr(*answer, "reason"));
}

Result<std::vector<DevicePlace>> ListPlaces(const pjrt::TopologyRequest& topology) {
  const ChildResult child = RunInChild(
      [&]() -> std::string {
        const Result<std::vector<device::DeviceInfo>> devices = pjrt::ListTopologyDevices(topology);
        if (!devices) return DumpLine({{"error", devices.error().ToString()}});
        Json places = Json::array();
        for (const device::DeviceInfo& device : *devices) {
          places.push_back({{"coords", device.coords}, {"core", device.core}});
        }
        return DumpLine({{"places", places}});
      },
      kListLimitS);
  if (!child.finished) {
    return Fail(Code::kUnavailable, "listing the devices: " + child.problem, topology.plugin_path);
  }
  RL_ASSIGN(const Json answer, ParseJson(child.output));
  const Json* listed = Member(answer, "places");
  if (listed == nullptr) return Fail(Code::kUnavailable, StringOr(answer, "error"));
  std::vector<DevicePlace> places;
  for (const Json& place : *listed) {
    places.push_back({place.at("coords").get<std::vector<int64_t>>(), place.at("core").get<int>()});
  }
  return places;
}

}  // namespace ridgeline::tools
