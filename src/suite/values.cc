#include "suite/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace ridgeline::suite {
namespace {

struct Written {
  std::string text;
  YAML::Node node;
};

bool IsGroupAxes(const ParamSpec& spec, const std::string& text) {
  return spec.name == "group" && text == "axes";
}

Result<int64_t> WholeNumber(const YamlFile& file, const YAML::Node& node, std::string_view what,
                            ParamType type) {
  RL_ASSIGN(const std::string text, file.Text(node, what));
  if (type == ParamType::kBytes) {
    const Result<int64_t> bytes = ParseBytes(text);
    if (!bytes) return file.Fail(node, fmt::format("{}: {}", what, bytes.error().message));
    return *bytes;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return file.Fail(node, fmt::format("{} is {}; expected a whole number", what, Describe(node)));
  }
  return value;
}

// {from, to, multiply} or {from, to, add}: from, and every next value up to `to`.
Status ReadRange(const YamlFile& file, const YAML::Node& node, const ParamSpec& spec,
                 std::vector<Written>& values) {
  if (spec.type != ParamType::kBytes && spec.type != ParamType::kInteger) {
    return file.Fail(node,
                     fmt::format("'{}' cannot be a range; expected a value or a list", spec.name));
  }
  static constexpr std::string_view kKeys[] = {"from", "to", "multiply", "add"};
  std::map<std::string, int64_t> given;
  RL_ASSIGN(const auto entries, file.Entries(node, fmt::format("the range of '{}'", spec.name)));
  for (const YamlFile::Entry& entry : entries) {
    if (std::ranges::find(kKeys, entry.key) == std::end(kKeys)) {
      return file.Fail(entry.key_node, UnknownName("key of a range", entry.key, kKeys));
    }
    const ParamType type = entry.key == "multiply" ? ParamType::kInteger : spec.type;
    RL_ASSIGN(given[entry.key], WholeNumber(file, entry.value, entry.key, type));
  }
  if (!given.contains("from") || !given.contains("to") ||
      given.contains("multiply") == given.contains("add")) {
    return file.Fail(node, "a range has the keys from, to, and either multiply or add");
  }
  const bool multiply = given.contains("multiply");
  const int64_t step = multiply ? given["multiply"] : given["add"];
  const int64_t least = multiply ? 2 : 1;
  if (step < least) {
    return file.Fail(node, fmt::format("{} is {}; expected at least {}, or the range never ends",
                                       multiply ? "multiply" : "add", step, least));
  }
  const int64_t to = given["to"];
  if (given["from"] < 0 || (multiply && given["from"] == 0) || given["from"] > to) {
    return file.Fail(node, fmt::format("the range goes from {} to {}; expected {} <= from <= to",
                                       given["from"], to, multiply ? 1 : 0));
  }
  for (int64_t value = given["from"];;) {
    values.push_back({fmt::format("{}", value), node});
    if (static_cast<int64_t>(values.size()) > kMaxCases) {
      return file.Fail(node, fmt::format("'{}' has more than {} values", spec.name, kMaxCases));
    }
    int64_t next = 0;
    const bool overflow = multiply ? __builtin_mul_overflow(value, step, &next)
                                   : __builtin_add_overflow(value, step, &next);
    if (overflow || next > to) return {};
    value = next;
  }
}

Status ReadOne(const YamlFile& file, const YAML::Node& node, const ParamSpec& spec,
               std::vector<Written>& values) {
  if (node.IsMap()) return ReadRange(file, node, spec, values);
  RL_ASSIGN(std::string text, file.Text(node, fmt::format("a value of '{}'", spec.name)));
  values.push_back({std::move(text), node});
  return {};
}

}  // namespace

std::vector<std::string> SplitNames(std::string_view key) {
  std::vector<std::string> names;
  while (true) {
    const size_t plus = key.find('+');
    names.emplace_back(key.substr(0, plus));
    if (plus == std::string_view::npos) return names;
    key.remove_prefix(plus + 1);
  }
}

bool LooksLikeNumber(const YAML::Node& node) {
  return node.IsScalar() && !node.Scalar().empty() &&
         node.Scalar().find_first_not_of("0123456789.eE+-") == std::string::npos;
}

Result<std::vector<DeviceChoice>> ReadDevices(const YamlFile& file, const YAML::Node& node) {
  std::vector<YAML::Node> items = {node};
  if (node.IsSequence()) {
    RL_ASSIGN(items, file.Items(node, "'devices'"));
  }
  std::vector<DeviceChoice> choices;
  for (const YAML::Node& item : items) {
    DeviceChoice choice{DeviceChoice::Kind::kOne, 0, file.Where(item)};
    if (item.IsScalar() && item.Scalar() == "each") {
      choice.kind = DeviceChoice::Kind::kEach;
    } else if (item.IsScalar() && item.Scalar() == "all") {
      choice.kind = DeviceChoice::Kind::kAll;
    } else if (LooksLikeNumber(item)) {
      RL_ASSIGN(const double device, file.Number(item, "a device", 0, 1e6, true));
      choice.device = static_cast<int>(device);
    } else {
      return file.Fail(item, fmt::format("'devices' is {}; expected a device number, each, all, "
                                         "or a list of them",
                                         Describe(item)));
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

Result<ParamValue> ConvertValue(const ParamSpec& spec, const ParamValue& value) {
  RL_ASSIGN(const Params params, ResolveParams({&spec, 1}, {{spec.name, value}}));
  return params.values().at(spec.name);
}

Result<Axis> ReadAxis(const YamlFile& file, const YamlFile::Entry& entry,
                      const std::vector<const ParamSpec*>& specs, bool group_axes) {
  std::vector<Written> values;
  if (entry.value.IsSequence()) {
    RL_ASSIGN(const auto items, file.Items(entry.value, fmt::format("'{}'", entry.key)));
    for (const YAML::Node& item : items) {
      RL_CHECK_OK(ReadOne(file, item, *specs.front(), values));
    }
  } else {
    RL_CHECK_OK(ReadOne(file, entry.value, *specs.front(), values));
  }
  Axis axis{file.Where(entry.key_node), {}};
  for (const Written& value : values) {
    Assignment assignment;
    for (const ParamSpec* spec : specs) {
      if (group_axes && IsGroupAxes(*spec, value.text)) {
        assignment[spec->name] = value.text;
        continue;
      }
      const Result<ParamValue> converted = ConvertValue(*spec, value.text);
      if (!converted) return file.Fail(value.node, converted.error().message);
      assignment[spec->name] = *converted;
    }
    axis.alternatives.push_back(std::move(assignment));
  }
  return axis;
}

}  // namespace ridgeline::suite
