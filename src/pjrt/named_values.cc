#include "pjrt/named_values.h"

#include <fmt/format.h>

#include <variant>

namespace ridgeline::pjrt {
namespace {

std::string ValueText(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue_kString:
      return std::string(value.string_value, value.value_size);
    case PJRT_NamedValue_kInt64:
      return std::to_string(value.int64_value);
    case PJRT_NamedValue_kInt64List:
      return fmt::format("{}",
                         fmt::join(std::span(value.int64_array_value, value.value_size), ","));
    case PJRT_NamedValue_kFloat:
      return fmt::format("{}", value.float_value);
    case PJRT_NamedValue_kBool:
      return value.bool_value ? "true" : "false";
  }
  return fmt::format("(value of type {})", static_cast<int>(value.type));
}

}  // namespace

std::vector<PJRT_NamedValue> ToNamedValues(const std::map<std::string, CreateOption>& options) {
  std::vector<PJRT_NamedValue> result;
  for (const auto& [name, option] : options) {
    PJRT_NamedValue value{};
    value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    value.name = name.data();
    value.name_size = name.size();
    value.value_size = 1;
    if (const auto* text = std::get_if<std::string>(&option)) {
      value.type = PJRT_NamedValue_kString;
      value.string_value = text->data();
      value.value_size = text->size();
    } else if (const auto* flag = std::get_if<bool>(&option)) {
      value.type = PJRT_NamedValue_kBool;
      value.bool_value = *flag;
    } else if (const auto* integer = std::get_if<int64_t>(&option)) {
      value.type = PJRT_NamedValue_kInt64;
      value.int64_value = *integer;
    } else if (const auto* real = std::get_if<float>(&option)) {
      value.type = PJRT_NamedValue_kFloat;
      value.float_value = *real;
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&option)) {
      value.type = PJRT_NamedValue_kInt64List;
      value.int64_array_value = list->data();
      value.value_size = list->size();
    }
    result.push_back(value);
  }
  return result;
}

std::map<std::string, std::string> ToText(std::span<const PJRT_NamedValue> values) {
  std::map<std::string, std::string> result;
  for (const PJRT_NamedValue& value : values) {
    result[std::string(value.name, value.name_size)] = ValueText(value);
  }
  return result;
}

std::vector<int64_t> Integers(std::span<const PJRT_NamedValue> values, std::string_view name) {
  for (const PJRT_NamedValue& value : values) {
    if (std::string_view(value.name, value.name_size) != name) continue;
    if (value.type == PJRT_NamedValue_kInt64) return {value.int64_value};
    if (value.type == PJRT_NamedValue_kInt64List) {
      return {value.int64_array_value, value.int64_array_value + value.value_size};
    }
  }
  return {};
}

}  // namespace ridgeline::pjrt
