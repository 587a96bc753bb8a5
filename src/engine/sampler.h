// The slope method and the stopping rule (design.md sections 3.3 and 3.5), for anything that can be
// run a given number of times.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stats.h"
#include "core/case.h"

namespace ridgeline::engine {

// Does `count` rounds of the work and returns the seconds that they took.
using TimedRun = std::function<Result<double>(int64_t count)>;

class Sampler {
 public:
  // `max_count` bounds the largest count (buffers that a transfer needs); at least 5.
  Sampler(TimedRun run, Precision precision, uint64_t seed, int64_t max_count);

  // Warms up and finds the counts {1, 2, 3, 4, 5} * base, so that a block takes about
  // precision.block_seconds.
  Status Calibrate();
  // One sample at each count, in random order.
  Status RunBlock();

  enum class State { kGoing, kConverged, kOutOfBlocks, kOutOfTime };
  State state() const;
  int blocks() const { return blocks_; }
  double timed_s() const { return timed_s_; }
  double first_run_s() const { return first_run_s_; }
  // Seconds that the next block will take, as far as known.
  double block_estimate_s() const;
  std::optional<Slope> Fit() const { return FitSlope(samples_); }
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  TimedRun run_;
  Precision precision_;
  std::mt19937_64 shuffle_;
  int64_t max_count_;
  int64_t base_ = 1;
  int blocks_ = 0;
  double timed_s_ = 0;
  double first_run_s_ = 0;
  std::vector<Sample> samples_;
};

// Relative change between the first and the last third of the blocks, by their medians.
double Drift(const std::vector<double>& block_slopes);
// Whether the blocks really moved: the thirds do not overlap, and they differ by more than 5 % and
// by more than three times the noise inside them. Needs 6 blocks.
bool IsDrifting(const std::vector<double>& block_slopes);

}  // namespace ridgeline::engine
