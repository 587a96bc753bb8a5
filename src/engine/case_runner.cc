#include "engine/case_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/text.h"
#include "benchmarks/benchmark.h"
#include "hlo/reader.h"
#include "programs/loop.h"

namespace ridgeline::engine {
namespace {

using programs::Repeat;

constexpr double kGoodR2 = 0.99;
constexpr double kFloors = 5;           // a round shorter than so many floors holds loop overhead
constexpr int64_t kTransferCount = 64;  // most back-to-back transfers of one size
constexpr int64_t kTransferBytes = int64_t{1} << 30;  // of host arrays for one direction
constexpr double kBusyOthers = 0.3;                   // CPUs taken by others before it is said

CaseStatus StatusOf(const Error& error) {
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

// Reads outputs one at a time, so that a check holds one array of one partition in memory.
class DeviceCheckInput : public programs::CheckInput {
 public:
  using Reader = std::function<Result<HostTensor>(int partition, int output)>;
  DeviceCheckInput(const programs::Program& program, int partitions, uint64_t seed,
                   std::string_view data_mode, Reader reader)
      : program_(program),
        partitions_(partitions),
        seed_(seed),
        data_mode_(data_mode),
        reader_(std::move(reader)) {}

  programs::InputSource Input(int partition, int input) const override {
    return {program_.inputs[static_cast<size_t>(input)], input, partition, seed_, data_mode_};
  }
  const HostTensor& Output(int partition, int output) const override {
    const std::pair key(partition, output);
    const auto it = cache_.find(key);
    if (it != cache_.end()) return it->second;
    if (cache_.size() > 8) cache_.clear();
    Result<HostTensor> tensor = reader_(partition, output);
    if (!tensor && !error_) error_ = tensor.error();
    // An array that could not be read fails the comparison by its zeros and its error is told.
    return cache_[key] = tensor ? std::move(*tensor)
                                : HostTensor(program_.outputs[static_cast<size_t>(output)]);
  }
  int partitions() const override { return partitions_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  const programs::Program& program_;
  int partitions_;
  uint64_t seed_;
  std::string data_mode_;
  Reader reader_;
  mutable std::map<std::pair<int, int>, HostTensor> cache_;
  mutable std::optional<Error> error_;
};

// Adds the time from its making to its end.
class StepClock {
 public:
  StepClock(device::Client& client, double& total)
      : client_(client), total_(total), start_(client.Now()) {}
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;
  ~StepClock() { total_ += client_.Now() - start_; }

 private:
  device::Client& client_;
  double& total_;
  double start_;
};

}  // namespace

std::string_view Name(Phase phase) {
  static constexpr std::string_view kNames[] = {"build",     "compile", "load",
                                                "calibrate", "sample",  "check"};
  return kNames[static_cast<size_t>(phase)];
}

CaseRunner::CaseRunner(RunContext& context, Case c)
    : context_(context),
      case_(std::move(c)),
      seed_(context.seed ^ Fnv1a(case_.id())),
      cpu_start_(ReadCpuTimes()) {
  measurement_.id = case_.id();
  measurement_.component = case_.component;
  measurement_.bench = case_.bench;
  measurement_.params = case_.params;
  measurement_.data_mode = case_.data_mode;
  // JSON readers hold 53 bits exactly.
  measurement_.seed = seed_ & ((uint64_t{1} << 53) - 1);
  seed_ = measurement_.seed;
}

bool CaseRunner::End(CaseStatus status, std::string reason) {
  measurement_.status = status;
  measurement_.reason = std::move(reason);
  ended_ = true;
  return false;
}

bool CaseRunner::EndWith(const Error& error, std::string_view doing) {
  return End(StatusOf(error),
             doing.empty() ? error.ToString() : fmt::format("{}: {}", doing, error.ToString()));
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
  const StepClock step(*context_.client, measurement_.wall_s);
  DoFinish();
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

Status CaseRunner::AuditProgram() {
  const Result<device::ProgramText> text = executable_->OptimizedProgram();
  if (!text) {
    measurement_.audit.push_back(
        {"warning", "the plugin does not give the compiled program back: " + text.error().message});
    return {};
  }
  const Result<hlo::Module> module = hlo::ReadModule(text->bytes);
  if (!module) {
    measurement_.audit.push_back(
        {"warning", "the compiled program cannot be read: " + module.error().message});
    return {};
  }
  const hlo::AuditResult audit = hlo::Audit(*module, program_.expected);
  std::string refusal;
  for (const hlo::Finding& finding : audit.findings) {
    measurement_.audit.push_back({std::string(Name(finding.level)), finding.text});
    if (finding.level == hlo::FindingLevel::kRefused && refusal.empty()) refusal = finding.text;
  }
  measurement_.executed_as = audit.executed_as;
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
  RL_ASSIGN(transfers_, TransferRun::Create(*context_.client, program_, devices_, seed_,
                                            case_.data_mode, count));
  sampler_.emplace([this](int64_t n) { return transfers_->Time(n); }, case_.precision, seed_,
                   count);
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
  return seconds;
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
      // What a plugin refuses to compile it does not support, unless it could not read our text
      // (XLA says UNKNOWN then).
      const Error& error = executable.error();
      const bool unreadable =
          error.code == Code::kUnknown || error.message.find("parse") != std::string::npos;
      return End(error.code == Code::kResourceExhausted ? CaseStatus::kSkipped
                 : unreadable                           ? CaseStatus::kFailed
                                                        : CaseStatus::kUnsupported,
                 "compile: " + error.ToString());
    }
    executable_ = std::move(*executable);
    measurement_.compile_s = context_.client->Now() - compile_start;
    if (const Status audit = AuditProgram(); !audit) {
      return End(CaseStatus::kFailed, "audit: " + audit.error().message);
    }
    Announce(Phase::kLoad);
    if (const Status loaded = LoadInputs(); !loaded) return EndWith(loaded.error(), "load");
    constexpr int64_t kMostRounds = int64_t{1} << 30;
    constexpr int64_t kMostCalls = 1000;
    sampler_.emplace([this](int64_t n) { return TimeRun(n); }, case_.precision, seed_,
                     program_.repeat == Repeat::kCalls ? kMostCalls : kMostRounds);
  }
  Announce(Phase::kCalibrate, case_.precision.block_seconds);
  if (const Status calibrated = sampler_->Calibrate(); !calibrated) {
    return EndWith(calibrated.error(), "run");
  }
  trip_counts_.clear();
  return true;
}

bool CaseRunner::DoSample() {
  Announce(Phase::kSample, sampler_->block_estimate_s());
  if (const Status block = sampler_->RunBlock(); !block) return EndWith(block.error(), "run");
  return sampler_->state() == Sampler::State::kGoing;
}

Result<double> CaseRunner::FloorOf() {
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
      seed_, int64_t{1} << 30);
  RL_CHECK_OK(sampler.Calibrate());
  while (sampler.state() == Sampler::State::kGoing) RL_CHECK_OK(sampler.RunBlock());
  const double floor = std::max(0.0, sampler.Fit()->per_count.value);
  return context_.floors[key] = floor;
}

bool CaseRunner::Check() {
  if (!program_.check) {
    measurement_.check_detail = "no known answer";
    return true;
  }
  Announce(Phase::kCheck);
  std::vector<HostTensor> arrived;
  if (transfers_) {
    Result<std::vector<HostTensor>> read = transfers_->Arrived();
    if (!read) return EndWith(read.error(), "read back");
    arrived = std::move(*read);
  }
  const size_t arrays_per_device = transfers_ ? arrived.size() / devices_.size() : 0;
  const DeviceCheckInput input(program_, static_cast<int>(devices_.size()), seed_, case_.data_mode,
                               [&](int partition, int output) -> Result<HostTensor> {
                                 const auto p = static_cast<size_t>(partition);
                                 const auto o = static_cast<size_t>(output);
                                 if (transfers_) return arrived[p * arrays_per_device + o];
                                 HostTensor tensor(program_.outputs[o]);
                                 RL_ASSIGN(auto read, carried_[p][o]->StartRead(tensor.bytes));
                                 RL_CHECK_OK(read->Await());
                                 return tensor;
                               });
  const programs::CheckResult result = program_.check(input);
  if (input.error()) return EndWith(*input.error(), "read back");
  measurement_.check_status = result.passed ? "passed" : "failed";
  measurement_.check_detail = result.detail;
  if (!result.passed) return End(CaseStatus::kWrongResult, result.detail);
  return true;
}

void CaseRunner::MakeFigures(const Slope& fit) {
  measurement_.time_s = fit.per_count;
  measurement_.fit = Fit{.counts = fit.counts,
                         .medians_s = fit.medians,
                         .r2 = fit.r2,
                         .blocks = sampler_->blocks(),
                         .floor_s = 0};
  measurement_.launch_s = fit.intercept;
  measurement_.launch_resolved = fit.intercept.lo > 0;
  if (fit.per_count.value <= 0) return;
  const Interval& time = fit.per_count;
  for (const programs::RateSpec& spec : program_.rates) {
    // The interval of a reciprocal; an interval of time that reaches 0 has no upper rate.
    const double hi = time.lo > 0 ? spec.amount / time.lo : std::numeric_limits<double>::infinity();
    const double lo = std::isfinite(time.hi) ? spec.amount / time.hi : 0;
    measurement_.rates.push_back(
        {spec.name, spec.unit, {spec.amount / time.value, lo, hi}, std::nullopt});
  }
}

void CaseRunner::Judge(const Slope& fit, Sampler::State state) {
  std::vector<std::string> doubts;
  if (fit.per_count.value <= 0 || fit.per_count.lo <= 0) {
    doubts.push_back("time does not grow with the count: below the noise");
  }
  if (fit.r2 < kGoodR2) {
    doubts.push_back(fmt::format("R2 of time against count is {:.4f}, under {}", fit.r2, kGoodR2));
  }
  if (IsDrifting(fit.block_slopes)) {
    doubts.push_back(fmt::format("drift: the last third took {:+.1f} % against the first",
                                 100 * Drift(fit.block_slopes)));
  }
  if (program_.repeat == Repeat::kLoop) {
    if (const Result<double> floor = FloorOf()) {
      measurement_.fit->floor_s = *floor;
      if (fit.per_count.value < kFloors * *floor) {
        measurement_.labels.push_back(
            fmt::format("loop overhead included ({} a round)", FormatSeconds(*floor)));
      }
    }
  }
  measurement_.state = {{"drift", Number(Drift(fit.block_slopes))},
                        {"load", LoadSince(cpu_start_)},
                        {"cpu_mhz", Number(CpuMegahertz())}};
  const double others = OptionalNumber(measurement_.state["load"], "other_cpus").value_or(0);
  if (others > kBusyOthers) {
    measurement_.labels.push_back(
        fmt::format("other processes used {} CPUs meanwhile", FormatNumber(others, 2)));
  }
  if (!measurement_.executed_as.empty()) {
    measurement_.status = CaseStatus::kEmulated;
    measurement_.reason =
        fmt::format("{} is computed as {}", measurement_.dtype, measurement_.executed_as);
  } else if (!doubts.empty()) {
    measurement_.status = CaseStatus::kSuspect;
    measurement_.reason = fmt::format("{}", fmt::join(doubts, "; "));
  } else if (state != Sampler::State::kConverged) {
    measurement_.status = CaseStatus::kUnconverged;
    measurement_.reason = fmt::format("interval ± {}, asked ± {}, after {} blocks and {}",
                                      FormatShare(fit.per_count.relative_half_width()),
                                      FormatShare(case_.precision.relative_half_width),
                                      sampler_->blocks(), FormatSeconds(sampler_->timed_s()));
  }
}

void CaseRunner::DoFinish() {
  if (!ended_) {
    measurement_.timed_s = sampler_->timed_s();
    const std::optional<Slope> fit = sampler_->Fit();
    if (Check() && fit) {
      MakeFigures(*fit);
      Judge(*fit, sampler_->state());
      if (transfers_) {
        const Result<bool> alias = transfers_->IsAlias();
        if (alias && *alias) {
          measurement_.rates.clear();
          measurement_.labels.push_back("zero-copy: the device buffer is the host's own memory");
        }
      }
      ended_ = true;
    }
  }
  trip_counts_.clear();
  inputs_.clear();
  carried_.clear();
  transfers_.reset();
  executable_.reset();
}

}  // namespace ridgeline::engine
