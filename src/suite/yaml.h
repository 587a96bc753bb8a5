// YAML text as nodes with positions, bounded: every error says file:line:column.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ridgeline::suite {

// A parsed file. Nothing below throws once Load has accepted the text.
class YamlFile {
 public:
  // One document of at most 1 MiB, nested at most 16 deep, of at most 200 000 nodes with aliases
  // followed (so that a small file of nested aliases cannot grow without end).
  static Result<YamlFile> Load(std::string_view text, std::string_view source);

  const YAML::Node& root() const { return root_; }
  const std::string& source() const { return source_; }
  // "file:line:column"
  std::string Where(const YAML::Node& node) const;
  tl::unexpected<Error> Fail(const YAML::Node& node, std::string message) const;

  struct Entry {
    std::string key;
    YAML::Node key_node;
    YAML::Node value;
  };
  // Entries of a mapping in written order; keys are distinct scalars. `what` names it in errors.
  Result<std::vector<Entry>> Entries(const YAML::Node& node, std::string_view what) const;
  Result<std::vector<YAML::Node>> Items(const YAML::Node& node, std::string_view what) const;
  Result<std::string> Text(const YAML::Node& node, std::string_view what) const;
  // A finite number in [min, max]; whole when asked.
  Result<double> Number(const YAML::Node& node, std::string_view what, double min, double max,
                        bool whole) const;
  // The file's `version`, which must be `known`.
  Status CheckVersion(const std::vector<Entry>& entries, int known) const;

 private:
  YAML::Node root_;
  std::string source_;
};

// "a list", "a mapping", "empty", or the text in quotes: what a node is, for error messages.
std::string Describe(const YAML::Node& node);

}  // namespace ridgeline::suite
