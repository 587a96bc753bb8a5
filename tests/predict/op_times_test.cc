// Small scheduled programs whose times follow from the spec and the compiler's figures by hand.
#include "predict/op_times.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "hlo/reader.h"
#include "model/collectives.h"
#include "predict/target_named.h"

namespace ridgeline::predict {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class OpTimes : public ::testing::Test {
 protected:
  StepTime Time(const std::string& hlo) const {
    const Result<hlo::Module> module =
        hlo::ReadModule("HloModule m, is_scheduled=true, num_partitions=16\n" + hlo);
    EXPECT_TRUE(module) << (module ? "" : module.error().ToString());
    const Result<StepTime> step = TimeStep(*module, target_, mesh_);
    EXPECT_TRUE(step) << (step ? "" : step.error().ToString());
    return step.value_or(StepTime{});
  }
  static std::string Cycles(const std::string& cycles) {
    return R"(, backend_config={"window_config":{"estimated_cycles":")" + cycles + R"("}})";
  }

  const Target target_ = TargetNamed("tpu-v5e:4x4");
  const Mesh mesh_{.axes = {{"x", 4}, {"y", 4}}, .order = {}, .note = ""};
  const double bandwidth_ = 8.19e11;
};

// 2 * 2048^3 FLOP; 48 MiB.
std::string Product(const std::string& config) {
  return R"(%fused (a: bf16[2048,2048], b: bf16[2048,2048]) -> bf16[2048,2048] {
  %a = bf16[2048,2048]{1,0} parameter(0)
  %b = bf16[2048,2048]{1,0} parameter(1)
  ROOT %dot = bf16[2048,2048]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY %main (p: bf16[2048,2048], q: bf16[2048,2048]) -> bf16[2048,2048] {
  %p = bf16[2048,2048]{1,0} parameter(0)
  %q = bf16[2048,2048]{1,0} parameter(1)
  ROOT %fusion = bf16[2048,2048]{1,0} fusion(%p, %q), kind=kOutput, calls=%fused)" +
         config + "\n}\n";
}

// The weights of the product lie in VMEM: 1000 cycles leave no time to read 8 MiB.
TEST_F(OpTimes, BytesThatTheCyclesLeaveNoTimeForAreNotCounted) {
  const StepTime step = Time(R"(%fused (a: bf16[8,2048], b: bf16[2048,2048]) -> bf16[8,2048] {
  %a = bf16[8,2048]{1,0} parameter(0)
  %b = bf16[2048,2048]{1,0} parameter(1)
  ROOT %dot = bf16[8,2048]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY %main (p: bf16[8,2048], q: bf16[2048,2048]) -> bf16[8,2048] {
  %p = bf16[8,2048]{1,0} parameter(0)
  %q = bf16[2048,2048]{1,0} parameter(1)
  ROOT %fusion = bf16[8,2048]{1,0} fusion(%p, %q), kind=kOutput, calls=%fused)" +
                             Cycles("1000") + "\n}\n");
  EXPECT_LE(step.seconds.lower, step.seconds.upper);
  EXPECT_GT(step.seconds.lower, 0);
  EXPECT_NEAR(step.hbm_bytes, step.seconds.upper * bandwidth_, 1);
  EXPECT_TRUE(std::ranges::any_of(step.notes, [](const std::string& note) {
    return note.starts_with("1 operations hold operands");
  }));
}

TEST_F(OpTimes, AProductTakesItsCycles) {
  const StepTime step = Time(Product(Cycles("150000")));  // 100 us at 1.5 GHz
  ASSERT_EQ(step.ops.size(), 1u);
  EXPECT_EQ(step.ops[0].part, Part::kMatrix);
  const TpuCompiler& v5e = *target_.compiler;
  EXPECT_DOUBLE_EQ(step.seconds.upper, 100e-6 * v5e.cycles_most);
  // At the peak of 197 TFLOP/s it takes 87.2 us: never less.
  EXPECT_DOUBLE_EQ(step.seconds.lower,
                   std::max(100e-6 * v5e.cycles_least, 2 * 8589934592. / 1.97e14));
  EXPECT_DOUBLE_EQ(step.matrix_flops.at("bf16"), 2 * 8589934592.);
  EXPECT_EQ(step.bound.label, "compute");
}

TEST_F(OpTimes, WithoutCalibrationAProductTakesItsEstimate) {
  const Result<hlo::Module> module = hlo::ReadModule(
      "HloModule m, is_scheduled=true, num_partitions=16\n" + Product(Cycles("150000")));
  Target target = target_;
  target.calibrated = false;
  const StepTime step = TimeStep(*module, target, mesh_).value();
  EXPECT_DOUBLE_EQ(step.seconds.lower, 100e-6);
  EXPECT_DOUBLE_EQ(step.seconds.upper, 100e-6);
  EXPECT_THAT(step.notes, Contains(HasSubstr("calibration is off")));
}

TEST_F(OpTimes, WithoutCyclesAProductLiesBetweenItsRoofAndTwiceThat) {
  const double roof = 2 * 8589934592. / 1.97e14;
  for (const std::string& config : {std::string(), Cycles("9223372036854775807")}) {
    const StepTime step = Time(Product(config));
    EXPECT_DOUBLE_EQ(step.seconds.lower, roof);
    EXPECT_DOUBLE_EQ(step.seconds.upper, 2 * roof);
    EXPECT_THAT(step.notes, Contains(HasSubstr("without estimated cycles")));
  }
}

TEST_F(OpTimes, AnEstimateFarAboveTheRoofWidensTheInterval) {
  const StepTime step = Time(Product(Cycles("1500000")));  // 1 ms
  EXPECT_DOUBLE_EQ(step.seconds.lower, 2 * 8589934592. / 1.97e14);
  EXPECT_DOUBLE_EQ(step.seconds.upper, 1e-3 * target_.compiler->cycles_most);
  EXPECT_THAT(step.ops[0].how, HasSubstr("doubtful"));
}

std::string Loop(int rounds, const std::string& op) {
  return fmt::format(R"(%add (l: f32[], r: f32[]) -> f32[] {{
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %s = f32[] add(%l, %r)
}}
%wrapped (w: f32[1048576]) -> f32[1048576] {{
  %w = f32[1048576]{{0}} parameter(0)
  ROOT %in = f32[1048576]{{0}} all-reduce(%w), channel_id=2, replica_groups={{{{0,1,2,3}},{{4,5,6,7}},{{8,9,10,11}},{{12,13,14,15}}}}, use_global_device_ids=true, to_apply=%add
}}
%sparse (y: f32[1048576]) -> f32[1048576] {{
  %y = f32[1048576]{{0}} parameter(0)
  ROOT %offload = f32[1048576]{{0}} all-reduce(%y), channel_id=4, replica_groups={{{{0,1,2,3}},{{4,5,6,7}},{{8,9,10,11}},{{12,13,14,15}}}}, use_global_device_ids=true, to_apply=%add
}}
%offloaded (u: f32[1048576]) -> f32[1048576] {{
  %u = f32[1048576]{{0}} parameter(0)
  ROOT %carrier = f32[1048576]{{0}} custom-call(%u), custom_call_target="mine", called_computations={{%sparse}}
}}
%all-reduce-scatter (z: f32[1048576]) -> f32[262144] {{
  %z = f32[1048576]{{0}} parameter(0)
  %sum = f32[1048576]{{0}} all-reduce(%z), channel_id=3, replica_groups={{{{0,1,2,3}},{{4,5,6,7}},{{8,9,10,11}},{{12,13,14,15}}}}, use_global_device_ids=true, to_apply=%add
  ROOT %part = f32[262144]{{0}} slice(%sum), slice={{[0:262144]}}
}}
%body (t: (s32[], f32[1048576])) -> (s32[], f32[1048576]) {{
  %t = (s32[], f32[1048576]{{0}}) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %v = f32[1048576]{{0}} get-tuple-element(%t), index=1
  {}
  ROOT %out = (s32[], f32[1048576]{{0}}) tuple(%next, %op)
}}
%condition (c: (s32[], f32[1048576])) -> pred[] {{
  %c = (s32[], f32[1048576]{{0}}) parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %n = s32[] constant({})
  ROOT %less = pred[] compare(%k, %n), direction=LT
}}
ENTRY %main (p: f32[1048576]) -> (s32[], f32[1048576]) {{
  %p = f32[1048576]{{0}} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[1048576]{{0}}) tuple(%zero, %p)
  ROOT %while = (s32[], f32[1048576]{{0}}) while(%start), condition=%condition, body=%body
}}
)",
                     op, rounds);
}

const OpTime& Named(const StepTime& step, const std::string& name) {
  static const OpTime none;
  for (const OpTime& op : step.ops) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << name;
  return none;
}

TEST_F(OpTimes, ALoopCountsAllItsRounds) {
  const StepTime step = Time(Loop(24, "%op = f32[1048576]{0} negate(%v)"));
  const OpTime& op = Named(step, "op");
  EXPECT_EQ(op.executions, 24);
  EXPECT_DOUBLE_EQ(op.hbm_bytes, 24 * 8388608.);
  EXPECT_DOUBLE_EQ(op.seconds.lower, 24 * 8388608. / bandwidth_);
  EXPECT_DOUBLE_EQ(op.seconds.upper, op.seconds.lower / target_.compiler->hbm_share);
  EXPECT_EQ(step.bound.label, "memory");
}

// Rows of the mesh: a line of four along y.
double AllReduceAlongY(const Target& target) {
  const NetworkAxis& y = *target.machine.Axis("y");
  return model::AllReduceSeconds(
      4194304, {.size = 4, .link_bytes_per_s = 5e10, .wrap = false, .hop_s = y.hop_s->value});
}

TEST_F(OpTimes, ACollectiveTakesItsClosedFormAlongItsAxis) {
  const StepTime step = Time(Loop(3,
                                  "%op = f32[1048576]{0} all-reduce(%v), channel_id=1, "
                                  "replica_groups={{0,1,2,3},{4,5,6,7},{8,9,10,11},{12,13,14,15}}, "
                                  "use_global_device_ids=true, to_apply=%add"));
  ASSERT_EQ(step.wire.size(), 1u);
  EXPECT_EQ(step.wire[0].axes, "y");
  EXPECT_EQ(step.wire[0].collective, "all_reduce");
  EXPECT_EQ(step.wire[0].executions, 3);
  EXPECT_NEAR(step.wire[0].seconds, 3 * AllReduceAlongY(target_), 1e-12);
  EXPECT_EQ(step.wire[0].overlapped_s, 0);
  EXPECT_GE(step.seconds.lower, step.wire[0].seconds);
  EXPECT_EQ(step.bound.label, "network");
}

// libtpu's spelling of a reduce-scatter costs half an all-reduce.
TEST_F(OpTimes, AnAllReduceThatKeepsItsPartIsAReduceScatter) {
  const StepTime step = Time(Loop(3,
                                  "%nil = f32[] constant(0)\n  %small = f32[262144]{0} fusion(%v), "
                                  "kind=kCustom, calls=%all-reduce-scatter\n"
                                  "  %op = f32[1048576]{0} pad(%small, %nil), padding=0_786432"));
  ASSERT_EQ(step.wire.size(), 1u);
  EXPECT_EQ(step.wire[0].collective, "reduce_scatter");
  EXPECT_NEAR(step.wire[0].seconds, 3 * AllReduceAlongY(target_) / 2, 1e-12);
}

// 4 MiB in, 16 B out: what of its operand it reads is not known.
TEST_F(OpTimes, AKernelWithoutStatedWorkIsBetweenItsResultAndItsOperands) {
  const StepTime step =
      Time(Loop(1,
                "%kernel = f32[4]{0} custom-call(%v), custom_call_target=\"mine\"\n"
                "  %op = f32[1048576]{0} negate(%v)"));
  const OpTime& kernel = Named(step, "kernel");
  EXPECT_DOUBLE_EQ(kernel.seconds.lower, 32 / bandwidth_);
  EXPECT_DOUBLE_EQ(kernel.seconds.upper, (4194304 + 16) / bandwidth_ / target_.compiler->hbm_share);
  EXPECT_THAT(step.notes, Contains(HasSubstr("kernel mine states no work")));
}

// As the core runs it, and as libtpu hands it to the SparseCore.
TEST_F(OpTimes, AnAsynchronousCollectiveMayHideBehindTheRest) {
  for (const std::string& called : {std::string("%wrapped"), std::string("%offloaded")}) {
    SCOPED_TRACE(called);
    const StepTime step = Time(Loop(
        3, fmt::format("%start = ((f32[1048576]{{0}}), f32[1048576]{{0}}, s32[]) async-start(%v), "
                       "calls={0}\n  %big = f32[1048576]{{0}} negate(%v)\n  "
                       "%op = f32[1048576]{{0}} async-done(%start), calls={0}",
                       called)));
    ASSERT_EQ(step.wire.size(), 1u);
    EXPECT_NEAR(step.wire[0].seconds, 3 * AllReduceAlongY(target_), 1e-12);
    EXPECT_DOUBLE_EQ(step.wire[0].overlapped_s, step.wire[0].seconds);
    const double beside = Named(step, "big").seconds.lower;
    EXPECT_LT(step.seconds.lower, step.wire[0].seconds + beside);
    EXPECT_GE(step.seconds.lower, std::max(step.wire[0].seconds, beside));
    EXPECT_GE(step.seconds.upper, step.wire[0].seconds + beside);
  }
}

// libtpu hands what crosses slices to the host's runtime: a send and a recv for each collective.
TEST(SliceTimes, TransfersBetweenSlicesRunAtTheRateOfTheNetwork) {
  const Target target = TargetNamed("tpu-v5e:2x2,slices=2");
  const Mesh mesh{.axes = {{"dcn", 2}, {"x", 2}, {"y", 2}}, .order = {}, .note = ""};
  for (const auto& [type, collective, payload, seconds] :
       {std::tuple("ALL_REDUCE", "all_reduce", 4194304., 4194304 / 3.125e9),
        std::tuple("ALL_GATHER", "all_gather", 8388608., 4194304 / 3.125e9),
        std::tuple("REDUCE_SCATTER", "reduce_scatter", 4194304., 2097152 / 3.125e9),
        std::tuple("ALL_TO_ALL", "all_to_all", 4194304., 2097152 / 3.125e9),
        std::tuple("ONE_TO_ONE", "collective_permute", 4194304., 4194304 / 3.125e9)}) {
    SCOPED_TRACE(type);
    const std::string attributes = fmt::format(
        R"(is_host_transfer=true, frontend_attributes={{_xla_host_transfer_handler_name="xla_megascale_runtime",_xla_megascale_transfer_type="{}"}})",
        type);
    const Result<hlo::Module> module = hlo::ReadModule(fmt::format(
        R"(HloModule m, is_scheduled=true, num_partitions=4
ENTRY %main (p: f32[1048576]) -> f32[1048576] {{
  %p = f32[1048576]{{0}} parameter(0)
  %token = token[] after-all()
  %send = (f32[1048576]{{0}}, u32[], token[]) send(%p, %token), channel_id=2, {0}
  %recv = (f32[1048576]{{0}}, u32[], token[]) recv(%token), channel_id=1, {0}
  %sent = token[] send-done(%send), channel_id=2, {0}
  %got = (f32[1048576]{{0}}, token[]) recv-done(%recv), channel_id=1, {0}
  ROOT %r = f32[1048576]{{0}} get-tuple-element(%got), index=0
}}
)",
        attributes));
    ASSERT_TRUE(module) << module.error().ToString();
    const StepTime step = TimeStep(*module, target, mesh).value();
    ASSERT_EQ(step.wire.size(), 1u);
    EXPECT_EQ(step.wire[0].axes, "dcn");
    EXPECT_EQ(step.wire[0].collective, collective);
    EXPECT_EQ(step.wire[0].payload_bytes, payload);
    EXPECT_DOUBLE_EQ(step.wire[0].seconds, seconds);
    EXPECT_THAT(step.notes, Contains(HasSubstr("transfers between slices")));
  }
}

}  // namespace
}  // namespace ridgeline::predict
