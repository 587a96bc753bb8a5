#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ridgeline::engine {
namespace {

constexpr int64_t kCounts[] = {1, 2, 3, 4, 5};
constexpr int64_t kCountSum = 15;
constexpr int64_t kLargestBase = 200'000'000;  // trip counts are s32

int ShareOf(int blocks, int passes) { return (blocks + passes - 1) / passes; }

std::vector<double> FirstThird(const std::vector<double>& values) {
  const auto third = static_cast<std::ptrdiff_t>(std::max<size_t>(1, values.size() / 3));
  return {values.begin(), values.begin() + third};
}

std::vector<double> LastThird(const std::vector<double>& values) {
  const auto third = static_cast<std::ptrdiff_t>(std::max<size_t>(1, values.size() / 3));
  return {values.end() - third, values.end()};
}

}  // namespace

Sampler::Sampler(TimedRun run, Precision precision, uint64_t seed, CountRules counts)
    : run_(std::move(run)), precision_(precision), shuffle_(seed), counts_(counts) {}

void Sampler::Continue(int64_t base, std::vector<Sample> earlier) {
  base_ = std::clamp<int64_t>(base, 1, std::max<int64_t>(1, counts_.most / 5));
  earlier_ = std::move(earlier);
}

Status Sampler::Calibrate() {
  RL_ASSIGN(first_run_s_, run_(1));
  if (base_ == 0) RL_CHECK_OK(FindBase());
  for (int i = 0; i < counts_.warm_ups; ++i) RL_CHECK_OK(run_(5 * base_));
  return {};
}

Status Sampler::FindBase() {
  // Double the count until the rounds, not the launch, make the time; the first run is never used.
  const double enough = std::max(precision_.block_seconds / 8, 5e-4);
  const int64_t most = std::max<int64_t>(1, std::min(counts_.most / 5, kLargestBase));
  int64_t count = 1;
  double previous = 0;
  RL_ASSIGN(double seconds, run_(1));
  while (seconds < enough && count < most) {
    previous = seconds;
    const double growth = std::clamp(enough / std::max(seconds, 1e-7), 2.0, 8.0);
    count = std::min(most, static_cast<int64_t>(std::ceil(static_cast<double>(count) * growth)));
    RL_ASSIGN(seconds, run_(count));
  }
  // Time of one round from the last run, which the launch may still inflate: a base that is too
  // small costs precision, never truth.
  const double launch = count > 1 ? std::min(previous, first_run_s_) / 2 : 0;
  const double round = std::max((seconds - launch) / static_cast<double>(count), 1e-10);
  const double wanted = precision_.block_seconds / (static_cast<double>(kCountSum) * round);
  base_ = std::clamp(static_cast<int64_t>(std::min(wanted, 1e9)),
                     std::min(counts_.least_base, most), most);
  return {};
}

Status Sampler::RunBlock() {
  std::vector<int64_t> order(std::begin(kCounts), std::end(kCounts));
  std::ranges::shuffle(order, shuffle_);
  // Other cases ran since the last block: one round of warm-up brings caches and threads back.
  RL_CHECK_OK(run_(base_));
  last_block_s_ = 0;
  for (const int64_t multiple : order) {
    const int64_t count = multiple * base_;
    RL_ASSIGN(const double seconds, run_(count));
    samples_.push_back({count, seconds, blocks_, 0});
    last_block_s_ += seconds;
  }
  timed_s_ += last_block_s_;
  ++blocks_;
  return {};
}

double Sampler::last_round_s() const {
  return last_block_s_ / static_cast<double>(kCountSum * base_);
}

std::vector<Sample> Sampler::OfThisPass() const {
  std::vector<Sample> kept;
  std::ranges::copy_if(samples_, std::back_inserter(kept),
                       [this](const Sample& sample) { return !discarded_.contains(sample.block); });
  return kept;
}

std::vector<Sample> Sampler::Samples() const {
  std::vector<Sample> all = earlier_;
  const int blocks = all.empty() ? 0 : std::ranges::max(all, {}, &Sample::block).block + 1;
  const int pass = all.empty() ? 0 : std::ranges::max(all, {}, &Sample::pass).pass + 1;
  for (Sample sample : OfThisPass()) {
    sample.block += blocks;
    sample.pass = pass;
    all.push_back(sample);
  }
  return all;
}

Sampler::State Sampler::state() const {
  const int least = ShareOf(precision_.min_blocks, precision_.passes);
  if (blocks() >= least) {
    const std::optional<Slope> fit = FitSlope(OfThisPass());
    if (fit && fit->per_count.relative_half_width() <= precision_.relative_half_width) {
      return State::kConverged;
    }
  }
  if (blocks() >= ShareOf(precision_.max_blocks, precision_.passes)) return State::kOutOfBlocks;
  if (blocks() >= least && timed_s_ >= precision_.time_limit_s / precision_.passes) {
    return State::kOutOfTime;
  }
  return State::kGoing;
}

double Sampler::block_estimate_s() const {
  return blocks_ == 0 ? precision_.block_seconds : timed_s_ / blocks_;
}

double Drift(const std::vector<double>& block_slopes) {
  if (block_slopes.size() < 2) return 0;
  const double first = Median(FirstThird(block_slopes));
  return first == 0 ? 0 : Median(LastThird(block_slopes)) / first - 1;
}

bool IsDrifting(const std::vector<double>& block_slopes) {
  if (block_slopes.size() < 6) return false;
  const std::vector<double> first = FirstThird(block_slopes);
  const std::vector<double> last = LastThird(block_slopes);
  const bool apart = std::ranges::max(first) < std::ranges::min(last) ||
                     std::ranges::max(last) < std::ranges::min(first);
  const double noise = std::hypot(StandardDeviation(first), StandardDeviation(last));
  const double change = std::fabs(Drift(block_slopes));
  return apart && change > 0.05 && change * std::fabs(Median(first)) > 3 * noise;
}

}  // namespace ridgeline::engine
