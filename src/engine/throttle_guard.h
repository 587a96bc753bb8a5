// Watches the blocks of one case for a device that becomes slower while it works: it asks for a
// rest, lets new blocks decide, and either puts the slow blocks aside or gives up with a reason.
// Levels are seconds a round, one for each block; all blocks of a case run the same counts, so that
// they compare. PJRT tells no device clock; the host's is shown where the system tells it.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

namespace ridgeline::engine {

struct Slowdown {
  size_t at = 0;  // the first slow block
  double before_s = 0;
  double after_s = 0;
};

// A step up (three blocks on either side at least, no overlap, more than 5 % and more than three
// times the noise), or, from 9 blocks on, a drift upwards (IsDrifting).
std::optional<Slowdown> FindSlowdown(const std::vector<double>& levels);

// Blocks further from the median than 5 % and five times the median absolute deviation; none under
// 5 blocks. They are flagged and stay in the fit, which is robust against them.
std::vector<int> FindOutliers(std::span<const double> levels);

class ThrottleGuard {
 public:
  // Blocks and rests together may take `time_limit_s`.
  explicit ThrottleGuard(double time_limit_s) : time_limit_s_(time_limit_s) {}

  struct Block {
    double round_s = 0;  // its level
    double timed_s = 0;  // all of it
    std::optional<double> host_mhz;
  };
  void Add(const Block& block);
  // Seconds to rest before the next block: 0.1 s, doubled each time; 0 when none is asked for.
  double RestNeeded() const;
  void Rested(double seconds);

  // New blocks have to tell whether the device came back.
  bool watching() const { return watching_ && RestNeeded() > 0; }
  // It did not, or there was no time left to let it.
  bool gave_up() const { return watching_ && RestNeeded() == 0; }
  // Blocks that count no more, since the device came back after them.
  const std::set<int>& discarded() const { return discarded_; }
  // What happened, both halves with it; "" when nothing did.
  std::string Words() const;
  // {block_s[], outlier_blocks[], throttled_blocks[], discarded_blocks, rests, rested_s, before_s,
  // after_s, gave_up}; after block_s only what there is. Blocks count from 0.
  Json ToJson() const;

 private:
  bool IsBack(double level) const;
  std::string ClockWords() const;

  double time_limit_s_;
  std::vector<Block> blocks_;
  std::set<int> slow_;  // since the slowdown at hand
  std::set<int> discarded_;
  std::optional<Slowdown> slowdown_;  // the last one, `at` among all blocks
  bool watching_ = false;
  int rests_ = 0;
  double rested_s_ = 0;
};

}  // namespace ridgeline::engine
