// Small scheduled programs in the forms that XLA leaves for GPUs; their times follow by hand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/reader.h"
#include "model/collectives.h"
#include "predict/op_times.h"
#include "predict/target_named.h"

namespace ridgeline::predict {
namespace {

using ::testing::HasSubstr;

constexpr double kPeak = 3.12e14;  // bf16, one A100
constexpr double kBandwidth = 2.03904e12;

class GpuTimes : public ::testing::Test {
 protected:
  StepTime Time(const std::string& hlo, const std::string& target = "a100-sxm-80:8") const {
    const Target gpu = TargetNamed(target);
    const Result<hlo::Module> module =
        hlo::ReadModule("HloModule m, is_scheduled=true, num_partitions=8\n" + hlo);
    EXPECT_TRUE(module) << (module ? "" : module.error().ToString());
    const auto devices = static_cast<size_t>(gpu.machine.devices.value_or(1));
    const Mesh mesh = MeshOf(gpu, std::vector<DevicePlace>(devices)).value();
    const Result<StepTime> step = TimeStep(*module, gpu, mesh);
    EXPECT_TRUE(step) << (step ? "" : step.error().ToString());
    return step.value_or(StepTime{});
  }
};

std::string Cublas(int64_t n, const std::string& type) {
  return fmt::format(
      R"(ENTRY %main (p: {1}[{0},{0}], q: {1}[{0},{0}]) -> {1}[{0},{0}] {{
  %p = {1}[{0},{0}]{{1,0}} parameter(0)
  %q = {1}[{0},{0}]{{1,0}} parameter(1)
  %call = ({1}[{0},{0}]{{1,0}}, s8[4194304]{{0}}) custom-call(%p, %q), custom_call_target="__cublas$gemm", backend_config={{"gemm_backend_config":{{"dot_dimension_numbers":{{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}}}}
  ROOT %out = {1}[{0},{0}]{{1,0}} get-tuple-element(%call), index=0
}}
)",
      n, type);
}

std::string Triton(int64_t n) {
  return fmt::format(
      R"(%gemm (a: bf16[{0},{0}], b: bf16[{0},{0}]) -> bf16[{0},{0}] {{
  %a = bf16[{0},{0}]{{1,0}} parameter(0)
  %b = bf16[{0},{0}]{{1,0}} parameter(1)
  ROOT %dot = bf16[{0},{0}]{{1,0}} dot(%a, %b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
ENTRY %main (p: bf16[{0},{0}], q: bf16[{0},{0}]) -> bf16[{0},{0}] {{
  %p = bf16[{0},{0}]{{1,0}} parameter(0)
  %q = bf16[{0},{0}]{{1,0}} parameter(1)
  ROOT %fusion = bf16[{0},{0}]{{1,0}} fusion(%p, %q), kind=kCustom, calls=%gemm, backend_config={{"fusion_backend_config":{{"kind":"__triton_gemm"}}}}
}}
)",
      n);
}

TEST_F(GpuTimes, AProductReachesWhatPublishedOnesDo) {
  const GpuCompiler& a100 = *TargetNamed("a100-sxm-80").gpu;
  for (const std::string& program : {Cublas(8192, "bf16"), Triton(8192)}) {
    const StepTime step = Time(program);
    ASSERT_EQ(step.ops.size(), 1u);
    EXPECT_EQ(step.ops[0].part, Part::kMatrix);
    const double flops = 2. * 8192 * 8192 * 8192;
    EXPECT_DOUBLE_EQ(step.matrix_flops.at("bf16"), flops);
    EXPECT_NEAR(step.seconds.lower, flops / kPeak / a100.matrix_most, 2e-6);
    // 64 x 64 tiles on 108 multiprocessors: 38 rounds.
    EXPECT_NEAR(step.seconds.upper, flops / kPeak / a100.matrix_least * 38 * 108 / 4096, 10e-6);
    EXPECT_EQ(step.bound.first, "compute");
  }
}

TEST_F(GpuTimes, FewTilesLeaveMultiprocessorsIdle) {
  const StepTime step = Time(Cublas(512, "bf16"));
  EXPECT_THAT(step.ops[0].how, HasSubstr("tiles fill 14.8 % of the multiprocessors"));
}

// Precision by default: the matrix units take tf32.
TEST_F(GpuTimes, ProductsOfF32RunAsTf32) {
  const StepTime step = Time(Cublas(8192, "f32"));
  EXPECT_THAT(step.ops[0].how, HasSubstr("156 TFLOP/s"));
}

TEST_F(GpuTimes, OtherKernelsTakeTheirBytes) {
  const StepTime step = Time(R"(%add (a: f32[16777216]) -> f32[16777216] {
  %a = f32[16777216]{0} parameter(0)
  ROOT %sum = f32[16777216]{0} add(%a, %a)
}
ENTRY %main (p: f32[16777216]) -> f32[16777216] {
  %p = f32[16777216]{0} parameter(0)
  ROOT %fusion = f32[16777216]{0} fusion(%p), kind=kLoop, calls=%add
}
)");
  const double seconds = 2 * 67108864 / kBandwidth;
  EXPECT_GE(step.seconds.lower, seconds);
  EXPECT_NEAR(step.seconds.lower, seconds, 2e-6);
  EXPECT_GT(step.seconds.upper, seconds / TargetNamed("a100-sxm-80").gpu->hbm.value);
}

std::string Reduction(const std::string& config, const std::string& groups) {
  return R"(%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(%a, %b)
}
ENTRY %main (p: f32[16777216]) -> f32[16777216] {
  %p = f32[16777216]{0} parameter(0)
  %start = f32[16777216]{0} all-reduce-start(%p), channel_id=1, replica_groups=)" +
         groups +
         R"(, use_global_device_ids=true, to_apply=%sum, backend_config={"collective_backend_config":{)" +
         config + R"(}}
  ROOT %done = f32[16777216]{0} all-reduce-done(%start)
}
)";
}

TEST_F(GpuTimes, ASynchronousStartOverlapsNothing) {
  const StepTime beside = Time(Reduction("", "{{0,1,2,3,4,5,6,7}}"));
  const StepTime in_turn = Time(Reduction(R"("is_sync":true)", "{{0,1,2,3,4,5,6,7}}"));
  ASSERT_EQ(in_turn.wire.size(), 1u);
  EXPECT_EQ(in_turn.wire[0].axes, "node");
  EXPECT_EQ(in_turn.wire[0].overlapped_s, 0);
  EXPECT_EQ(beside.wire[0].overlapped_s, beside.wire[0].seconds);
  const double ring = model::RingAllReduceSeconds(67108864, {8, 3e11, 0});
  EXPECT_DOUBLE_EQ(in_turn.wire[0].seconds, ring);
  const GpuCompiler& a100 = *TargetNamed("a100-sxm-80").gpu;
  EXPECT_GT(in_turn.seconds.lower, ring);
  EXPECT_GT(in_turn.seconds.upper, ring / a100.link.value);
}

// Two hosts: what crosses them goes at the rate of the network cards.
TEST_F(GpuTimes, GroupsAcrossHostsTakeTheirNetwork) {
  const std::string across = Reduction(R"("is_sync":true)", "{{0,8},{1,9},{2,10},{3,11}}");
  const StepTime pairs = Time(across, "h100-sxm:16");
  EXPECT_EQ(pairs.wire[0].axes, "dcn");
  EXPECT_DOUBLE_EQ(pairs.wire[0].seconds, model::RingAllReduceSeconds(67108864, {2, 5e10, 0}));
  const StepTime all = Time(
      Reduction(R"("is_sync":true)", "{{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}}"), "h100-sxm:16");
  EXPECT_EQ(all.wire[0].axes, "dcn+node");
  const model::HierarchicalTime both =
      model::HierarchicalAllReduceSeconds(67108864, {8, 2, 4.5e11, 5e10});
  EXPECT_DOUBLE_EQ(all.wire[0].seconds, both.slice_s + both.dcn_s);
}

// Double buffering halves the rounds and doubles the body: its work stays.
TEST_F(GpuTimes, AnUnrolledLoopDoesAsMuch) {
  const auto loop = [](int rounds, const std::string& more) {
    return fmt::format(R"(%body (s: (s32[], f32[1048576])) -> (s32[], f32[1048576]) {{
  %s = (s32[], f32[1048576]{{0}}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[1048576]{{0}} get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %y0 = f32[1048576]{{0}} negate(%x)
  {1}
  ROOT %t = (s32[], f32[1048576]{{0}}) tuple(%next, %last)
}}
%more (s: (s32[], f32[1048576])) -> pred[] {{
  %s = (s32[], f32[1048576]{{0}}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %n = s32[] constant({0})
  ROOT %c = pred[] compare(%i, %n), direction=LT
}}
ENTRY %main (x: f32[1048576]) -> (s32[], f32[1048576]) {{
  %x = f32[1048576]{{0}} parameter(0)
  %zero = s32[] constant(0)
  %t = (s32[], f32[1048576]{{0}}) tuple(%zero, %x)
  ROOT %loop = (s32[], f32[1048576]{{0}}) while(%t), condition=%more, body=%body, backend_config={{"known_trip_count":{{"n":"{0}"}}}}
}}
)",
                       rounds, more);
  };
  const StepTime once = Time(loop(10, "%last = f32[1048576]{0} negate(%y0)"));
  const StepTime twice =
      Time(loop(5,
                "%y1 = f32[1048576]{0} negate(%y0)\n  %y2 = f32[1048576]{0} negate(%y1)\n"
                "  %last = f32[1048576]{0} negate(%y2)"));
  // But for the counter, which is counted in half as many rounds.
  EXPECT_NEAR(once.hbm_bytes, twice.hbm_bytes, 1000);
  EXPECT_NEAR(once.seconds.lower, twice.seconds.lower, 10.1e-6);
}

}  // namespace
}  // namespace ridgeline::predict
