// The loaded script, its counts, and what its rules do to the process or to any call.
#pragma once

#include <pjrt_c_api.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "script.h"

namespace ridgeline::faulty {

// What the conditions of a rule look at; what is not known matches no condition.
struct Subject {
  std::string_view program = {};
  double bytes = -1;
  int device = -1;
};

// One rule that applies to a call, and the how manieth call of it that is.
struct Hit {
  const Rule* rule;
  int64_t number;
};

class Faults {
 public:
  // Reads the script of the environment; without it, or before, there are no faults.
  Status LoadFromEnvironment(std::span<const std::string_view> entries);

  const Script& script() const { return script_; }
  // Counts the call and gives the rules that apply to it.
  std::vector<Hit> Match(std::string_view entry, const Subject& subject);
  // Seconds that a `late` rule adds to a launch of `rounds` rounds.
  double Delay(const Hit& hit, double rounds);

 private:
  bool Lets(const Rule& rule, const Subject& subject) const;

  Script script_;
  std::atomic<int64_t>* counts_ = nullptr;  // one a rule and one of processes, in shared memory
  int64_t process_ = 1;                     // of the run
  std::mt19937_64 random_{1};
};

// Does what stops, kills or delays the process; other actions are left alone.
void DoToProcess(const Hit& hit);

}  // namespace ridgeline::faulty
