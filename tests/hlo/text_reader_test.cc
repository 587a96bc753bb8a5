// HLO text: what is read, and where a message points.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fixtures.h"
#include "hlo/reader.h"

namespace ridgeline::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kText =
    R"(HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias), {1, 0}: (0, {}) }, num_partitions=4

FileNames
1 "f.py"

%add.1 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(f32[] %a, f32[] %b)
}

ENTRY %main (x: f32[8,<=16]) -> (f32[8], /*index=1*/(s32[])) {
  %x = f32[8,<=16]{1,0:T(8,128)S(1)} parameter(0), metadata={op_name="x \"quoted\"" source_file="f.py"}
  %zero = f32[] constant(0)
  %five = s32[] constant(5)
  %r = f32[8]{0} reduce(f32[8,16]{1,0} %x, %zero), dimensions={1}, to_apply=%add.1
  %inner = (s32[]) tuple(%five)
  ROOT %t = (f32[8]{0}, (s32[])) tuple(%r, /*index=1*/%inner)
}
)";

TEST(TextReader, ReadsWhatDumpsWrite) {
  auto module = ReadModule(kText);
  ASSERT_TRUE(module) << module.error().ToString();
  EXPECT_TRUE(module->scheduled);
  EXPECT_EQ(module->partitions, 4);
  ASSERT_EQ(module->aliases.size(), 2u);
  EXPECT_THAT(module->aliases[1].output_index, ElementsAre(1, 0));
  Computation& main = ComputationNamed(*module, "main");
  EXPECT_EQ(module->Entry().name, "main");
  const auto x = Named(main, "x");
  EXPECT_TRUE(x->shape.dynamic);
  EXPECT_EQ(x->shape.memory_space, 1);
  EXPECT_EQ(x->op_name, "x \"quoted\"");
  EXPECT_EQ(Named(main, "five")->integer, 5);
  EXPECT_THAT(Named(main, "r")->dimensions, ElementsAre(1));
  EXPECT_EQ(module->Get(Named(main, "r")->called[0]).name, "add.1");
  EXPECT_EQ(main.Root().name, "t");
}

std::string ErrorOf(const std::string& body) {
  const auto module = ReadModule("HloModule m\n\nENTRY e {\n" + body + "\n}\n");
  return module ? "read" : module.error().ToString();
}

TEST(TextReader, MessagesPointAtThePlace) {
  EXPECT_THAT(ErrorOf("  p = f32[8] parameter(0)\n  ROOT q = f32[8] negat(p)"),
              StartsWith("5:19: HLO text: unknown opcode 'negat'; did you mean 'negate'?"));
  EXPECT_THAT(ErrorOf("  ROOT q = f32[8] negate(p)"),
              StartsWith("4:26: HLO text: 'p' is not defined before it is used"));
  EXPECT_THAT(ErrorOf("  p = g32[8] parameter(0)"),
              StartsWith("4:7: HLO text: expected a shape such as f32[8,16], found 'g32[8]"));
  EXPECT_THAT(ErrorOf("  p = f32[99999999999999999999] parameter(0)"),
              HasSubstr("4:11: HLO text: a number beyond 64 bits"));
  EXPECT_THAT(ErrorOf("  p = f32[8] parameter(0)\n  p = f32[8] parameter(1)"),
              HasSubstr("5:3: HLO text: a second 'p'"));
  EXPECT_THAT(ErrorOf("  p = f32[8] parameter(0)\n  r = f32[] reduce(p, p), to_apply=none"),
              HasSubstr("no computation 'none'"));
  EXPECT_THAT(ErrorOf("  p = f32[8] parameter(0), window={size}"), HasSubstr("window={size=…}"));
  EXPECT_THAT(ErrorOf("  p = f32[?] parameter(0)"), HasSubstr("unknown or negative"));
}

TEST(TextReader, SurvivesEveryCut) {
  const std::string text = kText;
  for (size_t length = 0; length < text.size(); ++length) {
    const auto module = ReadModule(text.substr(0, length));
    if (module) continue;  // the cut fell behind a whole computation
    EXPECT_FALSE(module.error().message.empty()) << length;
  }
}

TEST(TextReader, NestingIsBounded) {
  const std::string deep = std::string(100000, '(');
  EXPECT_THAT(ErrorOf("  p = " + deep), HasSubstr("tuples nest more than 64 deep"));
  EXPECT_THAT(ErrorOf("  p = f32[8] parameter(0), sharding=" + deep),
              HasSubstr("is not closed before the file ends"));
}

// Found by the fuzzer: the product of the sizes overflowed.
TEST(TextReader, GroupsWithoutMeasureAreAnError) {
  const auto module = ReadModule(
      "HloModule m\nENTRY e {\n p = f32[8] parameter(0)\n ROOT a = f32[8] all-gather(p), "
      "replica_groups=[1,99999999,99999999,99999999,99999999]<=[16], dimensions={0}\n}\n");
  ASSERT_FALSE(module);
  EXPECT_THAT(module.error().ToString(), testing::HasSubstr("replica groups"));
}

TEST(TextReader, EverySpellingOfGroups) {
  const auto groups = [](const std::string& spelling) {
    const auto module = ReadModule(
        "HloModule m\nadd { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] "
        "add(x, y) }\nENTRY e {\n p = f32[8] parameter(0)\n ROOT a = f32[8] all-reduce(p), "
        "replica_groups=" +
        spelling + ", to_apply=add\n}\n");
    EXPECT_TRUE(module) << spelling << ": " << module.error().ToString();
    return module ? module->Entry().Root().groups : std::vector<std::vector<int64_t>>();
  };
  using Rows = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(groups("{{0,1},{2,3}}"), (Rows{{0, 1}, {2, 3}}));
  EXPECT_EQ(groups("[2,2]<=[4]"), (Rows{{0, 1}, {2, 3}}));
  EXPECT_EQ(groups("[2,2]<=[2,2]T(1,0)"), (Rows{{0, 2}, {1, 3}}));
  EXPECT_EQ(groups("mesh['x'=2,'y'=2] {'y'}"), (Rows{{0, 1}, {2, 3}}));
  EXPECT_EQ(groups("mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'y'}"), (Rows{{0, 2}, {1, 3}}));
  EXPECT_EQ(groups("mesh['x'=2,'y'=2], device_ids=(3,2,1,0) {'y'}"), (Rows{{3, 2}, {1, 0}}));
  EXPECT_EQ(groups("mesh['x'=4] {'x':(2)2}"), (Rows{{0, 1}, {2, 3}}));
  EXPECT_EQ(groups("{}"), Rows{});
}

}  // namespace
}  // namespace ridgeline::hlo
