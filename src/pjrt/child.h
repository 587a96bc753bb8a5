// Work in a forked child, because compilers of plugins may abort, hang or eat all memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ridgeline::pjrt {

struct ChildLimits {
  double seconds = 60;
  int64_t memory_bytes = 0;  // private memory of the child; 0: no limit
  // Looked at a hundred times a second: the child's answer is not needed any more once it is true.
  std::function<bool()> enough = {};
};

// 80 % of the memory that is free now; 0 when the system does not say.
int64_t MemoryForChild();

struct ChildResult {
  bool finished = false;  // it handed its text over and left by itself
  bool stopped = false;   // `enough` became true, and the child was ended
  std::string output;     // what `work` returned
  std::string problem;    // otherwise: "killed by signal 6 (Aborted)", "no answer within 5 s"
  std::string log;        // what it wrote to stderr
};

// Runs `work` in a child of this process and reads what it returns. The caller has no other
// threads: only the forking one exists in the child. `work` runs on a stack of 1 GiB, since
// compilers recurse over what they read.
ChildResult RunInChild(const std::function<std::string()>& work, const ChildLimits& limits);

}  // namespace ridgeline::pjrt
