#include "base/embedded.h"

#include "suite/suite.h"

namespace ridgeline::suite {

std::vector<std::string_view> ListEmbeddedSuites() { return EmbeddedNames("suites"); }

Result<std::string_view> FindEmbeddedSuite(std::string_view name) {
  return FindEmbedded("suite", "suites", name);
}

}  // namespace ridgeline::suite
