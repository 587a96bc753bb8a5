// The faulty plugin's script: what it reads, and that it says what it cannot.
#include "script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridgeline::faulty {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kEntries[] = {"PJRT_Client_Compile", "PJRT_LoadedExecutable_Execute",
                                         "PJRT_Buffer_ToHostBuffer"};

Script Read(std::string_view text) {
  Result<Script> script = ParseScript(text, kEntries);
  EXPECT_TRUE(script) << (script ? "" : script.error().ToString());
  return script.value_or(Script{});
}

TEST(FaultyScript, ReadsRulesOfLinesAndSemicolons) {
  const Script script = Read(
      "# comment; not a rule\n"
      "\n"
      "Client_Compile#3 error code=INTERNAL text=\"two; words \\\"quoted\\\"\"; "
      "PJRT_LoadedExecutable_Execute#2-5 late ms=1.5 device=1\n"
      "Client_Compile#4+ abort program=dot");
  ASSERT_EQ(script.rules.size(), 3u);
  EXPECT_EQ(script.rules[0].entry, "PJRT_Client_Compile");
  EXPECT_EQ(script.rules[0].first, 3);
  EXPECT_EQ(script.rules[0].last, 3);
  EXPECT_EQ(script.rules[0].Text("text"), "two; words \"quoted\"");
  EXPECT_EQ(script.rules[1].action, Action::kLate);
  EXPECT_EQ(script.rules[1].last, 5);
  EXPECT_EQ(script.rules[1].Number("ms"), 1.5);
  EXPECT_EQ(script.rules[1].Number("device", -1), 1);
  EXPECT_EQ(script.rules[1].Number("noise", -1), -1);
  EXPECT_EQ(script.rules[2].first, 4);
  EXPECT_GT(script.rules[2].last, 1'000'000'000);
  EXPECT_EQ(script.rules[2].Text("program"), "dot");
}

TEST(FaultyScript, ReadsWhatIsSaidOfTheTable) {
  const Script script =
      Read("api version value=0.38\napi size before=Buffer_ToHostBuffer\nClient_Compile missing\n");
  EXPECT_EQ(script.version, std::pair(0, 38));
  EXPECT_EQ(script.size_before, "PJRT_Buffer_ToHostBuffer");
  EXPECT_FALSE(script.null_table);
  EXPECT_TRUE(Read("api null").null_table);
}

TEST(FaultyScript, NamesTheLineAndWhatIsAllowed) {
  const std::pair<std::string_view, std::string_view> kBad[] = {
      {"\nClient_Compil abort", "did you mean 'PJRT_Client_Compile'"},
      {"\nClient_Compile", "has no action"},
      {"\nClient_Compile abrot", "did you mean 'abort'"},
      {"\nClient_Compile#0 abort", "names no call"},
      {"\nClient_Compile#5-2 abort", "names no call"},
      {"\nClient_Compile#x abort", "names no call"},
      {"\nClient_Compile error", "'error' needs code="},
      {"\nClient_Compile error code=INTERNL", "did you mean 'INTERNAL'"},
      {"\nClient_Compile abort ms=3", "does not take 'ms=3'"},
      {"\nClient_Compile sleep ms=soon", "no number"},
      {"\nClient_Compile sleep ms=-1", "no number"},
      {"\nClient_Compile late ms=3", "does not go with PJRT_Client_Compile"},
      {"\nClient_Compile missing program=x", "does not take"},
      {"\nClient_Compile abort program=\"dot", "quote is not closed"},
      {"\napi version value=one", "api version value=0.38"},
      {"\napi nothing", "api null"},
  };
  for (const auto& [text, words] : kBad) {
    const Result<Script> script = ParseScript(text, kEntries);
    ASSERT_FALSE(script) << text;
    EXPECT_EQ(script.error().where, "faulty script:2") << text;
    EXPECT_THAT(script.error().message, HasSubstr(std::string(words))) << text;
  }
}

}  // namespace
}  // namespace ridgeline::faulty
