#include "core/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace ridgeline {
namespace {

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view TypeName(ParamType type) {
  switch (type) {
    case ParamType::kInteger:
      return "a whole number";
    case ParamType::kBytes:
      return "a size in bytes such as 64KiB";
    case ParamType::kNumber:
      return "a number";
    case ParamType::kBool:
      return "true or false";
    case ParamType::kText:
      return "text";
    case ParamType::kDType:
      return "a dtype";
  }
  return "";
}

tl::unexpected<Error> Bad(const ParamSpec& spec, const ParamValue& value) {
  std::string text = fmt::format("parameter '{}' is '{}'; expected {}", spec.name,
                                 Printable(ToString(value)), TypeName(spec.type));
  if (!spec.allowed.empty()) text += fmt::format(": {}", fmt::join(spec.allowed, ", "));
  const std::vector<std::string_view> names(spec.allowed.begin(), spec.allowed.end());
  if (const auto nearest = NearestName(ToString(value), names)) {
    text += fmt::format("; did you mean '{}'?", *nearest);
  }
  return Fail(Code::kInvalidArgument, text);
}

Result<ParamValue> Convert(const ParamSpec& spec, const ParamValue& given) {
  const std::string text = ToString(given);
  switch (spec.type) {
    case ParamType::kInteger:
    case ParamType::kBytes: {
      std::optional<int64_t> value = ParseWhole<int64_t>(text);
      if (!value && spec.type == ParamType::kBytes) {
        if (const Result<int64_t> bytes = ParseBytes(text)) value = *bytes;
      }
      if (!value) return Bad(spec, given);
      if (static_cast<double>(*value) < spec.min) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("parameter '{}' is {}; the least allowed value is {}", spec.name,
                                *value, FormatNumber(spec.min)));
      }
      return ParamValue(*value);
    }
    case ParamType::kNumber: {
      const std::optional<double> value = ParseWhole<double>(text);
      if (!value || *value < spec.min) return Bad(spec, given);
      return ParamValue(*value);
    }
    case ParamType::kBool:
      if (text == "true") return ParamValue(true);
      if (text == "false") return ParamValue(false);
      return Bad(spec, given);
    case ParamType::kText:
      if (!spec.allowed.empty() && std::ranges::find(spec.allowed, text) == spec.allowed.end()) {
        return Bad(spec, given);
      }
      return ParamValue(text);
    case ParamType::kDType: {
      const Result<DType> dtype = ParseDType(text);
      if (!dtype && spec.allowed.empty()) return tl::unexpected(dtype.error());
      if (!dtype) return Bad(spec, given);
      std::string name(Name(*dtype));
      if (!spec.allowed.empty() && std::ranges::find(spec.allowed, name) == spec.allowed.end()) {
        return Bad(spec, given);
      }
      return ParamValue(std::move(name));
    }
  }
  return Bad(spec, given);
}

}  // namespace

std::string ToString(const ParamValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return std::get<std::string>(value);
}

int64_t Params::Integer(const std::string& name) const {
  return std::get<int64_t>(values_.at(name));
}
double Params::Real(const std::string& name) const { return std::get<double>(values_.at(name)); }
bool Params::Flag(const std::string& name) const { return std::get<bool>(values_.at(name)); }
const std::string& Params::Text(const std::string& name) const {
  return std::get<std::string>(values_.at(name));
}
DType Params::Type(const std::string& name) const { return ParseDType(Text(name)).value(); }

std::string Params::Canonical() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (!text.empty()) text += ",";
    text += name + "=" + ToString(value);
  }
  return text;
}

Result<Params> ResolveParams(std::span<const ParamSpec> specs,
                             const std::map<std::string, ParamValue>& given) {
  std::vector<std::string_view> names;
  for (const ParamSpec& spec : specs) names.push_back(spec.name);
  for (const auto& [name, value] : given) {
    if (std::ranges::find(names, name) == names.end()) {
      return Fail(Code::kInvalidArgument, UnknownName("parameter", name, names));
    }
  }
  Params params;
  for (const ParamSpec& spec : specs) {
    const auto it = given.find(spec.name);
    if (it == given.end()) {
      if (spec.required) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("parameter '{}' is missing ({})", spec.name, spec.help));
      }
      params.Set(spec.name, spec.fallback);
      continue;
    }
    RL_ASSIGN(ParamValue value, Convert(spec, it->second));
    params.Set(spec.name, std::move(value));
  }
  return params;
}

Json ToJson(const Params& params) {
  Json json = Json::object();
  for (const auto& [name, value] : params.values()) {
    std::visit([&json, &key = name](const auto& v) { json[key] = v; }, value);
  }
  return json;
}

Result<Params> ParamsFromJson(const Json& json) {
  Params params;
  for (const auto& [name, value] : json.items()) {
    if (value.is_boolean()) {
      params.Set(name, value.get<bool>());
    } else if (value.is_number_integer()) {
      params.Set(name, value.get<int64_t>());
    } else if (value.is_number()) {
      params.Set(name, value.get<double>());
    } else if (value.is_string()) {
      params.Set(name, value.get<std::string>());
    } else {
      return Fail(Code::kInvalidArgument,
                  fmt::format("parameter '{}' is neither a number, text nor true or false",
                              Printable(name)));
    }
  }
  return params;
}

}  // namespace ridgeline
