// The slope method and the stopping rule (design.md sections 3.3 and 3.5), for anything that can be
// run a given number of times.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stats.h"
#include "core/case.h"

namespace ridgeline::engine {

// Does `count` rounds of the work and returns the seconds that they took.
using TimedRun = std::function<Result<double>(int64_t count)>;

struct CountRules {
  int64_t most = int64_t{1} << 30;  // the largest count; at least 5
  // Rounds that run side by side make the time of small counts a staircase: the least smallest
  // count, where `most` leaves room for it.
  int64_t least_base = 1;
  // Of the largest count before the first sample, where the count decides how much memory is taken:
  // the first such run takes it from the system, the second what the first one left in pieces.
  int warm_ups = 0;
};

class Sampler {
 public:
  Sampler(TimedRun run, Precision precision, uint64_t seed, CountRules counts);

  // Earlier passes of the same case: their counts are used again and their samples enter the fit.
  void Continue(int64_t base, std::vector<Sample> earlier);

  // Warms up and finds the counts {1, 2, 3, 4, 5} * base, so that a block takes about
  // precision.block_seconds.
  Status Calibrate();
  // One sample at each count, in random order.
  Status RunBlock();

  // Of this pass, which has its share of the blocks and of the time of all.
  enum class State { kGoing, kConverged, kOutOfBlocks, kOutOfTime };
  State state() const;
  // Blocks of this pass that enter the fit.
  int blocks() const { return blocks_ - static_cast<int>(discarded_.size()); }
  int64_t base() const { return base_; }
  double timed_s() const { return timed_s_; }
  double first_run_s() const { return first_run_s_; }
  // Seconds that the next block will take, as far as known.
  double block_estimate_s() const;
  // Seconds of the last block, and a round of it, its share of the launches included.
  double last_block_s() const { return last_block_s_; }
  double last_round_s() const;
  // Leaves these blocks of this pass, by their number from 0, out of the fit.
  void Discard(std::set<int> blocks) { discarded_ = std::move(blocks); }
  // Those of earlier passes and of this one, numbered on.
  std::vector<Sample> Samples() const;
  std::optional<Slope> Fit() const { return FitSlope(Samples()); }

 private:
  Status FindBase();
  std::vector<Sample> OfThisPass() const;
  TimedRun run_;
  Precision precision_;
  std::mt19937_64 shuffle_;
  CountRules counts_;
  int64_t base_ = 0;  // 0: not yet known
  std::vector<Sample> earlier_;
  int blocks_ = 0;
  double timed_s_ = 0;
  double first_run_s_ = 0;
  double last_block_s_ = 0;
  std::set<int> discarded_;
  std::vector<Sample> samples_;
};

// Relative change between the first and the last third of the blocks, by their medians.
double Drift(const std::vector<double>& block_slopes);
// Whether the blocks really moved: the thirds do not overlap, and they differ by more than 5 % and
// by more than three times the noise inside them. Needs 6 blocks.
bool IsDrifting(const std::vector<double>& block_slopes);

}  // namespace ridgeline::engine
