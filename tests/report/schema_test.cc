// data/schema/result.schema.json and Measurement's JSON name the same members with the same types.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "store/results.h"
#include "store/sample.h"

namespace ridgeline {
namespace {

Json LoadSchema(const std::string& name) {
  std::ifstream in(std::string(RIDGELINE_SOURCE_DIR) + "/data/schema/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  const auto schema = ParseJson(text.str());
  EXPECT_TRUE(schema) << name << ": " << schema.error().ToString();
  return schema ? *schema : Json::object();
}

bool IsOfType(const Json& value, const std::string& type) {
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "string"  ? value.is_string()
         : type == "boolean" ? value.is_boolean()
         : type == "integer" ? value.is_number_integer()
         : type == "number"  ? value.is_number()
                             : type == "null" && value.is_null();
}

std::set<std::string> Keys(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

// The parts of JSON Schema that the file uses for a measurement. Empty, or what differs.
std::string Difference(const Json& schema, const Json& value, const std::string& path) {
  if (schema.contains("enum")) {
    for (const Json& allowed : schema["enum"]) {
      if (allowed == value) return "";
    }
    return path + " is none of the enum";
  }
  const Json& type = schema.at("type");
  bool typed = false;
  for (const Json& one : type.is_array() ? type : Json::array({type})) {
    typed = typed || IsOfType(value, one.get<std::string>());
  }
  if (!typed) return path + " has another type: " + DumpLine(value);
  if (value.is_object() && schema.contains("properties")) {
    if (Keys(schema["properties"]) != Keys(value)) return path + " has other members";
    for (const auto& [key, member] : value.items()) {
      std::string difference = Difference(schema["properties"][key], member, path + "." + key);
      if (!difference.empty()) return difference;
    }
  }
  if (value.is_object() && schema.contains("additionalProperties")) {
    for (const auto& [key, member] : value.items()) {
      std::string difference = Difference(schema["additionalProperties"], member, path + "." + key);
      if (!difference.empty()) return difference;
    }
  }
  if (value.is_array() && schema.contains("items")) {
    for (const Json& item : value) {
      std::string difference = Difference(schema["items"], item, path + "[]");
      if (!difference.empty()) return difference;
    }
  }
  return "";
}

TEST(ResultSchema, NamesWhatAMeasurementHas) {
  const Json schema = LoadSchema("result.schema.json")["$defs"]["measurement"];
  EXPECT_EQ(Difference(schema, ToJson(FullMeasurement()), "measurement"), "");
  EXPECT_EQ(Difference(schema, ToJson(Measurement()), "measurement"), "");
}

TEST(ResultSchema, TheComparisonSeesADifference) {
  Json schema = LoadSchema("result.schema.json")["$defs"]["measurement"];
  Json value = ToJson(FullMeasurement());
  value["fit"]["more"] = 1;
  EXPECT_EQ(Difference(schema, value, "m"), "m.fit has other members");
  value = ToJson(FullMeasurement());
  value["rates"][0]["unit"] = 1;
  EXPECT_EQ(Difference(schema, value, "m"), "m.rates[].unit has another type: 1");
  value = ToJson(FullMeasurement());
  schema["properties"].erase("seed");
  EXPECT_EQ(Difference(schema, value, "m"), "m has other members");
}

TEST(ResultSchema, EveryStatusAndComponentIsListed) {
  const Json properties = LoadSchema("result.schema.json")["$defs"]["measurement"]["properties"];
  EXPECT_EQ(properties["status"]["enum"].size(), 9u);
  for (const Json& status : properties["status"]["enum"]) {
    EXPECT_TRUE(ParseCaseStatus(status.get<std::string>())) << status;
  }
  EXPECT_EQ(properties["component"]["enum"].size(), 6u);
  for (const Json& component : properties["component"]["enum"]) {
    EXPECT_TRUE(ParseComponent(component.get<std::string>())) << component;
  }
}

TEST(SuiteSchema, IsJson) { EXPECT_EQ(LoadSchema("suite.schema.json")["properties"].size(), 5u); }

}  // namespace
}  // namespace ridgeline
