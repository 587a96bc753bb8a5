// Real programs, changed the way a compiler could change them: the audit has to see each change.
#include <gmock/gmock.h>

#include "audit_fixtures.h"

namespace ridgeline::hlo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Shape F32(std::vector<int64_t> dims) { return {11, std::move(dims), {}, {}, 0, 0}; }
Shape S32() { return {4, {}, {}, {}, 0, 0}; }

Instruction Make(int64_t id, std::string opcode, Shape shape, std::vector<int64_t> operands) {
  Instruction out;
  out.id = id;
  out.name = "new." + opcode;
  out.opcode = std::move(opcode);
  out.shape = std::move(shape);
  out.operands = std::move(operands);
  return out;
}

Instruction Constant(int64_t id, int64_t value) {
  Instruction out = Make(id, "constant", S32(), {});
  out.integer = value;
  return out;
}

// The loop of one fixture, its parts by name.
struct Edit {
  explicit Edit(const std::string& fixture) : module(LoadFixture(fixture)) {
    const Instruction& loop = FirstOpcode(module, "while");
    for (Computation& computation : module.computations) {
      if (computation.id == loop.called[0]) body = &computation;
      if (computation.id == loop.called[1]) condition = &computation;
      if (computation.id == module.entry) entry = &computation;
    }
  }

  Instruction& At(Computation* computation, const std::string& name) {
    return *Named(*computation, name);
  }
  // Behind the parameter and the elements of the carried tuple, before all that computes.
  void InsertBefore(Computation* computation, const std::string& name, Instruction instruction) {
    computation->instructions.insert(Named(*computation, name), std::move(instruction));
  }
  void Erase(Computation* computation, const std::string& name) {
    computation->instructions.erase(Named(*computation, name));
  }
  AuditResult Run(const Expectation& expected) {
    const Status linked = module.Link();
    EXPECT_TRUE(linked) << (linked ? "" : linked.error().ToString());
    return Audit(module, expected);
  }

  Module module;
  Computation* body = nullptr;
  Computation* condition = nullptr;
  Computation* entry = nullptr;
};

constexpr int64_t kNew = 900000;  // ids that no fixture uses

TEST(AuditMutation, OperationRemoved) {
  Edit edit("cpu_gemm_f32");
  edit.At(edit.body, "tuple.4").operands[3] = edit.At(edit.body, "get-tuple-element.19").id;
  edit.Erase(edit.body, "ynn_fusion");
  const AuditResult result = edit.Run(Gemm(DType::kF32));
  EXPECT_TRUE(result.refused());
  EXPECT_EQ(Text(result),
            "refused: the work was optimised away: no dot or convolution in the loop body\n");
}

TEST(AuditMutation, OneOfTwoOperationsRemoved) {
  Edit edit("cpu_attention");
  Instruction& last = edit.At(edit.body, "ynn_fusion");
  edit.At(edit.body, "tuple.4").operands[4] = last.operands[1];
  edit.Erase(edit.body, "ynn_fusion");
  EXPECT_THAT(Text(edit.Run(Attention())),
              HasSubstr("refused: part of the work was optimised away: 1 of 2 dot are left in the "
                        "body: dot dot.1 (in ynn_fusion.2)"));
}

TEST(AuditMutation, OperationHoisted) {
  Edit edit("cpu_gemm_f32");
  Instruction fusion = edit.At(edit.body, "ynn_fusion");
  edit.At(edit.body, "tuple.4").operands[3] = edit.At(edit.body, "get-tuple-element.19").id;
  edit.Erase(edit.body, "ynn_fusion");
  fusion.id = kNew;
  fusion.operands = {edit.At(edit.entry, "Arg_1.1").id, edit.At(edit.entry, "Arg_2.1").id};
  edit.InsertBefore(edit.entry, "tuple", fusion);
  edit.At(edit.entry, "tuple").operands[3] = kNew;
  EXPECT_EQ(
      Text(edit.Run(Gemm(DType::kF32))),
      "refused: hoisted out of the loop: dot dot.0 (in ynn_fusion) runs once a call, not once a "
      "round\n");
}

TEST(AuditMutation, OperationTwice) {
  Edit edit("cpu_gemm_f32");
  Instruction copy = edit.At(edit.body, "ynn_fusion");
  copy.id = kNew;
  copy.name = "ynn_fusion.again";
  edit.InsertBefore(edit.body, "tuple.4", copy);
  AuditResult result = edit.Run(Gemm(DType::kF32));
  EXPECT_TRUE(result.refused());
  EXPECT_THAT(Text(result), HasSubstr("refused: unrolled x2: the body holds 2 dot or convolution "
                                      "where 1 is meant (dot dot.0 (in ynn_fusion), dot dot.0 (in "
                                      "ynn_fusion.again)); the counter steps by 1"));
  // Two operations a round and a counter that says so: the time per count is right.
  edit.At(edit.body, "constant.2").integer = 2;
  result = edit.Run(Gemm(DType::kF32));
  EXPECT_FALSE(result.refused());
  EXPECT_THAT(Text(result), AllOf(HasSubstr("warning: unrolled x2"), HasSubstr("steps by 2")));
  Expectation at_least = Gemm(DType::kF32);
  at_least.ops[0].at_least = true;
  edit.At(edit.body, "constant.2").integer = 1;
  EXPECT_THAT(Text(edit.Run(at_least)), HasSubstr("ok: "));
}

TEST(AuditMutation, CounterStepsByTwo) {
  Edit edit("cpu_gemm_f32");
  edit.At(edit.body, "constant.2").integer = 2;
  EXPECT_EQ(Text(edit.Run(Gemm(DType::kF32))),
            "refused: the trip count was changed: the counter of while.1 steps by 2\n");
}

TEST(AuditMutation, OperandIsAConstant) {
  {
    Edit edit("cpu_gemm_f32");
    edit.InsertBefore(edit.body, "ynn_fusion", Make(kNew, "constant", F32({}), {}));
    edit.InsertBefore(edit.body, "ynn_fusion",
                      Make(kNew + 1, "broadcast", F32({512, 512}), {kNew}));
    edit.At(edit.body, "ynn_fusion").operands[0] = kNew + 1;
    EXPECT_THAT(
        Text(edit.Run(Gemm(DType::kF32))),
        HasSubstr("refused: dot dot.0 (in ynn_fusion) works on a constant (new.broadcast), not "
                  "on the program's arguments"));
  }
  {
    // Carried by the loop, constant before it.
    Edit edit("cpu_gemm_f32");
    edit.InsertBefore(edit.entry, "tuple", Make(kNew, "iota", F32({512, 512}), {}));
    edit.At(edit.entry, "tuple").operands[2] = kNew;
    EXPECT_THAT(Text(edit.Run(Gemm(DType::kF32))),
                HasSubstr("refused: dot dot.0 (in ynn_fusion) works on a constant"));
  }
}

// The scalar factor of a triad is a constant by design; both operands are not.
TEST(AuditMutation, TriadOfConstants) {
  Edit edit("cpu_triad");
  edit.InsertBefore(edit.entry, "tuple", Make(kNew, "iota", F32({1048576}), {}));
  edit.At(edit.entry, "tuple").operands[2] = kNew;
  EXPECT_THAT(
      Text(edit.Run(Triad())),
      HasSubstr("refused: multiply multiply.0 (in multiply_add_fusion) works on a constant"));
}

TEST(AuditMutation, OperandsWidened) {
  Edit edit("cpu_gemm_bf16");
  for (int64_t i : {0, 1}) {
    Instruction convert =
        Make(kNew + i, "convert", F32({512, 512}),
             {edit.At(edit.body, i ? "get-tuple-element.20" : "get-tuple-element.19").id});
    convert.name += std::to_string(i);
    edit.InsertBefore(edit.body, "ynn_fusion", convert);
  }
  edit.At(edit.body, "ynn_fusion").operands = {kNew, kNew + 1};
  Computation& fused = ComputationNamed(edit.module, "fused_computation");
  for (const char* name : {"param_0", "param_1"}) Named(fused, name)->shape.primitive = 11;
  const AuditResult result = edit.Run(Gemm(DType::kBF16));
  EXPECT_EQ(result.executed_as, "f32");
  EXPECT_FALSE(result.refused()) << Text(result);
  EXPECT_THAT(Text(result),
              HasSubstr("warning: bf16 computed as f32: dot dot.0 (in ynn_fusion) takes "
                        "f32 (converted by new.convert0)"));
  Expectation indifferent = Gemm(DType::kBF16);
  indifferent.dtype_matters = false;
  EXPECT_EQ(edit.Run(indifferent).executed_as, "");
  EXPECT_TRUE(edit.Run(indifferent).refused()) << "then the converts are just traffic";
}

TEST(AuditMutation, TripCountIsAConstant) {
  const auto expected = HasSubstr(
      "refused: the trip count was changed: while.1 compares its counter with the constant 8, not "
      "with parameter 0");
  {
    Edit edit("cpu_gemm_f32");
    edit.InsertBefore(edit.condition, "wrapped_compare", Constant(kNew, 8));
    edit.At(edit.condition, "wrapped_compare").operands[1] = kNew;
    EXPECT_THAT(Text(edit.Run(Gemm(DType::kF32))), expected);
  }
  {
    Edit edit("cpu_gemm_f32");
    edit.InsertBefore(edit.entry, "tuple", Constant(kNew, 8));
    edit.At(edit.entry, "tuple").operands[4] = kNew;
    EXPECT_THAT(Text(edit.Run(Gemm(DType::kF32))), expected);
  }
}

TEST(AuditMutation, TripCountIsOff) {
  const std::string changed = "refused: the trip count was changed: ";
  const std::string off = changed + "while.1 no longer counts from 0 to below parameter 0\n";
  {
    Edit edit("cpu_gemm_f32");
    edit.At(edit.entry, "constant.3").integer = 1;
    EXPECT_EQ(Text(edit.Run(Gemm(DType::kF32))), off);
  }
  {
    Edit edit("cpu_gemm_f32");
    FirstOpcode(edit.module, "compare").comparison_direction = "LE";
    EXPECT_EQ(Text(edit.Run(Gemm(DType::kF32))), off);
  }
  {
    // n > i is the same as i < n.
    Edit edit("cpu_gemm_f32");
    FirstOpcode(edit.module, "compare").comparison_direction = "GT";
    auto& operands = edit.At(edit.condition, "wrapped_compare").operands;
    std::swap(operands[0], operands[1]);
    EXPECT_THAT(Text(edit.Run(Gemm(DType::kF32))), HasSubstr("ok: "));
  }
  {
    // The bound grows with the counter.
    Edit edit("cpu_gemm_f32");
    edit.At(edit.body, "tuple.4").operands[4] = edit.At(edit.body, "wrapped_add").id;
    EXPECT_EQ(Text(edit.Run(Gemm(DType::kF32))),
              changed + "the body of while.1 changes its own bound\n");
  }
  {
    // Another argument than the first.
    Edit edit("cpu_gemm_f32");
    edit.At(edit.entry, "Arg_0.1").parameter_number = 5;
    EXPECT_EQ(Text(edit.Run(Gemm(DType::kF32))),
              "refused: the condition of while.1 does not compare a counter with parameter 0\n");
  }
  {
    Edit edit("cpu_gemm_f32");
    edit.At(edit.body, "constant.2").integer = 0;
    EXPECT_EQ(Text(edit.Run(Gemm(DType::kF32))),
              changed + "the counter of while.1 does not count up\n");
  }
}

TEST(AuditMutation, OtherLoops) {
  const auto add_loop = [](Edit& edit, Computation* where, const std::string& before,
                           int64_t operand) {
    Instruction loop = FirstOpcode(edit.module, "while");
    loop.id = kNew;
    loop.name = "while.other";
    loop.operands = {operand};
    edit.InsertBefore(where, before, loop);
  };
  {
    Edit edit("cpu_gemm_f32");
    add_loop(edit, edit.entry, "get-tuple-element.33", edit.At(edit.entry, "tuple").id);
    EXPECT_THAT(
        Text(edit.Run(Gemm(DType::kF32))),
        HasSubstr("refused: 2 loops run as often as parameter 0 says, not one, of 2 in all"));
  }
  {
    // A loop of constant length beside ours, as XLA expands some operations to.
    Edit edit("cpu_gemm_f32");
    edit.InsertBefore(edit.entry, "while.1", Constant(kNew + 1, 8));
    Instruction tuple = edit.At(edit.entry, "tuple");
    tuple.id = kNew + 2;
    tuple.operands[4] = kNew + 1;
    edit.InsertBefore(edit.entry, "while.1", tuple);
    add_loop(edit, edit.entry, "while.1", tuple.id);
    const AuditResult result = edit.Run(Gemm(DType::kF32));
    EXPECT_THAT(Text(result), AllOf(HasSubstr("ok: one loop"),
                                    HasSubstr("note: other loops run once a call: while.other")));
  }
}

TEST(AuditMutation, LoopInsideTheBody) {
  Edit edit("cpu_copy");
  // An inner loop whose body is the copy's own: inner counter, condition and all.
  Computation inner = *edit.body;
  inner.id = kNew;
  inner.name = "inner";
  edit.module.computations.push_back(inner);
  Edit fresh("cpu_copy");
  Instruction loop = FirstOpcode(fresh.module, "while");
  loop.id = kNew;
  loop.name = "while.inner";
  const int64_t condition = loop.called[1];
  loop.called = {kNew, condition};
  Computation& body = ComputationNamed(edit.module, "region_0.1");
  loop.operands = {Named(body, "arg_tuple.1")->id};
  Instruction element = Make(kNew + 1, "get-tuple-element", F32({1048576}), {kNew});
  element.tuple_index = 2;
  Named(body, "tuple.4")->operands[2] = kNew + 1;
  *Named(body, "copy.5") = loop;
  body.instructions.insert(Named(body, "tuple.4"), element);
  const AuditResult result = edit.Run(Copy());
  EXPECT_THAT(Text(result),
              AllOf(HasSubstr("ok: one loop, parameter 0 rounds; its body holds copy"),
                    HasSubstr("note: the body holds inner loops: while.inner")));
}

TEST(AuditMutation, ReplicaGroups) {
  const Module module = LoadFixture("cpu_all_reduce_halves");
  const AuditResult wrong = Audit(module, AllReduce({{0, 2}, {1, 3}}));
  EXPECT_TRUE(wrong.refused());
  EXPECT_EQ(Text(wrong),
            "refused: all-reduce all-reduce.0 runs in groups {{0,1}{2,3}}, asked were "
            "{{0,2}{1,3}}\n");
  EXPECT_TRUE(Audit(module, AllReduce({{0, 1, 2, 3}})).refused());
  // The order of the groups says nothing, that of their members is worth a note.
  EXPECT_EQ(Audit(module, AllReduce({{2, 3}, {0, 1}})).findings.size(), 1u);
  const AuditResult turned = Audit(module, AllReduce({{1, 0}, {3, 2}}));
  EXPECT_FALSE(turned.refused());
  EXPECT_THAT(Text(turned), HasSubstr("note: all-reduce all-reduce.0 runs in the groups asked for, "
                                      "members in another order: {{0,1}{2,3}}"));
  // No groups in the program: one of all.
  Edit edit("cpu_all_reduce");
  FirstOpcode(edit.module, "all-reduce").groups.clear();
  EXPECT_FALSE(edit.Run(AllReduce({{0, 1, 2, 3}})).refused());
  EXPECT_TRUE(edit.Run(AllReduce({{0, 1}, {2, 3}})).refused());
}

TEST(AuditMutation, SourceTargetPairs) {
  Expectation expected = Permute();
  std::reverse(expected.source_target.begin(), expected.source_target.end());
  EXPECT_FALSE(Audit(LoadFixture("cpu_permute"), expected).refused());
  expected.source_target = {{1, 0}, {2, 1}, {3, 2}, {0, 3}};
  EXPECT_THAT(Text(Audit(LoadFixture("cpu_permute"), expected)),
              HasSubstr("refused: collective-permute collective-permute.0 sends along "
                        "{{0,1}{1,2}{2,3}{3,0}}, asked were {{1,0}{2,1}{3,2}{0,3}}"));
}

TEST(AuditMutation, BigConstant) {
  Edit edit("cpu_gemm_f32");
  Computation& fused = ComputationNamed(edit.module, "fused_computation");
  fused.instructions.insert(Named(fused, "dot.0"), Make(kNew, "constant", F32({257}), {}));
  EXPECT_EQ(
      Text(edit.Run(Gemm(DType::kF32))),
      "refused: new.constant in fused_computation is a constant of 1.004 KiB: big arrays must be "
      "parameters\n");
  Expectation imported;
  imported.loop = false;
  EXPECT_TRUE(edit.Run(imported).refused());
  Named(fused, "new.constant")->shape.dims = {256};
  EXPECT_FALSE(edit.Run(Gemm(DType::kF32)).refused());
}

TEST(AuditMutation, ExtraTraffic) {
  // A slice reads and writes `elements` f32; the product moves 3 MiB.
  const auto with_slice = [](int64_t elements) {
    Edit edit("cpu_gemm_f32");
    edit.InsertBefore(
        edit.body, "ynn_fusion",
        Make(kNew, "slice", F32({elements}), {edit.At(edit.body, "get-tuple-element.19").id}));
    return edit.Run(Gemm(DType::kF32));
  };
  EXPECT_EQ(with_slice(3000).findings.size(), 1u);  // 0.8 %
  const AuditResult little = with_slice(5898);
  EXPECT_FALSE(little.refused());
  EXPECT_EQ(Text(little),
            "warning: slice new.slice also moves 46.08 KiB in the body, 1.5 % of the 3 MiB of the "
            "operation\n");
  const AuditResult much = with_slice(196608);
  EXPECT_TRUE(much.refused());
  EXPECT_EQ(Text(much),
            "refused: slice new.slice also moves 1.5 MiB in the body, 50.0 % of the 3 MiB of the "
            "operation\n");

  Edit copy("cpu_gemm_f32");
  copy.InsertBefore(
      copy.body, "ynn_fusion",
      Make(kNew, "copy", F32({512, 512}), {copy.At(copy.body, "get-tuple-element.19").id}));
  copy.At(copy.body, "ynn_fusion").operands[0] = kNew;
  EXPECT_THAT(Text(copy.Run(Gemm(DType::kF32))),
              HasSubstr("refused: copy new.copy also moves 2 MiB in the body, 66.7 %"));
  // Allowed when the program is meant to hold it.
  Expectation allowed = Gemm(DType::kF32);
  allowed.ops.push_back({{"copy"}, 0, true});
  EXPECT_THAT(Text(copy.Run(allowed)), HasSubstr("ok: "));
  // Where nothing should move, everything counts.
  Expectation nothing;
  const AuditResult null_loop = copy.Run(nothing);
  EXPECT_TRUE(null_loop.refused());
  EXPECT_THAT(Text(null_loop), HasSubstr("copy new.copy also moves 2 MiB in the body\n"));
}

TEST(AuditMutation, ExtraArithmetic) {
  Edit edit("cpu_gemm_f32");
  edit.InsertBefore(
      edit.body, "ynn_fusion",
      Make(kNew, "exponential", F32({512, 512}), {edit.At(edit.body, "get-tuple-element.19").id}));
  const AuditResult result = edit.Run(Gemm(DType::kF32));
  EXPECT_FALSE(result.refused());
  EXPECT_THAT(Text(result), HasSubstr("warning: exponential new.exponential also moves 2 MiB"));
  EXPECT_THAT(Text(result), HasSubstr("it computes something that was not expected"));
}

TEST(AuditMutation, OperandInAnotherMemory) {
  Edit edit("cpu_gemm_f32");
  edit.At(edit.body, "get-tuple-element.20").shape.memory_space = 1;
  const AuditResult result = edit.Run(Gemm(DType::kF32));
  EXPECT_FALSE(result.refused());
  EXPECT_EQ(
      Text(result),
      "warning: operands live in memory space 1, not in the device's main memory (on a TPU 1 is "
      "VMEM, not HBM): get-tuple-element.20\n");
}

TEST(AuditMutation, AsynchronousForms) {
  {
    Edit edit("cpu_all_reduce");
    Instruction& start = edit.At(edit.body, "all-reduce.0");
    Instruction done = Make(kNew, "all-reduce-done", start.shape, {start.id});
    start.opcode = "all-reduce-start";
    edit.At(edit.body, "tuple.10").operands[2] = kNew;
    edit.InsertBefore(edit.body, "tuple.10", done);
    EXPECT_THAT(Text(edit.Run(AllReduce({{0, 1, 2, 3}}))),
                HasSubstr("ok: one loop, parameter 0 rounds; its body holds all-reduce-start"));
  }
  {
    // async-start and async-done name the same computation; the operation in it runs once.
    Edit edit("cpu_all_reduce");
    Instruction& start = edit.At(edit.body, "all-reduce.0");
    Computation wrapped;
    wrapped.id = kNew;
    wrapped.name = "wrapped";
    wrapped.instructions = {Make(1, "parameter", start.shape, {}), start};
    wrapped.instructions[1].id = 2;
    wrapped.instructions[1].operands = {1};
    wrapped.root = 2;
    start.opcode = "async-start";
    start.called = {kNew};
    Instruction done = Make(kNew, "async-done", start.shape, {start.id});
    done.called = {kNew};
    edit.At(edit.body, "tuple.10").operands[2] = kNew;
    edit.InsertBefore(edit.body, "tuple.10", done);
    edit.module.computations.push_back(wrapped);
    EXPECT_THAT(Text(edit.Run(AllReduce({{0, 1, 2, 3}}))),
                HasSubstr("its body holds all-reduce all-reduce.0 (in all-reduce.0)"));
  }
}

// libtpu hands collectives of TPU 7x to the SparseCore: an async-start of a custom call that
// carries the collective.
TEST(AuditMutation, ACustomCallThatCarriesItsDefinition) {
  Edit edit("cpu_all_reduce");
  Instruction& op = edit.At(edit.body, "all-reduce.0");
  const auto wrap = [&edit](int64_t id, Instruction inner) {
    Computation wrapped;
    wrapped.id = id;
    wrapped.name = "wrapped";
    wrapped.instructions = {Make(1, "parameter", inner.shape, {}), std::move(inner)};
    wrapped.instructions[1].id = 2;
    wrapped.instructions[1].operands = {1};
    wrapped.root = 2;
    edit.module.computations.push_back(std::move(wrapped));
  };
  wrap(kNew, op);
  Instruction call = Make(2, "custom-call", op.shape, {1});
  call.called = {kNew};
  wrap(kNew + 1, call);
  Instruction& start = edit.At(edit.body, "all-reduce.0");
  start.opcode = "async-start";
  start.called = {kNew + 1};
  Instruction done = Make(kNew, "async-done", start.shape, {start.id});
  done.called = {kNew + 1};
  edit.At(edit.body, "tuple.10").operands[2] = kNew;
  edit.InsertBefore(edit.body, "tuple.10", done);
  EXPECT_THAT(Text(edit.Run(AllReduce({{0, 1, 2, 3}}))),
              HasSubstr("its body holds all-reduce all-reduce.0"));
}

// A TPU clones a collective into an asynchronous fusion under the same channel.
TEST(AuditMutation, ClonedCollectiveCountsOnce) {
  Edit edit("cpu_all_reduce");
  const Instruction& op = edit.At(edit.body, "all-reduce.0");
  Computation fused;
  fused.id = kNew;
  fused.instructions = {Make(1, "parameter", op.shape, {}), op};
  fused.instructions[1].id = 2;
  fused.instructions[1].operands = {1};
  fused.root = 2;
  Instruction fusion = Make(kNew, "fusion", op.shape, op.operands);
  fusion.called = {kNew};
  edit.InsertBefore(edit.body, "tuple.10", fusion);
  edit.module.computations.push_back(fused);
  EXPECT_THAT(Text(edit.Run(AllReduce({{0, 1, 2, 3}}))), HasSubstr("ok: "));
  edit.module.computations.back().instructions[1].channel_id = 2;
  EXPECT_THAT(Text(edit.Run(AllReduce({{0, 1, 2, 3}}))), HasSubstr("refused: unrolled x2"));
}

// A TPU runs a small reduce-scatter as an all-reduce; a large one as a fusion that holds one.
TEST(AuditMutation, AnotherCollectiveThanAsked) {
  Expectation expected = AllReduce({{0, 1, 2, 3}});
  expected.ops = {{{"reduce-scatter", "all-reduce"}}};
  const std::string warning = "warning: reduce-scatter is executed as all-reduce all-reduce.0";
  Edit edit("cpu_all_reduce");
  EXPECT_THAT(Text(edit.Run(expected)), HasSubstr(warning));

  Instruction& op = edit.At(edit.body, "all-reduce.0");
  Computation fused;
  fused.id = kNew;
  fused.instructions = {Make(1, "parameter", op.shape, {}), op};
  fused.instructions[1].id = 2;
  fused.instructions[1].operands = {1};
  fused.root = 2;
  op.opcode = "fusion";
  op.called = {kNew};
  edit.module.computations.push_back(fused);
  EXPECT_THAT(Text(edit.Run(expected)), AllOf(HasSubstr("ok: "), Not(HasSubstr("executed as"))));
}

TEST(AuditMutation, EndlessFanOutIsGivenUp) {
  // 40 computations, each calling the next one twice: 2^40 instructions to run.
  Edit edit("cpu_gemm_f32");
  std::vector<Computation> tree;
  for (int64_t i = 0; i < 40; ++i) {
    Computation next;
    next.id = kNew + i;
    next.instructions = {Make(1, "parameter", F32({4}), {}), Make(2, "call", F32({4}), {1}),
                         Make(3, "call", F32({4}), {2})};
    next.root = 3;
    if (i == 0) {
      next.instructions.resize(1);
      next.root = 1;
    } else {
      for (size_t k : {1u, 2u}) next.instructions[k].called = {kNew + i - 1};
    }
    tree.push_back(next);
  }
  Instruction call = Make(kNew, "call", F32({4}), {edit.At(edit.body, "get-tuple-element.19").id});
  call.called = {tree.back().id};
  edit.InsertBefore(edit.body, "ynn_fusion", call);
  edit.module.computations.insert(edit.module.computations.end(), tree.begin(), tree.end());
  EXPECT_THAT(Text(edit.Run(Gemm(DType::kF32))),
              HasSubstr("refused: the loop body is too large to audit"));
}

TEST(AuditMutation, UntouchedProgramsStayClean) {
  for (const Known& known : CleanPrograms()) {
    Edit edit(known.fixture);
    EXPECT_THAT(Text(edit.Run(known.expected)), Not(HasSubstr("refused"))) << known.fixture;
  }
}

// A wide type made from several products of a narrow one is emulated: the parts are not another
// program.
TEST(AuditMutation, SeveralNarrowProductsForAWideOne) {
  Edit edit("v5e_gemm_f32");
  Instruction copy = edit.At(edit.body, "fusion.8");
  copy.id = kNew;
  copy.name = "fusion.again";
  edit.InsertBefore(edit.body, edit.body->Root().name, copy);
  const AuditResult result = edit.Run(Gemm(DType::kF32));
  EXPECT_EQ(result.executed_as, "bf16");
  EXPECT_THAT(Text(result), HasSubstr("warning: unrolled x2"));
  EXPECT_FALSE(result.refused()) << Text(result);
}

}  // namespace
}  // namespace ridgeline::hlo
