#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/common.h"

namespace ridgeline::cli {
namespace {

constexpr int kBarColumns = 20;

std::string MinutesAndSeconds(double seconds) {
  const auto whole = std::llround(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string ProgressLine(double share, size_t done, size_t total, double elapsed_s,
                         std::string_view what, int width) {
  share = std::clamp(share, 0.0, 1.0);
  const auto filled = static_cast<size_t>(share * kBarColumns);
  std::string line = fmt::format("[{}{}] {}/{}", std::string(filled, '#'),
                                 std::string(kBarColumns - filled, '.'), done, total);
  // Cases differ too much for a forecast from one or two of them.
  if (share * static_cast<double>(total) > 2.99 && done < total) {
    line += fmt::format(", {} left", MinutesAndSeconds(elapsed_s * (1 - share) / share));
  }
  line += fmt::format("  {}", Printable(what));
  // Case names are ASCII; cutting bytes is cutting columns.
  if (line.size() > static_cast<size_t>(width))
    line.resize(static_cast<size_t>(std::max(width, 1)));
  return line;
}

Progress::Progress(size_t total, bool enabled)
    : total_(total), enabled_(enabled && IsTerminal(STDERR_FILENO)) {}

Progress::~Progress() { Clear(); }

void Progress::Draw() {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double share = total_ == 0 ? 1 : share_done_ / static_cast<double>(total_);
  ErrAsIs("\r\x1b[K" +
          ProgressLine(share, done_, total_, elapsed, what_, TerminalWidth(STDERR_FILENO) - 1));
}

void Progress::Clear() {
  if (drawn_) ErrAsIs("\r\x1b[K");
  drawn_ = false;
}

void Progress::Say(std::string_view line) {
  Clear();
  Err(std::string(line) + "\n");
}

}  // namespace ridgeline::cli
