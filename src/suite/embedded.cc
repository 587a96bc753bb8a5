#include "base/embedded.h"

#include "base/text.h"
#include "suite/suite.h"

namespace ridgeline::suite {
namespace {

constexpr std::string_view kFolder = "suites/";
constexpr std::string_view kExtension = ".yaml";

}  // namespace

std::vector<std::string_view> ListEmbeddedSuites() {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!file.path.starts_with(kFolder) || !file.path.ends_with(kExtension)) continue;
    std::string_view name = file.path.substr(kFolder.size());
    name.remove_suffix(kExtension.size());
    names.push_back(name);
  }
  return names;
}

Result<std::string_view> FindEmbeddedSuite(std::string_view name) {
  const std::string path = std::string(kFolder) + std::string(name) + std::string(kExtension);
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path == path) return file.text;
  }
  return Fail(Code::kNotFound, UnknownName("suite", name, ListEmbeddedSuites()), "",
              "name one of them, or give the path of a suite file");
}

}  // namespace ridgeline::suite
