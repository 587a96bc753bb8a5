// Work in a forked child, because compilers of plugins may abort or hang.
#pragma once

#include <functional>
#include <string>

namespace ridgeline::tools {

struct ChildResult {
  bool finished = false;  // it handed its text over and left by itself
  std::string output;     // what `work` returned
  std::string problem;    // otherwise: "killed by signal 6 (Aborted)", "no answer within 5 s"
  std::string log;        // what it wrote to stderr
};

// Runs `work` in a child of this process and reads what it returns. The caller has no other
// threads: only the forking one exists in the child.
ChildResult RunInChild(const std::function<std::string()>& work, double limit_s);

}  // namespace ridgeline::tools
