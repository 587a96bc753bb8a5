#include "base/embedded.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ridgeline {
namespace {

constexpr std::string_view kExtension = ".yaml";

}  // namespace

std::vector<std::string_view> EmbeddedNames(std::string_view folder) {
  const std::string start = std::string(folder) + "/";
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!file.path.starts_with(start) || !file.path.ends_with(kExtension)) continue;
    std::string_view name = file.path.substr(start.size());
    name.remove_suffix(kExtension.size());
    names.push_back(name);
  }
  return names;
}

Result<std::string_view> FindEmbedded(std::string_view what, std::string_view folder,
                                      std::string_view name) {
  const std::string path = fmt::format("{}/{}{}", folder, name, kExtension);
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path == path) return file.text;
  }
  return Fail(Code::kNotFound, UnknownName(what, name, EmbeddedNames(folder)), "",
              fmt::format("name one of them, or give the path of a {} file", what));
}

}  // namespace ridgeline
