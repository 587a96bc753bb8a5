// The end of a case: the answer is checked, and the samples become figures with a status.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "engine/case_runner.h"
#include "engine/step_clock.h"

namespace ridgeline::engine {
namespace {

using programs::Repeat;

constexpr double kGoodR2 = 0.99;
constexpr double kFloors = 5;        // a round shorter than so many floors holds loop overhead
constexpr double kBusyOthers = 0.3;  // CPUs taken by others before it is said

// The most in any pass.
double CpusOfOthers(const Json& state) {
  const auto of = [](const Json& pass) {
    return OptionalNumber(ObjectOr(pass, "load"), "other_cpus").value_or(0);
  };
  double most = of(state);
  if (const Json* passes = Member(state, "passes")) {
    for (const Json& pass : *passes) most = std::max(most, of(pass));
  }
  return most;
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

}  // namespace

bool CaseRunner::Check() {
  if (!program_.check) {
    measurement_.check_detail = "no known answer";
    return true;
  }
  Announce(Phase::kCheck);
  double seconds = 0;
  const bool passed = [&] {
    const StepClock step(*context_.client, seconds);
    return DoCheck();
  }();
  measurement_.check_s = measurement_.check_s.value_or(0) + seconds;
  return passed;
}

bool CaseRunner::DoCheck() {
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
                         .blocks = static_cast<int>(fit.block_slopes.size()),
                         .floor_s = 0,
                         .passes_s = fit.pass_slopes};
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

void CaseRunner::Judge(const Slope& fit) {
  JudgeThrottling();
  std::vector<std::string> doubts = lasting_doubts_;
  if (fit.per_count.value <= 0 || fit.per_count.lo <= 0) {
    doubts.push_back("time does not grow with the count: below the noise");
  }
  if (fit.r2 < kGoodR2) {
    doubts.push_back(fmt::format("R2 of time against count is {:.4f}, under {}", fit.r2, kGoodR2));
  }
  // What the interval holds already is no further doubt.
  const double drift = Drift(fit.block_slopes);
  if (IsDrifting(fit.block_slopes) && std::fabs(drift) > 2 * fit.per_count.relative_half_width()) {
    doubts.push_back(
        fmt::format("drift: the last third took {:+.1f} % against the first", 100 * drift));
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
  measurement_.state = State(fit);
  measurement_.labels.insert(measurement_.labels.end(), lasting_labels_.begin(),
                             lasting_labels_.end());
  if (const double others = CpusOfOthers(measurement_.state); others > kBusyOthers) {
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
  } else if (fit.per_count.relative_half_width() > case_.precision.relative_half_width) {
    measurement_.status = CaseStatus::kUnconverged;
    measurement_.reason = fmt::format(
        "interval ± {}, asked ± {}, after {} blocks{} and {}",
        FormatShare(fit.per_count.relative_half_width()),
        FormatShare(case_.precision.relative_half_width), fit.block_slopes.size(),
        fit.pass_slopes.size() > 1 ? fmt::format(" in {} passes", fit.pass_slopes.size()) : "",
        FormatSeconds(measurement_.timed_s));
  }
}

Json CaseRunner::State(const Slope& fit) const {
  Json pass = {{"drift", Number(Drift(fit.block_slopes))},
               {"load", LoadSince(cpu_start_)},
               {"cpu_mhz", Number(CpuMegahertz())}};
  pass.update(guard_.ToJson());
  if (case_.precision.passes == 1) return pass;
  pass.erase("drift");
  Json passes = Json::array();
  if (const Json* before = Member(earlier_.measurement.state, "passes")) passes = *before;
  passes.push_back(std::move(pass));
  return {{"drift", Number(Drift(fit.block_slopes))}, {"passes", std::move(passes)}};
}

void CaseRunner::JudgeThrottling() {
  const auto discarded = static_cast<int>(guard_.discarded().size());
  if (guard_.gave_up() || discarded > sampler_->blocks()) {
    Doubt(guard_.Words());
  } else if (discarded > 0) {
    Label(guard_.Words());
  }
}

void CaseRunner::JudgeAlias() {
  static constexpr const char* kZeroCopy = "zero-copy: the device buffer is the host's own memory";
  static constexpr const char* kUnknown =
      "the plugin cannot tell whether the device buffer is a copy or the host's own memory";
  const Result<bool> alias = transfers_->IsAlias();
  if (!alias) Label(kUnknown);
  if (!alias && program_.transfer.semantics == "zero_copy") Doubt(kUnknown);
  if (alias && *alias) Label(kZeroCopy);
  if (std::ranges::find(lasting_labels_, kZeroCopy) != lasting_labels_.end()) {
    measurement_.rates.clear();
  }
}

void CaseRunner::DoFinish() {
  if (!ended_) {
    measurement_.timed_s = earlier_.measurement.timed_s + sampler_->timed_s();
    const std::optional<Slope> fit = sampler_->Fit();
    if (Check() && fit) {
      MakeFigures(*fit);
      if (transfers_) JudgeAlias();
      Judge(*fit);
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
