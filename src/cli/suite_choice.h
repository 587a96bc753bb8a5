// Suites as a command line names them: one of the program's, or a file.
#pragma once

#include <string>

#include "base/error.h"
#include "suite/suite.h"

namespace ridgeline::cli {

struct ChosenSuite {
  suite::Suite suite;
  std::string name;  // the suite's own, else as it was asked for
  std::string text;
};

// "quick", "mine.yaml"; "-" is stdin. What ends in .yaml or .yml, or holds a slash, is a file.
Result<ChosenSuite> ChooseSuite(const std::string& name);

}  // namespace ridgeline::cli
