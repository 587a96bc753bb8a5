#include "base/json.h"

#include <fmt/format.h>

#include <cmath>

namespace ridgeline {

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json Number(const std::optional<double>& value) { return value ? Number(*value) : Json(nullptr); }

std::string DumpLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string DumpPretty(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<Json> ParseJson(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return Fail(Code::kInvalidArgument, fmt::format("not valid JSON at byte {}", error.byte));
  } catch (const Json::out_of_range&) {
    return Fail(Code::kInvalidArgument, "not valid JSON: a number is out of range");
  }
}

const Json* Member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(std::string(key));
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

std::optional<double> OptionalNumber(const Json& object, std::string_view key) {
  const Json* member = Member(object, key);
  return member && member->is_number() ? std::optional(member->get<double>()) : std::nullopt;
}

std::string StringOr(const Json& object, std::string_view key, std::string_view fallback) {
  const Json* member = Member(object, key);
  return member && member->is_string() ? member->get<std::string>() : std::string(fallback);
}

bool BoolOr(const Json& object, std::string_view key, bool fallback) {
  const Json* member = Member(object, key);
  return member && member->is_boolean() ? member->get<bool>() : fallback;
}

std::vector<std::string> TextsOf(const Json& object, std::string_view key) {
  std::vector<std::string> texts;
  const Json* array = Member(object, key);
  if (array == nullptr || !array->is_array()) return texts;
  for (const Json& one : *array) {
    if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

int64_t IntegerOr(const Json& object, std::string_view key, int64_t fallback) {
  const Json* member = Member(object, key);
  return member && member->is_number_integer() ? member->get<int64_t>() : fallback;
}

Json ObjectOr(const Json& object, std::string_view key) {
  const Json* member = Member(object, key);
  return member && member->is_object() ? *member : Json::object();
}

}  // namespace ridgeline
