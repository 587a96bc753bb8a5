#include "predict/suite_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "benchmarks/benchmark.h"
#include "hlo/audit.h"
#include "hlo/loop.h"
#include "hlo/reader.h"
#include "report/text.h"

namespace ridgeline::predict {
namespace {

std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Result<programs::Program> Build(const Case& c, const benchmarks::Benchmark& benchmark,
                                const SuiteTarget& target) {
  std::string imported;
  if (c.params.Has("file")) {
    std::ifstream file(c.params.Text("file"), std::ios::binary);
    if (!file) return Fail(Code::kNotFound, "cannot be read", c.params.Text("file"));
    std::stringstream text;
    text << file.rdbuf();
    imported = text.str();
  }
  if (target.mesh.size() < benchmark.min_devices) {
    return Fail(Code::kFailedPrecondition, fmt::format("needs {} devices, the slice has {}",
                                                       benchmark.min_devices, target.mesh.size()));
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

// As in the engine: what a compiler refuses it does not support, unless it could not read our text
// or did not survive it.
Outcome OutcomeOfCompile(const Error& error) {
  const bool unreadable = error.message.find("parse") != std::string::npos;
  return unreadable || IsCrash(error) ? Outcome::kFailed : Outcome::kUnsupported;
}

Outcome OutcomeOfBuild(const Error& error) {
  const bool other_platform =
      error.code == Code::kUnimplemented || error.code == Code::kFailedPrecondition;
  return other_platform ? Outcome::kUnsupported : Outcome::kFailed;
}

Status Audit(const programs::Program& program, const std::string& compiled, CheckedCase& result) {
  RL_ASSIGN(const hlo::Module module, hlo::ReadModule(compiled));
  const hlo::AuditResult audit = hlo::Audit(module, program.expected);
  for (const hlo::Finding& finding : audit.findings) {
    result.audit.push_back({std::string(Name(finding.level)), finding.text});
  }
  result.executed_as = audit.executed_as;
  if (program.expected.loop) result.loop_kept = HasLoop(module);
  return {};
}

}  // namespace

std::string_view Name(Outcome outcome) {
  static constexpr std::string_view kNames[] = {"compiled", "unsupported", "failed", "no program"};
  return kNames[static_cast<size_t>(outcome)];
}

bool CheckedCase::refused() const {
  return std::ranges::any_of(audit, [](const AuditLine& line) { return line.level == "refused"; });
}

CheckedCase CheckCase(const Case& c, const SuiteTarget& target) {
  CheckedCase result;
  result.id = c.id();
  const auto end = [&result](Outcome outcome, const std::string& reason) {
    result.outcome = outcome;
    result.reason = OneLine(reason);
    return result;
  };
  const Result<const benchmarks::Benchmark*> benchmark = benchmarks::FindBenchmark(c.bench);
  if (!benchmark) return end(Outcome::kFailed, benchmark.error().ToString());
  const Result<programs::Program> program = Build(c, **benchmark, target);
  if (!program) return end(OutcomeOfBuild(program.error()), program.error().ToString());
  if (program->repeat == programs::Repeat::kTransfers) return end(Outcome::kNoProgram, "");

  const bool whole_mesh = (*benchmark)->uses_mesh || c.placement.all;
  const std::vector<int> devices =
      whole_mesh ? target.mesh.order : std::vector<int>{c.placement.device};
  const auto start = std::chrono::steady_clock::now();
  const Result<pjrt::AotProgram> compiled = CompileInChild(target.topology,
                                                           {.program = program->stablehlo,
                                                            .partitions = program->partitions,
                                                            .devices = devices,
                                                            .xla_options = target.flags,
                                                            .shardy = program->shardy},
                                                           target.limits, target.cache);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  result.compile_s = took.count();
  if (!compiled) return end(OutcomeOfCompile(compiled.error()), compiled.error().ToString());
  result.cached = compiled->cached;
  result.compiler = OneLine(compiled->compiler);
  if (const Status audited = Audit(*program, compiled->text.bytes, result); !audited) {
    return end(Outcome::kFailed,
               "the compiled program cannot be read: " + audited.error().ToString());
  }
  return end(Outcome::kCompiled, "");
}

SuiteCounts Count(std::span<const CheckedCase> cases) {
  SuiteCounts counts;
  for (const CheckedCase& one : cases) {
    if (one.outcome == Outcome::kNoProgram) continue;
    ++counts.programs;
    counts.cases += one.cases;
    counts.compiled += one.outcome == Outcome::kCompiled;
    counts.unsupported += one.outcome == Outcome::kUnsupported;
    counts.failed += one.outcome == Outcome::kFailed;
    counts.refused += one.refused();
    counts.loops_gone += one.loop_kept.has_value() && !*one.loop_kept;
  }
  return counts;
}

std::string Summary(const SuiteCounts& counts) {
  std::string text = fmt::format("{} program{}", counts.programs, counts.programs == 1 ? "" : "s");
  if (counts.cases > counts.programs) {
    text += fmt::format(" for {} cases that differ only in the devices they run on", counts.cases);
  }
  text += fmt::format(": {} compiled, {} unsupported, {} failed", counts.compiled,
                      counts.unsupported, counts.failed);
  if (counts.refused > 0) text += fmt::format("; {} refused by the audit", counts.refused);
  if (counts.loops_gone > 0) text += fmt::format("; {} lost their loop", counts.loops_gone);
  return text;
}

std::string SuiteTable(std::span<const CheckedCase> cases, int width) {
  std::string text;
  for (const CheckedCase& one : cases) {
    const std::string loop = !one.loop_kept ? "" : *one.loop_kept ? ", loop kept" : ", LOOP GONE";
    const std::string others =
        one.cases > 1 ? fmt::format(" (and {} more places)", one.cases - 1) : "";
    text +=
        report::Wrap(fmt::format("{}{}: {}{}", Name(one.outcome), loop, one.id, others), width, 4);
    if (!one.reason.empty()) text += report::Wrap("    " + Printable(one.reason), width, 4);
    for (const AuditLine& line : one.audit) {
      if (line.level == "ok" || line.level == "note") continue;
      text += report::Wrap(fmt::format("    {}: {}", line.level, Printable(line.text)), width, 4);
    }
  }
  return text;
}

Json ToJson(const CheckedCase& checked) {
  Json audit = Json::array();
  for (const AuditLine& line : checked.audit) {
    audit.push_back({{"level", line.level}, {"text", line.text}});
  }
  return {{"id", checked.id},
          {"outcome", Name(checked.outcome)},
          {"reason", checked.reason},
          {"loop_kept", OrNull(checked.loop_kept)},
          {"executed_as", checked.executed_as},
          {"compile_s", Number(checked.compile_s)},
          {"cached", checked.cached},
          {"stands_for", checked.cases},
          {"audit", audit}};
}

Json ToJson(const SuiteCounts& counts) {
  return {{"programs", counts.programs},    {"stands_for", counts.cases},
          {"compiled", counts.compiled},    {"unsupported", counts.unsupported},
          {"failed", counts.failed},        {"refused", counts.refused},
          {"loops_gone", counts.loops_gone}};
}

}  // namespace ridgeline::predict
