// Files of data/ that are compiled into the program.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ridgeline {

struct EmbeddedFile {
  std::string_view path;  // relative to data/: "suites/quick.yaml"
  std::string_view text;
};

std::span<const EmbeddedFile> EmbeddedFiles();

// Names of the YAML files in a folder of data/, without the extension.
std::vector<std::string_view> EmbeddedNames(std::string_view folder);
// The text of one. `what` is for the error: "suite".
Result<std::string_view> FindEmbedded(std::string_view what, std::string_view folder,
                                      std::string_view name);

}  // namespace ridgeline
