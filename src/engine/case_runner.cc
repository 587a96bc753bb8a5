#include "engine/case_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/hash.h"
#include "base/text.h"
#include "benchmarks/benchmark.h"
#include "engine/step_clock.h"
#include "hlo/reader.h"
#include "programs/loop.h"

namespace ridgeline::engine {
namespace {

using programs::Repeat;

constexpr int64_t kMostCalls = 1000;                  // of an imported program, back to back
constexpr int64_t kTransferCount = 1024;              // most back-to-back transfers of one size
constexpr int64_t kLeastTransfers = 4;                // some plugins copy several side by side
constexpr int64_t kTransferBytes = int64_t{1} << 30;  // of host arrays for one direction
constexpr double kLateResult = 0.01;                  // seconds after the end of its run …
constexpr int kMostLateResults = 3;  // … so many times: the plugin's events do not wait

// Of a benchmark that builds its program: the codes are ours and say why there is none.
CaseStatus StatusOfBuild(const Error& error) {
  switch (error.code) {
    case Code::kResourceExhausted:
    case Code::kOutOfRange:
      return CaseStatus::kSkipped;
    case Code::kUnimplemented:
      return CaseStatus::kUnsupported;
    case Code::kFailedPrecondition:
      return CaseStatus::kNotApplicable;
    default:
      return CaseStatus::kFailed;
  }
}

// Of a plugin at work. A lost device says FAILED_PRECONDITION or OUT_OF_RANGE, too: a failure.
CaseStatus StatusOfPlugin(const Error& error) {
  if (error.code == Code::kResourceExhausted) return CaseStatus::kSkipped;
  if (error.code == Code::kUnimplemented) return CaseStatus::kUnsupported;
  return CaseStatus::kFailed;
}

// Both ends of words that are too long for a record: a compiler may print a whole program.
std::string Bounded(const std::string& words) {
  constexpr size_t kBegin = 3000;
  constexpr size_t kEnd = 1000;
  if (words.size() <= kBegin + kEnd) return words;
  return fmt::format("{} … ({} bytes in all) … {}", words.substr(0, kBegin), words.size(),
                     words.substr(words.size() - kEnd));
}

// Whether a compiler refused what it does not support. XLA says so with several codes, INTERNAL
// among them, so its words count as well; any other failure of a compiler is a failure.
bool IsRefusal(const Error& error) {
  if (error.code == Code::kUnimplemented) return true;
  if (error.message.find("parse") != std::string::npos) return false;  // of our own text
  if (error.code == Code::kInvalidArgument) return true;
  std::string words = error.message;
  std::ranges::transform(words, words.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const std::string_view refusal :
       {"not supported", "unsupported", "not implemented", "unimplemented"}) {
    if (words.find(refusal) != std::string::npos) return true;
  }
  return false;
}

void AddOnce(std::vector<std::string>& to, std::string words) {
  if (std::ranges::find(to, words) == to.end()) to.push_back(std::move(words));
}

Result<std::unique_ptr<device::Buffer>> PutAndWait(device::Client& client, const HostTensor& tensor,
                                                   int device) {
  RL_ASSIGN(auto buffer,
            client.StartPut({.data = tensor.bytes,
                             .shape = tensor.shape,
                             .device = device,
                             .memory_kind = {},
                             .semantics = device::HostSemantics::kImmutableOnlyDuringCall}));
  RL_CHECK_OK(buffer->Await());
  return buffer;
}

Result<device::BufferGrid> PutTripCount(device::Client& client, const std::vector<int>& devices,
                                        int64_t count) {
  HostTensor tensor(Shape{DType::kS32, {}});
  tensor.set(0, static_cast<double>(count));
  device::BufferGrid grid;
  for (const int device : devices) {
    RL_ASSIGN(auto buffer, PutAndWait(client, tensor, device));
    grid.emplace_back();
    grid.back().push_back(std::move(buffer));
  }
  return grid;
}

}  // namespace

uint64_t RunContext::pass() const {
  int most = 0;
  for (const auto& [id, passes] : earlier) most = std::max(most, passes.done);
  return static_cast<uint64_t>(most);
}

std::string_view Name(Phase phase) {
  static constexpr std::string_view kNames[] = {"build",     "compile", "load",
                                                "calibrate", "sample",  "check"};
  return kNames[static_cast<size_t>(phase)];
}

CaseRunner::CaseRunner(RunContext& context, Case c)
    : context_(context),
      case_(std::move(c)),
      seed_(context.seed ^ Fnv1a(case_.id())),
      cpu_start_(ReadCpuTimes()),
      guard_(case_.precision.time_limit_s / case_.precision.passes) {
  if (const auto it = context.earlier.find(case_.id()); it != context.earlier.end()) {
    earlier_ = it->second;
    const Measurement& before = earlier_.measurement;
    measurement_.wall_s = before.wall_s;
    measurement_.audit_s = before.audit_s;
    measurement_.check_s = before.check_s;
    measurement_.audit = before.audit;
    measurement_.executed_as = before.executed_as;
    lasting_doubts_ = earlier_.doubts;
    lasting_labels_ = earlier_.labels;
  }
  measurement_.id = case_.id();
  measurement_.component = case_.component;
  measurement_.bench = case_.bench;
  measurement_.params = case_.params;
  measurement_.data_mode = case_.data_mode;
  // JSON readers hold 53 bits exactly.
  measurement_.seed = seed_ & ((uint64_t{1} << 53) - 1);
  seed_ = measurement_.seed;
}

bool CaseRunner::End(CaseStatus status, const std::string& reason) {
  measurement_.status = status;
  measurement_.reason = InPass(earlier_.done, case_.precision.passes) + Bounded(reason);
  ended_ = true;
  return false;
}

bool CaseRunner::EndWith(const Error& error, std::string_view doing) {
  if (doing.empty()) return End(StatusOfBuild(error), error.ToString());
  std::string reason = fmt::format("{}: {}", doing, error.ToString());
  const CaseStatus status = StatusOfPlugin(error);
  if (status == CaseStatus::kSkipped) {
    reason += fmt::format("; the case needs {}", FormatBytes(bytes_needed()));
  }
  return End(status, reason);
}

bool CaseRunner::Build() {
  const StepClock step(*context_.client, measurement_.wall_s);
  return DoBuild();
}
bool CaseRunner::Load() {
  const StepClock step(*context_.client, measurement_.wall_s);
  return DoLoad();
}
bool CaseRunner::Sample() {
  const StepClock step(*context_.client, measurement_.wall_s);
  return DoSample();
}
void CaseRunner::Finish() {
  {
    const StepClock step(*context_.client, measurement_.wall_s);
    DoFinish();
  }
  if (!measurement_.time_s || earlier_.done + 1 >= case_.precision.passes) return;
  passed_ = EarlierPasses{.done = earlier_.done + 1,
                          .base = sampler_->base(),
                          .samples = sampler_->Samples(),
                          .doubts = lasting_doubts_,
                          .labels = lasting_labels_,
                          .measurement = measurement_};
}

void CaseRunner::Announce(Phase phase, double expected_s) {
  if (context_.phase) context_.phase(case_.id(), phase, expected_s);
}

bool CaseRunner::DoBuild() {
  Announce(Phase::kBuild);
  const Result<const benchmarks::Benchmark*> benchmark = benchmarks::FindBenchmark(case_.bench);
  if (!benchmark) return EndWith(benchmark.error(), "");
  std::string imported;
  if (case_.params.Has("file")) {
    Result<std::string> text = context_.read_file(case_.params.Text("file"));
    if (!text) return EndWith(text.error(), "");
    imported = std::move(*text);
  }
  const benchmarks::Target target{.mesh = context_.mesh,
                                  .placement = case_.placement,
                                  .platform = context_.client->platform().name,
                                  .program_text = std::move(imported)};
  if (context_.mesh->size() < (*benchmark)->min_devices) {
    return End(CaseStatus::kNotApplicable,
               fmt::format("needs {} devices, this run has {}", (*benchmark)->min_devices,
                           context_.mesh->size()));
  }
  Result<programs::Program> program = (*benchmark)->build(case_.params, target);
  if (!program) return EndWith(program.error(), "");
  program_ = std::move(*program);

  const bool whole_mesh = (*benchmark)->uses_mesh || case_.placement.all;
  devices_ = whole_mesh ? context_.mesh->order : std::vector<int>{case_.placement.device};
  measurement_.devices = static_cast<int>(devices_.size());
  if ((*benchmark)->uses_mesh) {
    measurement_.mesh = ToJson(*context_.mesh);
    measurement_.mesh["group"] =
        case_.params.Has("group") ? Json(case_.params.Text("group")) : Json(nullptr);
  }
  measurement_.dtype = Name(program_.dtype);
  measurement_.scope = program_.scope;
  measurement_.memory_kind = program_.transfer.memory_kind;
  measurement_.labels = program_.labels;
  if (context_.client->platform().name == "cpu" && !(*benchmark)->uses_mesh && whole_mesh &&
      devices_.size() > 1) {
    measurement_.labels.push_back("virtual devices: shared cores");
  }
  measurement_.work = program_.work;
  measurement_.working_set_bytes = program_.working_set_bytes;
  measurement_.program_hash = fmt::format("{:016x}", Fnv1a(program_.stablehlo));
  return true;
}

int64_t CaseRunner::bytes_needed() const {
  const auto partitions = static_cast<int64_t>(devices_.size());
  if (program_.repeat == Repeat::kTransfers) {
    return 2 * partitions *
           std::max(
               program_.inputs[0].shape.host_bytes() * 5,
               std::min(kTransferBytes, kTransferCount * program_.inputs[0].shape.host_bytes()));
  }
  int64_t largest = 0;
  for (const programs::TensorSpec& spec : program_.inputs) {
    largest = std::max(largest, spec.shape.host_bytes());
  }
  // One array at a time stands in host memory beside the devices' own.
  return partitions * program_.device_bytes() + 2 * largest;
}

void CaseRunner::Note(std::string_view level, std::string text) {
  const bool known = std::ranges::any_of(
      measurement_.audit, [&text](const AuditLine& line) { return line.text == text; });
  if (!known) measurement_.audit.push_back({std::string(level), std::move(text)});
}

void CaseRunner::Doubt(std::string words) { AddOnce(lasting_doubts_, std::move(words)); }
void CaseRunner::Label(std::string words) { AddOnce(lasting_labels_, std::move(words)); }

Status CaseRunner::AuditProgram() {
  const Result<device::ProgramText> text = executable_->OptimizedProgram();
  if (!text) {
    Note("warning",
         "the plugin does not give the compiled program back: " + Bounded(text.error().message));
    return {};
  }
  const Result<hlo::Module> module = hlo::ReadModule(text->bytes);
  if (!module) {
    const std::string unread = "the compiled program cannot be read: " + module.error().message;
    Note("warning", unread);
    Doubt(unread);
    return {};
  }
  const hlo::AuditResult audit = hlo::Audit(*module, program_.expected);
  std::string refusal;
  for (const hlo::Finding& finding : audit.findings) {
    Note(Name(finding.level), finding.text);
    if (finding.level == hlo::FindingLevel::kRefused && refusal.empty()) refusal = finding.text;
  }
  if (!audit.executed_as.empty()) measurement_.executed_as = audit.executed_as;
  if (audit.refused()) return Fail(Code::kAborted, refusal);
  return {};
}

Status CaseRunner::LoadInputs() {
  device::Client& client = *context_.client;
  inputs_.clear();
  carried_.clear();
  for (size_t partition = 0; partition < devices_.size(); ++partition) {
    inputs_.emplace_back();
    carried_.emplace_back();
    const int place = static_cast<int>(partition);
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const programs::InputSource source(program_.inputs[i], static_cast<int>(i), place, seed_,
                                         case_.data_mode);
      RL_ASSIGN(auto buffer, PutAndWait(client, source.Materialize(), devices_[partition]));
      inputs_.back().push_back(std::move(buffer));
    }
    for (size_t i = 0; i < program_.carried.size(); ++i) {
      const programs::InputSource source(program_.carried[i],
                                         static_cast<int>(program_.inputs.size() + i), place, seed_,
                                         case_.data_mode);
      RL_ASSIGN(auto buffer, PutAndWait(client, source.Materialize(), devices_[partition]));
      carried_.back().push_back(std::move(buffer));
    }
  }
  return {};
}

Status CaseRunner::LoadTransfers() {
  const int64_t bytes = std::max<int64_t>(program_.inputs[0].shape.host_bytes(), 1);
  const int64_t count = std::clamp(kTransferBytes / bytes, int64_t{5}, kTransferCount);
  RL_ASSIGN(transfers_,
            TransferRun::Create(*context_.client, program_, devices_, seed_, case_.data_mode));
  sampler_.emplace([this](int64_t n) { return transfers_->Time(n); }, case_.precision,
                   ShuffleSeed(),
                   CountRules{.most = count, .least_base = kLeastTransfers, .warm_ups = 2});
  return {};
}

Result<double> CaseRunner::TimeRun(int64_t count) {
  device::Client& client = *context_.client;
  device::ArgumentGrid arguments(devices_.size());
  if (program_.repeat == Repeat::kCalls) {
    for (size_t p = 0; p < devices_.size(); ++p) {
      for (const auto& buffer : inputs_[p]) arguments[p].push_back(buffer.get());
    }
    const double start = client.Now();
    RL_ASSIGN(device::BufferGrid outputs,
              executable_->RunBackToBack(arguments, static_cast<int>(count)));
    const double seconds = client.Now() - start;
    carried_ = std::move(outputs);
    RL_CHECK_OK(AwaitResults(start + seconds, seconds));
    return seconds;
  }
  auto it = trip_counts_.find(count);
  if (it == trip_counts_.end()) {
    RL_ASSIGN(device::BufferGrid grid, PutTripCount(client, devices_, count));
    it = trip_counts_.emplace(count, std::move(grid)).first;
  }
  for (size_t p = 0; p < devices_.size(); ++p) {
    arguments[p].push_back(it->second[p][0].get());
    for (const auto& buffer : inputs_[p]) arguments[p].push_back(buffer.get());
    for (const auto& buffer : carried_[p]) arguments[p].push_back(buffer.get());
  }
  const double start = client.Now();
  RL_ASSIGN(device::BufferGrid outputs, executable_->Run(arguments));
  const double seconds = client.Now() - start;
  carried_ = std::move(outputs);
  RL_CHECK_OK(AwaitResults(start + seconds, seconds));
  return seconds;
}

Status CaseRunner::AwaitResults(double end, double seconds) {
  for (const auto& row : carried_) {
    for (const auto& buffer : row) RL_CHECK_OK(buffer->Await());
  }
  const double late = context_.client->Now() - end;
  // A busy host delays a run or two; a plugin whose events do not wait does it every time.
  if (late > std::max(kLateResult, seconds) && ++late_results_ >= kMostLateResults) {
    return Fail(Code::kInternal,
                fmt::format("the plugin said that the run was over {} before its results were "
                            "there: its events cannot be timed",
                            FormatSeconds(late)),
                "PJRT_LoadedExecutable_Execute");
  }
  return {};
}

bool CaseRunner::DoLoad() {
  const int64_t needed = bytes_needed();
  const int64_t free = context_.free_bytes(static_cast<int>(devices_.size()));
  if (needed > free) {
    return End(CaseStatus::kSkipped,
               fmt::format("needs {}, {} free", FormatBytes(needed), FormatBytes(free)));
  }
  if (program_.repeat == Repeat::kTransfers) {
    Announce(Phase::kLoad);
    if (const Status loaded = LoadTransfers(); !loaded) return EndWith(loaded.error(), "load");
  } else {
    Announce(Phase::kCompile);
    const double compile_start = context_.client->Now();
    Result<std::unique_ptr<device::Executable>> executable =
        context_.client->Compile({.program = program_.stablehlo,
                                  .partitions = static_cast<int>(devices_.size()),
                                  .devices = devices_,
                                  .xla_options = {},
                                  .shardy = program_.shardy});
    if (!executable) {
      const Error& error = executable.error();
      return End(IsRefusal(error) ? CaseStatus::kUnsupported : StatusOfPlugin(error),
                 "compile: " + error.ToString());
    }
    executable_ = std::move(*executable);
    measurement_.compile_s =
        earlier_.done > 0 ? earlier_.measurement.compile_s : context_.client->Now() - compile_start;
    const double audit_start = context_.client->Now();
    const Status audit = AuditProgram();
    measurement_.audit_s = measurement_.audit_s.value_or(0) + context_.client->Now() - audit_start;
    if (!audit) {
      return End(CaseStatus::kFailed, "audit: " + audit.error().message);
    }
    Announce(Phase::kLoad);
    if (const Status loaded = LoadInputs(); !loaded) return EndWith(loaded.error(), "load");
    const CountRules counts = program_.repeat == Repeat::kCalls
                                  ? CountRules{.most = kMostCalls, .warm_ups = 2}
                                  : CountRules{};
    sampler_.emplace([this](int64_t n) { return TimeRun(n); }, case_.precision, ShuffleSeed(),
                     counts);
  }
  if (earlier_.done > 0) sampler_->Continue(earlier_.base, earlier_.samples);
  Announce(Phase::kCalibrate, case_.precision.block_seconds);
  if (const Status calibrated = sampler_->Calibrate(); !calibrated) {
    return EndWith(calibrated.error(), "run");
  }
  trip_counts_.clear();
  return true;
}

bool CaseRunner::DoSample() {
  const double rest = guard_.RestNeeded();
  Announce(Phase::kSample, rest + sampler_->block_estimate_s());
  if (rest > 0) {
    if (context_.rest) context_.rest(rest);
    guard_.Rested(rest);
  }
  if (const Status block = sampler_->RunBlock(); !block) return EndWith(block.error(), "run");
  guard_.Add({sampler_->last_round_s(), sampler_->last_block_s(), CpuMegahertz()});
  sampler_->Discard(guard_.discarded());
  return guard_.watching() || sampler_->state() == Sampler::State::kGoing;
}

Result<double> CaseRunner::FloorOf() {
  if (earlier_.done > 0 && earlier_.measurement.fit) return earlier_.measurement.fit->floor_s;
  const std::string key = fmt::format("{}", fmt::join(devices_, ","));
  if (const auto it = context_.floors.find(key); it != context_.floors.end()) return it->second;
  const programs::Program null_loop = programs::NullLoop(static_cast<int>(devices_.size()));
  device::Client& client = *context_.client;
  RL_ASSIGN(auto executable, client.Compile({.program = null_loop.stablehlo,
                                             .partitions = null_loop.partitions,
                                             .devices = devices_,
                                             .xla_options = {},
                                             .shardy = false}));
  RL_ASSIGN(device::BufferGrid carried, PutTripCount(client, devices_, 0));
  Sampler sampler(
      [&](int64_t count) -> Result<double> {
        RL_ASSIGN(const device::BufferGrid trips, PutTripCount(client, devices_, count));
        device::ArgumentGrid arguments(devices_.size());
        for (size_t p = 0; p < devices_.size(); ++p) {
          arguments[p] = {trips[p][0].get(), carried[p][0].get()};
        }
        const double start = client.Now();
        RL_ASSIGN(device::BufferGrid outputs, executable->Run(arguments));
        const double seconds = client.Now() - start;
        carried = std::move(outputs);
        return seconds;
      },
      Precision{.relative_half_width = 0.1,
                .min_blocks = 3,
                .max_blocks = 3,
                .block_seconds = 0.01,
                .time_limit_s = 1},
      seed_, {});
  RL_CHECK_OK(sampler.Calibrate());
  while (sampler.state() == Sampler::State::kGoing) RL_CHECK_OK(sampler.RunBlock());
  const double floor = std::max(0.0, sampler.Fit()->per_count.value);
  return context_.floors[key] = floor;
}

}  // namespace ridgeline::engine
