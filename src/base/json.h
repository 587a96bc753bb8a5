// JSON, written so that a strict parser reads it: no NaN, no infinity, no invalid UTF-8.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ridgeline {

using Json = nlohmann::ordered_json;

// null for NaN and infinity, so that an unmeasured or impossible figure never looks like a number.
Json Number(double value);
Json Number(const std::optional<double>& value);
// null when absent.
template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// One line, or indented by two. Invalid UTF-8 is replaced.
std::string DumpLine(const Json& json);
std::string DumpPretty(const Json& json);

// Errors name the byte.
Result<Json> ParseJson(std::string_view text);

// Readers of one member that accept an absent or null one.
std::optional<double> OptionalNumber(const Json& object, std::string_view key);
std::string StringOr(const Json& object, std::string_view key, std::string_view fallback = "");
bool BoolOr(const Json& object, std::string_view key, bool fallback = false);
// The member, or nullptr when it is absent or null or `object` is no object.
const Json* Member(const Json& object, std::string_view key);
// The member when it is an object, else an empty object.
Json ObjectOr(const Json& object, std::string_view key);
// The texts of an array; what is none is left out.
std::vector<std::string> TextsOf(const Json& object, std::string_view key);
int64_t IntegerOr(const Json& object, std::string_view key, int64_t fallback = 0);

}  // namespace ridgeline
