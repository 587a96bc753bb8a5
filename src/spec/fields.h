// The keys of one mapping of a spec file: known ones only, with errors that name the place.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "spec/quantity.h"
#include "suite/yaml.h"

namespace ridgeline::spec {

class Fields {
 public:
  // `what` names the mapping in errors; a key that is not in `known` is one.
  static Result<Fields> Read(const suite::YamlFile& file, const YAML::Node& node,
                             std::string_view what, std::span<const std::string_view> known);

  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  // nullptr when the key is absent.
  const YAML::Node* Find(std::string_view key) const;
  Result<YAML::Node> Need(std::string_view key) const;
  Result<std::string> Text(std::string_view key) const;
  Result<std::string> TextOr(std::string_view key, std::string_view fallback) const;
  Result<std::vector<std::string>> TextsOr(std::string_view key) const;  // an absent list is empty
  Result<std::optional<int64_t>> Whole(std::string_view key, int64_t min, int64_t max) const;
  Result<double> Quantity(std::string_view key, Dimension dimension) const;
  // An error at the key's value, or at the mapping when the key is absent.
  tl::unexpected<Error> Fail(std::string_view key, std::string message) const;

  const suite::YamlFile& file() const { return *file_; }
  const YAML::Node& node() const { return node_; }

 private:
  const suite::YamlFile* file_ = nullptr;
  YAML::Node node_;
  std::string what_;
  std::vector<suite::YamlFile::Entry> entries_;
};

}  // namespace ridgeline::spec
