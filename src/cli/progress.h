// One bar for the suite and the current case, on a terminal only.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace ridgeline::cli {

// "[#####.....] 12/40, 0:35 left  gemm m=512 sampling", cut to `width` columns. `share` of the work
// is done, cases half-way included. Pure.
std::string ProgressLine(double share, size_t done, size_t total, double elapsed_s,
                         std::string_view what, int width);

class Progress {
 public:
  // `enabled`: stderr is a terminal and output is meant for people.
  Progress(size_t total, bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Doing(std::string what) { what_ = std::move(what); }
  // A case is over; `share` of it had not been counted yet.
  void Done(double share = 1) {
    ++done_;
    Advance(share);
  }
  void Advance(double share) { share_done_ += share; }
  // Redraws at most ten times a second.
  void Draw();
  // Prints a line of its own above the bar.
  void Say(std::string_view line);
  // Takes the bar away, before other output.
  void Clear();

 private:
  size_t total_;
  bool enabled_;
  size_t done_ = 0;
  double share_done_ = 0;  // in cases
  bool drawn_ = false;
  std::string what_ = "opening the plugin";
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_;
};

}  // namespace ridgeline::cli
