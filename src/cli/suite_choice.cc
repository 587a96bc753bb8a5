#include "cli/suite_choice.h"

#include "benchmarks/benchmark.h"
#include "cli/common.h"

namespace ridgeline::cli {

Result<ChosenSuite> ChooseSuite(const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".yaml") ||
                       name.ends_with(".yml") || name == "-";
  ChosenSuite chosen;
  if (is_path) {
    RL_ASSIGN(chosen.text, ReadTextFile(name));
  } else {
    RL_ASSIGN(const std::string_view text, suite::FindEmbeddedSuite(name));
    chosen.text = text;
  }
  RL_ASSIGN(const suite::ShapeTable shapes, suite::EmbeddedShapes());
  RL_ASSIGN(chosen.suite, suite::ReadSuite(chosen.text, name, benchmarks::AllBenchmarks(), shapes));
  chosen.name = chosen.suite.name.empty() ? name : chosen.suite.name;
  return chosen;
}

}  // namespace ridgeline::cli
