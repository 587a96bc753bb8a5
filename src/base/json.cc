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
  }
}

std::optional<double> OptionalNumber(const Json& object, std::string_view key) {
  const auto it = object.find(std::string(key));
  if (it == object.end() || !it->is_number()) return std::nullopt;
  return it->get<double>();
}

std::string StringOr(const Json& object, std::string_view key, std::string_view fallback) {
  const auto it = object.find(std::string(key));
  if (it == object.end() || !it->is_string()) return std::string(fallback);
  return it->get<std::string>();
}

int64_t IntegerOr(const Json& object, std::string_view key, int64_t fallback) {
  const auto it = object.find(std::string(key));
  if (it == object.end() || !it->is_number_integer()) return fallback;
  return it->get<int64_t>();
}

}  // namespace ridgeline
