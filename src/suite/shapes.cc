#include <fmt/format.h>

#include <algorithm>

#include "base/embedded.h"
#include "base/text.h"
#include "suite/suite.h"
#include "suite/yaml.h"

namespace ridgeline::suite {
namespace {

Result<NamedShape> ReadShape(const YamlFile& file, const YAML::Node& node) {
  NamedShape shape;
  RL_ASSIGN(const auto entries, file.Entries(node, "a shape"));
  for (const YamlFile::Entry& entry : entries) {
    RL_ASSIGN(std::string text, file.Text(entry.value, fmt::format("'{}'", entry.key)));
    if (entry.key == "name") {
      shape.name = std::move(text);
    } else {
      shape.params[entry.key] = std::move(text);
    }
  }
  if (shape.name.empty() || shape.params.empty()) {
    return file.Fail(node, "a shape has a name and at least one parameter");
  }
  return shape;
}

}  // namespace

Result<ShapeTable> ReadShapes(std::string_view text, std::string_view source_name) {
  RL_ASSIGN(const YamlFile file, YamlFile::Load(text, source_name));
  RL_ASSIGN(const auto entries, file.Entries(file.root(), "the file"));
  RL_CHECK_OK(file.CheckVersion(entries, 1));
  static constexpr std::string_view kKeys[] = {"version", "description", "shapes"};
  ShapeTable table;
  for (const YamlFile::Entry& entry : entries) {
    if (std::ranges::find(kKeys, entry.key) == std::end(kKeys)) {
      return file.Fail(entry.key_node, UnknownName("key", entry.key, kKeys));
    }
    if (entry.key != "shapes") continue;
    RL_ASSIGN(const auto lists, file.Entries(entry.value, "'shapes'"));
    for (const YamlFile::Entry& list : lists) {
      RL_ASSIGN(const auto items, file.Items(list.value, fmt::format("'{}'", list.key)));
      for (const YAML::Node& item : items) {
        RL_ASSIGN(NamedShape shape, ReadShape(file, item));
        table[list.key].push_back(std::move(shape));
      }
    }
  }
  if (table.empty()) return file.Fail(file.root(), "'shapes' is missing; expected named lists");
  return table;
}

Result<ShapeTable> EmbeddedShapes() {
  ShapeTable table;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!file.path.starts_with("shapes/")) continue;
    RL_ASSIGN(ShapeTable more, ReadShapes(file.text, file.path));
    table.merge(more);
  }
  return table;
}

}  // namespace ridgeline::suite
