#include "engine/throttle_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/stats.h"
#include "base/text.h"
#include "engine/sampler.h"

namespace ridgeline::engine {
namespace {

constexpr size_t kLeastSide = 3;
constexpr double kLeastChange = 0.05;
constexpr double kNoises = 3;
constexpr double kFirstRest = 0.1;
constexpr int kMostRests = 6;

std::optional<Slowdown> StepAt(std::span<const double> levels, size_t at) {
  const std::span<const double> before = levels.first(at);
  const std::span<const double> after = levels.subspan(at);
  if (std::ranges::max(before) >= std::ranges::min(after)) return std::nullopt;
  const Slowdown step{at, Median(before), Median(after)};
  const double noise = std::hypot(StandardDeviation(before), StandardDeviation(after));
  const double change = step.after_s - step.before_s;
  if (change <= kLeastChange * step.before_s || change <= kNoises * noise) return std::nullopt;
  return step;
}

}  // namespace

std::optional<Slowdown> FindSlowdown(const std::vector<double>& levels) {
  if (levels.size() < 2 * kLeastSide) return std::nullopt;
  std::optional<Slowdown> largest;
  for (size_t at = kLeastSide; at + kLeastSide <= levels.size(); ++at) {
    const std::optional<Slowdown> step = StepAt(levels, at);
    const auto size = [](const Slowdown& s) { return s.after_s - s.before_s; };
    if (step && (!largest || size(*step) > size(*largest))) largest = step;
  }
  if (largest || levels.size() < 3 * kLeastSide) return largest;
  if (!IsDrifting(levels) || Drift(levels) < 0) return std::nullopt;
  const size_t third = levels.size() / 3;
  const std::span<const double> all = levels;
  return Slowdown{third, Median(all.first(third)), Median(all.last(third))};
}

std::vector<int> FindOutliers(std::span<const double> levels) {
  std::vector<int> outliers;
  if (levels.size() < 5) return outliers;
  const double median = Median(levels);
  const double far = std::max(5 * Mad(levels), kLeastChange * median);
  for (size_t i = 0; i < levels.size(); ++i) {
    if (std::fabs(levels[i] - median) > far) outliers.push_back(static_cast<int>(i));
  }
  return outliers;
}

bool ThrottleGuard::IsBack(double level) const {
  const double step = slowdown_->after_s - slowdown_->before_s;
  return level <= slowdown_->before_s + std::max(kLeastChange * slowdown_->before_s, step / 4);
}

void ThrottleGuard::Add(const Block& block) {
  const int index = static_cast<int>(blocks_.size());
  blocks_.push_back(block);
  if (watching_) {
    if (!IsBack(block.round_s)) {
      slow_.insert(index);
    } else {
      discarded_.merge(slow_);
      slow_.clear();
      watching_ = false;
    }
    return;
  }
  std::vector<double> levels;
  std::vector<size_t> places;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (discarded_.contains(static_cast<int>(i))) continue;
    levels.push_back(blocks_[i].round_s);
    places.push_back(i);
  }
  std::optional<Slowdown> found = FindSlowdown(levels);
  if (!found) return;
  slowdown_ = found;
  for (size_t i = found->at; i < levels.size(); ++i) {
    if (!IsBack(levels[i])) slow_.insert(static_cast<int>(places[i]));
  }
  slowdown_->at = places[found->at];
  watching_ = true;
}

double ThrottleGuard::RestNeeded() const {
  if (!watching_ || rests_ >= kMostRests) return 0;
  const double rest = std::ldexp(kFirstRest, rests_);
  double taken = rested_s_;
  for (const Block& block : blocks_) taken += block.timed_s;
  return taken + rest <= time_limit_s_ ? rest : 0;
}

void ThrottleGuard::Rested(double seconds) {
  ++rests_;
  rested_s_ += seconds;
}

std::string ThrottleGuard::ClockWords() const {
  std::vector<double> before;
  std::vector<double> after;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].host_mhz) (i < slowdown_->at ? before : after).push_back(*blocks_[i].host_mhz);
  }
  if (before.empty() || after.empty()) return "";
  const double from = Median(before);
  const double to = Median(after);
  if (to > (1 - kLeastChange) * from) return "";
  return fmt::format("; the host's clock fell from {:.0f} to {:.0f} MHz", from, to);
}

std::string ThrottleGuard::Words() const {
  if (!slowdown_) return "";
  std::string words = fmt::format(
      "throttled: a round took {} up to block {}, {} from there ({:+.0f} %)",
      FormatSeconds(slowdown_->before_s), slowdown_->at, FormatSeconds(slowdown_->after_s),
      100 * (slowdown_->after_s / slowdown_->before_s - 1));
  words += ClockWords();
  if (!gave_up()) return words + fmt::format("; {} slow blocks are left out", discarded_.size());
  if (rests_ == 0) return words + "; no time was left to let it rest";
  return words + fmt::format("; it did not come back after {} rests, {} in all", rests_,
                             FormatSeconds(rested_s_));
}

Json ThrottleGuard::ToJson() const {
  Json levels = Json::array();
  std::vector<double> kept;
  std::vector<int> places;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    levels.push_back(Number(blocks_[i].round_s));
    if (discarded_.contains(static_cast<int>(i))) continue;
    kept.push_back(blocks_[i].round_s);
    places.push_back(static_cast<int>(i));
  }
  Json json = {{"block_s", levels}};
  std::vector<int> outliers = FindOutliers(kept);
  for (int& outlier : outliers) outlier = places[static_cast<size_t>(outlier)];
  if (!outliers.empty()) json["outlier_blocks"] = outliers;
  if (!slowdown_) return json;
  std::set<int> throttled = discarded_;
  throttled.insert(slow_.begin(), slow_.end());
  json["throttled_blocks"] = throttled;
  json["discarded_blocks"] = discarded_.size();
  json["rests"] = rests_;
  json["rested_s"] = Number(rested_s_);
  json["before_s"] = Number(slowdown_->before_s);
  json["after_s"] = Number(slowdown_->after_s);
  json["gave_up"] = gave_up();
  return json;
}

}  // namespace ridgeline::engine
