#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace ridgeline {
namespace {

TEST(Json, WhatIsNoNumberIsNull) {
  EXPECT_EQ(DumpLine(Number(std::numeric_limits<double>::quiet_NaN())), "null");
  EXPECT_EQ(DumpLine(Number(-std::numeric_limits<double>::infinity())), "null");
  EXPECT_EQ(DumpLine(Number(std::optional<double>())), "null");
  EXPECT_EQ(DumpLine(Number(819.2)), "819.2");
}

TEST(Json, InvalidUtf8IsReplaced) { EXPECT_EQ(DumpLine(Json("a\xff")), "\"a\xef\xbf\xbd\""); }

TEST(Json, ErrorsNameTheByte) {
  const auto broken = ParseJson("{\"a\": 1,, }");
  ASSERT_FALSE(broken.has_value());
  EXPECT_NE(broken.error().message.find("byte 9"), std::string::npos) << broken.error().message;
  EXPECT_FALSE(ParseJson("").has_value());
  EXPECT_FALSE(ParseJson("NaN").has_value());
}

TEST(Json, ReadersAcceptWhatIsMissingNullOrOfAnotherType) {
  const Json json =
      ParseJson(R"({"n": 1.5, "t": "x", "z": null, "o": {"k": 1}, "b": true})").value();
  EXPECT_EQ(OptionalNumber(json, "n").value(), 1.5);
  for (const char* key : {"t", "z", "o", "b", "none"}) {
    EXPECT_FALSE(OptionalNumber(json, key).has_value()) << key;
  }
  EXPECT_EQ(StringOr(json, "t"), "x");
  EXPECT_EQ(StringOr(json, "n", "other"), "other");
  EXPECT_EQ(IntegerOr(json, "n", 7), 7);  // not whole
  EXPECT_TRUE(BoolOr(json, "b"));
  EXPECT_FALSE(BoolOr(json, "t"));
  EXPECT_EQ(ObjectOr(json, "o").size(), 1u);
  EXPECT_TRUE(ObjectOr(json, "n").empty());
  EXPECT_EQ(Member(Json::array(), "k"), nullptr);
  EXPECT_EQ(Member(json, "z"), nullptr);
}

}  // namespace
}  // namespace ridgeline
