#include "spec/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ridgeline::spec {

using suite::YamlFile;

Result<Fields> Fields::Read(const YamlFile& file, const YAML::Node& node, std::string_view what,
                            std::span<const std::string_view> known) {
  Fields fields;
  fields.file_ = &file;
  fields.node_ = node;
  fields.what_ = what;
  RL_ASSIGN(fields.entries_, file.Entries(node, what));
  for (const YamlFile::Entry& entry : fields.entries_) {
    if (std::ranges::find(known, entry.key) == known.end()) {
      return file.Fail(entry.key_node,
                       UnknownName(fmt::format("key of {}", what), Printable(entry.key), known));
    }
  }
  return fields;
}

const YAML::Node* Fields::Find(std::string_view key) const {
  const auto it = std::ranges::find(entries_, key, &YamlFile::Entry::key);
  return it == entries_.end() ? nullptr : &it->value;
}

Result<YAML::Node> Fields::Need(std::string_view key) const {
  const YAML::Node* node = Find(key);
  if (node == nullptr) return Fail(key, fmt::format("{} has no '{}'", what_, key));
  return *node;
}

Result<std::string> Fields::Text(std::string_view key) const {
  RL_ASSIGN(const YAML::Node node, Need(key));
  return file_->Text(node, fmt::format("'{}'", key));
}

Result<std::string> Fields::TextOr(std::string_view key, std::string_view fallback) const {
  return Has(key) ? Text(key) : std::string(fallback);
}

Result<std::vector<std::string>> Fields::TextsOr(std::string_view key) const {
  std::vector<std::string> texts;
  const YAML::Node* node = Find(key);
  if (node == nullptr || (node->IsSequence() && node->size() == 0)) return texts;
  RL_ASSIGN(const std::vector<YAML::Node> items, file_->Items(*node, fmt::format("'{}'", key)));
  for (const YAML::Node& item : items) {
    RL_ASSIGN(std::string text, file_->Text(item, fmt::format("an item of '{}'", key)));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::optional<int64_t>> Fields::Whole(std::string_view key, int64_t min, int64_t max) const {
  const YAML::Node* node = Find(key);
  if (node == nullptr) return std::optional<int64_t>();
  RL_ASSIGN(const double value,
            file_->Number(*node, fmt::format("'{}'", key), static_cast<double>(min),
                          static_cast<double>(max), true));
  return std::optional(static_cast<int64_t>(value));
}

Result<double> Fields::Quantity(std::string_view key, Dimension dimension) const {
  RL_ASSIGN(const std::string text, Text(key));
  const Result<double> value = ParseQuantity(text, dimension);
  if (!value) return Fail(key, fmt::format("'{}': {}", key, value.error().message));
  return *value;
}

tl::unexpected<Error> Fields::Fail(std::string_view key, std::string message) const {
  const YAML::Node* node = Find(key);
  return file_->Fail(node ? *node : node_, std::move(message));
}

}  // namespace ridgeline::spec
