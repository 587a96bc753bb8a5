// Files of data/ that are compiled into the program.
#pragma once

#include <span>
#include <string_view>

namespace ridgeline {

struct EmbeddedFile {
  std::string_view path;  // relative to data/: "suites/quick.yaml"
  std::string_view text;
};

std::span<const EmbeddedFile> EmbeddedFiles();

}  // namespace ridgeline
