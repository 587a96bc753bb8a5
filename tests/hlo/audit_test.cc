// Programs as real compilers left them.
#include "hlo/audit.h"

#include <gmock/gmock.h>

#include "audit_fixtures.h"

namespace ridgeline::hlo {
namespace {

using ::testing::HasSubstr;

TEST(Audit, RealProgramsOfTheCpuPluginAreClean) {
  for (const Known& known : CleanPrograms()) {
    SCOPED_TRACE(known.fixture);
    const AuditResult result = Audit(LoadFixture(known.fixture), known.expected);
    ASSERT_EQ(result.findings.size(), 1u) << Text(result);
    EXPECT_EQ(result.findings[0].level, FindingLevel::kOk) << Text(result);
    EXPECT_EQ(result.executed_as, "");
    EXPECT_FALSE(result.refused());
  }
}

// XLA's GPU compiler reduces in place, and copies an operand that the next round needs again.
TEST(Audit, ACopyForAnInPlaceReductionIsNamedAndNotRefused) {
  constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(%a, %b)
}
%body (s: (s32[], f32[4096], f32[4096], s32[])) -> (s32[], f32[4096], f32[4096], s32[]) {
  %s = (s32[], f32[4096]{0}, f32[4096]{0}, s32[]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %x = f32[4096]{0} get-tuple-element(%s), index=1
  %copy = f32[4096]{0} copy(%x)
  %all-reduce = f32[4096]{0} all-reduce(%copy), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%sum
  %n = s32[] get-tuple-element(%s), index=3
  ROOT %t = (s32[], f32[4096]{0}, f32[4096]{0}, s32[]) tuple(%next, %x, %all-reduce, %n)
}
%more (s: (s32[], f32[4096], f32[4096], s32[])) -> pred[] {
  %s = (s32[], f32[4096]{0}, f32[4096]{0}, s32[]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %n = s32[] get-tuple-element(%s), index=3
  ROOT %c = pred[] compare(%i, %n), direction=LT
}
ENTRY %main (n: s32[], x: f32[4096], y: f32[4096]) -> f32[4096] {
  %n = s32[] parameter(0)
  %x = f32[4096]{0} parameter(1)
  %y = f32[4096]{0} parameter(2)
  %zero = s32[] constant(0)
  %t = (s32[], f32[4096]{0}, f32[4096]{0}, s32[]) tuple(%zero, %x, %y, %n)
  %loop = (s32[], f32[4096]{0}, f32[4096]{0}, s32[]) while(%t), condition=%more, body=%body
  ROOT %out = f32[4096]{0} get-tuple-element(%loop), index=2
}
)";
  const auto audit = [](const std::string& text) {
    const Result<Module> module = ReadModule(text);
    EXPECT_TRUE(module) << (module ? "" : module.error().ToString());
    Expectation expected = Expect({{{"all-reduce"}, 1}}, DType::kF32, 32768);
    expected.groups = {{0, 1}};
    return Audit(*module, expected);
  };
  const std::string in_place(kProgram);
  EXPECT_FALSE(audit(in_place).refused()) << Text(audit(in_place));
  EXPECT_THAT(Text(audit(in_place)), HasSubstr("warning: copy copy also moves 32 KiB in the body"));
  EXPECT_THAT(Text(audit(in_place)), HasSubstr("reduces in place"));
  // A copy of what the operation gave is none of that.
  std::string behind = in_place;
  behind.replace(behind.find("copy(%x)"), 8, "negate(%x)");
  behind.replace(behind.find("  %n = s32[] get-tuple-element(%s), index=3\n  ROOT %t"), 0,
                 "  %late = f32[4096]{0} copy(%all-reduce)\n");
  behind.replace(behind.find("tuple(%next, %x, %all-reduce, %n)"), 33,
                 "tuple(%next, %x, %late, %n)");
  EXPECT_TRUE(audit(behind).refused()) << Text(audit(behind));
}

TEST(Audit, SaysWhatTheBodyHolds) {
  EXPECT_EQ(
      Text(Audit(LoadFixture("cpu_gemm_f32"), Gemm(DType::kF32))),
      "ok: one loop, parameter 0 rounds; its body holds dot dot.0 (in ynn_fusion); nothing else "
      "in it moves more than 1.0 % of 3 MiB\n");
}

TEST(Audit, SoftmaxBetweenTheDotsIsPartOfAttention) {
  Expectation expected = Attention();
  const AuditResult result = Audit(LoadFixture("cpu_attention"), expected);
  EXPECT_FALSE(result.refused()) << Text(result);
  EXPECT_THAT(Text(result), HasSubstr("ok: one loop"));
  EXPECT_THAT(Text(result), HasSubstr("note: part of the operation, between the expected ones: "));
  EXPECT_THAT(Text(result), HasSubstr("broadcast_multiply_fusion"));
}

TEST(Audit, AttentionThatATpuCompilerRewrote) {
  Expectation expected = Attention();
  EXPECT_THAT(Text(Audit(LoadFixture("v5e_attention"), expected)),
              HasSubstr("refused: the work was optimised away: no dot in the loop body"));
  expected.ops = {{{"custom-call:tpu_custom_call"}, 1, false}};
  const AuditResult result = Audit(LoadFixture("v5e_attention"), expected);
  EXPECT_FALSE(result.refused()) << Text(result);
  EXPECT_THAT(Text(result), HasSubstr("warning: operands live in memory space 1"));
}

// XLA on a TPU computes an f32 matrix product of default precision from bf16 operands, and converts
// them once, before the loop.
TEST(Audit, TpuF32GemmIsComputedAsBf16InVmem) {
  const AuditResult result = Audit(LoadFixture("v5e_gemm_f32"), Gemm(DType::kF32));
  EXPECT_EQ(result.executed_as, "bf16") << Text(result);
  EXPECT_FALSE(result.refused());
  EXPECT_THAT(
      Text(result),
      HasSubstr("warning: f32 computed as bf16: convolution convolution.3 (in fusion.8) takes "
                "bf16"));
  EXPECT_THAT(
      Text(result),
      HasSubstr("warning: operands live in memory space 1, not in the device's main memory"));
  EXPECT_THAT(Text(result), HasSubstr("get-tuple-element.76"));
}

TEST(Audit, CpuAllReduceOfBf16IsComputedAsF32) {
  Expectation expected = AllReduce({{0, 1, 2, 3}});
  expected.dtype = DType::kBF16;
  expected.moved_bytes = 2.0 * 65536 * 2;
  const AuditResult result = Audit(LoadFixture("cpu_all_reduce_bf16"), expected);
  EXPECT_EQ(result.executed_as, "f32");
  EXPECT_FALSE(result.refused()) << Text(result);
  EXPECT_THAT(Text(result),
              HasSubstr("warning: bf16 computed as f32: all-reduce all-reduce.2 takes "
                        "f32 (converted by convert.5)"));
  EXPECT_THAT(Text(result),
              HasSubstr("wrapped_convert also moves 384 KiB in the body, 150.0 % of the "
                        "256 KiB of the operation; it converts for a type that is "
                        "emulated"));
}

TEST(Audit, TpuPermuteCopiesItsResultOutOfVmem) {
  const AuditResult result = Audit(LoadFixture("v5e_permute"), Permute());
  EXPECT_FALSE(result.refused()) << Text(result);
  EXPECT_THAT(Text(result),
              HasSubstr("warning: copy-start copy-start also moves 512 KiB in the body"));
  EXPECT_THAT(Text(result), HasSubstr("it takes an array to another memory space"));
}

// The CPU plugin cuts the message, exchanges the parts and joins them again. A fusion that slices
// its operand reads the slice only: 2 x 1 KiB.
TEST(Audit, CpuAllToAllMovesItsParts) {
  Expectation expected = Expect({{{"all-to-all"}}}, DType::kF32, 8192);
  expected.groups = {{0, 1, 2, 3}};
  const Module module = LoadFixture("cpu_all_to_all");
  EXPECT_THAT(Text(Audit(module, expected)),
              HasSubstr("refused: fusion wrapped_slice also moves 2 KiB in the body, 25.0 %"));
  expected.ops.push_back({{"slice", "concatenate"}, 0, true});
  const AuditResult result = Audit(module, expected);
  ASSERT_EQ(result.findings.size(), 1u) << Text(result);
  EXPECT_THAT(Text(result),
              HasSubstr("ok: one loop, parameter 0 rounds; its body holds slice slice."));
}

TEST(Audit, WithoutALoopOnlyConstantsCount) {
  Expectation expected;
  expected.loop = false;
  const Module module = LoadFixture("gemm_bf16_8192.cpu_after_optimizations");
  EXPECT_EQ(Text(Audit(module, expected)), "ok: no constant is too large\n");
  expected.loop = true;
  EXPECT_THAT(Text(Audit(module, expected)), HasSubstr("refused: the loop is gone"));
}

}  // namespace
}  // namespace ridgeline::hlo
