#include "hlo/reader.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>

#include "fixtures.h"
#include "hlo_wire.pb.h"

namespace ridgeline::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Groups = std::vector<std::vector<int64_t>>;

TEST(Reader, ReadsAnOptimizedGemm) {
  const Module module = LoadFixture("gemm_bf16_8192.cpu_after_optimizations");
  EXPECT_EQ(module.name, "jit__lambda");
  ASSERT_EQ(module.computations.size(), 2u);
  const Computation& entry = module.Entry();
  EXPECT_EQ(entry.name, "main.1");
  const Instruction& fusion = entry.Root();
  EXPECT_EQ(fusion.opcode, "fusion");
  EXPECT_EQ(fusion.fusion_kind, "kCustom");
  EXPECT_EQ(fusion.shape.ToString(), "f32[8192,8192]{1,0}");
  EXPECT_DOUBLE_EQ(fusion.shape.bytes(), 4.0 * 8192 * 8192);
  EXPECT_EQ(fusion.op_name, "jit(<lambda>)/dot_general");
  EXPECT_THAT(fusion.backend_config, HasSubstr("__ynn_fusion"));
  ASSERT_EQ(fusion.operands.size(), 2u);
  EXPECT_EQ(entry.Get(fusion.operands[1]).name, "b.1");
  EXPECT_EQ(entry.Get(fusion.operands[1]).parameter_number, 1);
  const Computation& fused = module.Get(fusion.called[0]);
  EXPECT_TRUE(fused.is_fusion);
  const Instruction& dot = fused.Root();
  EXPECT_EQ(dot.opcode, "dot");
  ASSERT_TRUE(dot.dot);
  EXPECT_THAT(dot.dot->lhs_contracting, ElementsAre(1));
  EXPECT_THAT(dot.dot->rhs_contracting, ElementsAre(0));
  EXPECT_EQ(fused.Get(dot.operands[0]).shape.ToString(), "bf16[8192,8192]{1,0}");
}

TEST(Reader, TellsTheContainersApart) {
  // HloModuleProtoWithConfig, HloProto, HloModuleProto.
  EXPECT_EQ(LoadFixture("cpu_gemm_f32").name, "gemm_f32");
  EXPECT_EQ(LoadFixture("gemm_bf16_8192.before_optimizations").name, "jit__lambda");
  const Module bare = LoadFixture("hlo_module_proto_bare");
  EXPECT_EQ(bare.name, "jit__lambda");
  EXPECT_EQ(bare.Entry().Root().opcode, "dot");
}

TEST(Reader, CountsOpcodesAsTheTextDoes) {
  const Module module = LoadFixture("attn_gqa_naive_fwd.cpu_after_optimizations");
  std::map<std::string, int> count;
  int instructions = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      ++count[instruction.opcode];
      ++instructions;
    }
  }
  EXPECT_EQ(instructions, 75);
  EXPECT_EQ(count["dot"], 2);
  EXPECT_EQ(Reachable(module, module.Entry()).size(), module.computations.size());
}

TEST(Reader, ReadsTheLoopAndItsDonation) {
  Module module = LoadFixture("cpu_gemm_bf16");
  ASSERT_EQ(module.aliases.size(), 1u);
  EXPECT_EQ(module.aliases[0].parameter, 3);
  const Instruction& loop = FirstOpcode(module, "while");
  ASSERT_EQ(loop.called.size(), 2u);
  EXPECT_EQ(module.Get(loop.called[0]).Root().opcode, "tuple");
  EXPECT_EQ(module.Get(loop.called[1]).Root().shape.ToString(), "pred[]");
  EXPECT_EQ(FirstOpcode(module, "compare").comparison_direction, "LT");
  EXPECT_EQ(Named(ComputationNamed(module, "region_0.1"), "constant.2")->integer, 1);
  EXPECT_EQ(Named(ComputationNamed(module, "main.3"), "constant.3")->integer, 0);
}

TEST(Reader, ReadsWhatATpuCompilerAdds) {
  Module module = LoadFixture("v5e_gemm_f32");
  const Instruction& convolution = FirstOpcode(module, "convolution");
  ASSERT_TRUE(convolution.convolution);
  EXPECT_EQ(convolution.convolution->kernel_output_feature, 1);
  const Instruction& loop = FirstOpcode(module, "while");
  ASSERT_GE(loop.shape.tuple.size(), 4u);
  EXPECT_EQ(loop.shape.tuple[1].ToString(), "bf16[512,512]{1,0:S(1)}");
  EXPECT_EQ(loop.shape.tuple[1].memory_space, 1);
  Module attention = LoadFixture("v5e_attention");
  EXPECT_EQ(FirstOpcode(attention, "custom-call").custom_call_target, "tpu_custom_call");
}

TEST(Reader, ReadsCollectivesInEverySpelling) {
  // Listed (field 87).
  Module halves = LoadFixture("cpu_all_reduce_halves");
  const Instruction& listed = FirstOpcode(halves, "all-reduce");
  EXPECT_EQ(listed.groups, (Groups{{0, 1}, {2, 3}}));
  EXPECT_EQ(listed.channel_id, 1);
  EXPECT_TRUE(listed.use_global_device_ids);
  // Iota (field 92): [4,2]<=[2,4]T(1,0) and [2,4]<=[8], from the partitioner.
  const Module gspmd = LoadFixture("cpu_gspmd_gemm");
  std::vector<Groups> found;
  for (const Computation& computation : gspmd.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (IsCollective(instruction) && !instruction.groups.empty()) {
        found.push_back(instruction.groups);
      }
    }
  }
  EXPECT_THAT(found, ::testing::Contains(Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_THAT(found, ::testing::Contains(Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  // Mesh axes (field 93): one axis of 16.
  Module mesh = LoadFixture("cpu_mesh_axes");
  const Groups& all = FirstOpcode(mesh, "all-reduce").groups;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].size(), 16u);
  Module permute = LoadFixture("cpu_permute");
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_THAT(FirstOpcode(permute, "collective-permute").source_target,
              ElementsAre(Pair{0, 1}, Pair{1, 2}, Pair{2, 3}, Pair{3, 0}));
}

// A module of one all-reduce, to be spelled out by the test.
hlo_wire::Module OneAllReduce(hlo_wire::Instruction** instruction) {
  hlo_wire::Module module;
  module.set_entry_computation_id(1);
  hlo_wire::Computation* computation = module.add_computations();
  computation->set_id(1);
  computation->set_root_id(7);
  *instruction = computation->add_instructions();
  (*instruction)->set_id(7);
  (*instruction)->set_name("ar");
  (*instruction)->set_opcode("all-reduce");
  return module;
}

Result<Groups> ReadBack(const hlo_wire::Module& wire) {
  RL_ASSIGN(Module module, ReadModule(wire.SerializeAsString()));
  return module.Entry().Root().groups;
}

TEST(Reader, ReadsOldGroupFields) {
  hlo_wire::Instruction* instruction;
  hlo_wire::Module wire = OneAllReduce(&instruction);
  for (int64_t id : {0, 2}) instruction->add_replica_groups()->add_replica_ids(id);
  EXPECT_EQ(ReadBack(wire).value(), (Groups{{0}, {2}}));

  wire = OneAllReduce(&instruction);
  hlo_wire::IotaGroups* iota = instruction->mutable_collective_device_list()->mutable_iota();
  iota->set_num_replica_groups(2);
  iota->set_num_devices_per_group(3);
  iota->add_iota_reshape_dims(6);
  EXPECT_EQ(ReadBack(wire).value(), (Groups{{0, 1, 2}, {3, 4, 5}}));
}

TEST(Reader, ExpandsMeshAxes) {
  hlo_wire::Instruction* instruction;
  hlo_wire::Module wire = OneAllReduce(&instruction);
  hlo_wire::MeshAxesGroups* list = instruction->mutable_mesh_axes_replica_group_list();
  for (int64_t size : {2, 4}) list->mutable_mesh()->add_axes()->set_size(size);
  list->add_axes()->set_mesh_axis_index(0);
  EXPECT_EQ(ReadBack(wire).value(), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  // The outer half of the second axis: 4 = 2 x 2.
  list->mutable_axes(0)->set_mesh_axis_index(1);
  list->mutable_axes(0)->mutable_sub_axis_info()->set_pre_size(1);
  list->mutable_axes(0)->mutable_sub_axis_info()->set_size(2);
  EXPECT_EQ(ReadBack(wire).value(), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  // The inner half.
  list->mutable_axes(0)->mutable_sub_axis_info()->set_pre_size(2);
  EXPECT_EQ(ReadBack(wire).value(), (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  // Device ids of its own.
  for (int64_t id : {7, 6, 5, 4, 3, 2, 1, 0}) list->mutable_mesh()->add_device_ids(id);
  EXPECT_EQ(ReadBack(wire).value(), (Groups{{7, 6}, {5, 4}, {3, 2}, {1, 0}}));
  list->mutable_mesh()->add_device_ids(8);
  EXPECT_FALSE(ReadBack(wire));
  list->mutable_mesh()->clear_device_ids();
  list->mutable_axes(0)->mutable_sub_axis_info()->set_pre_size(3);
  EXPECT_FALSE(ReadBack(wire));
  list->mutable_axes(0)->set_mesh_axis_index(2);
  EXPECT_FALSE(ReadBack(wire));
}

TEST(Reader, RefusesGroupsTooLargeToExpand) {
  hlo_wire::Instruction* instruction;
  hlo_wire::Module wire = OneAllReduce(&instruction);
  hlo_wire::IotaGroups* iota = instruction->mutable_iota_collective_device_list();
  const auto set = [&](int64_t groups, int64_t size, int64_t total) {
    iota->set_num_replica_groups(groups);
    iota->set_num_devices_per_group(size);
    iota->clear_iota_reshape_dims();
    iota->add_iota_reshape_dims(total);
  };
  set(2, 2, 4);
  EXPECT_TRUE(ReadBack(wire));
  set(2, 2, 5);
  EXPECT_FALSE(ReadBack(wire));
  set(int64_t{1} << 31, int64_t{1} << 31, int64_t{1} << 62);
  EXPECT_FALSE(ReadBack(wire));
  set(-2, -2, 4);
  EXPECT_FALSE(ReadBack(wire));
  set(2, 2, 4);
  iota->add_iota_transpose_perm(1);
  EXPECT_FALSE(ReadBack(wire));
  iota->clear_iota_transpose_perm();
  // Each list passes alone; together they exceed what a module may hold.
  set(int64_t{1} << 12, int64_t{1} << 11, int64_t{1} << 23);
  hlo_wire::Computation* computation = wire.mutable_computations(0);
  for (int64_t id : {8, 9}) {
    hlo_wire::Instruction copy = computation->instructions(0);
    copy.set_id(id);
    *computation->add_instructions() = copy;
  }
  const Result<Groups> result = ReadBack(wire);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("too large"));
}

TEST(Reader, SaysWhatABadFileIs) {
  const auto error = [](std::string_view bytes) {
    const Result<Module> module = ReadModule(bytes);
    return module ? std::string("no error") : module.error().ToString();
  };
  EXPECT_THAT(error(""), HasSubstr("it is empty"));
  EXPECT_THAT(error(ReadFixture("hlo_garbage")), HasSubstr("not a serialized HLO module"));
  EXPECT_THAT(error(ReadFixture("hlo_truncated")), HasSubstr("cut short"));
  EXPECT_THAT(error(ReadFixture("mlir_named_pb")), HasSubstr("it is MLIR text"));
  EXPECT_THAT(error("HloModule m\nENTRY e {}"), HasSubstr("'e' has no instruction"));
  EXPECT_THAT(error("ML\xefR\x0d"), HasSubstr("it is MLIR bytecode"));
  EXPECT_THAT(error(""), HasSubstr("next: expected an HloModuleProto"));
}

TEST(Reader, SurvivesEveryCutAndFlip) {
  const std::string whole = ReadFixture("hlo_module_proto_bare");
  int refused = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    refused += !ReadModule(std::string_view(whole).substr(0, size));
  }
  // A cut behind the computations loses nothing that is needed.
  EXPECT_GT(refused, static_cast<int>(whole.size() / 2));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const Result<Module> module = ReadModule(flipped);
      EXPECT_TRUE(!module || !module->Entry().instructions.empty());
    }
  }
}

TEST(Reader, BoundsNestedShapes) {
  hlo_wire::Instruction* instruction;
  hlo_wire::Module wire = OneAllReduce(&instruction);
  hlo_wire::Shape* shape = instruction->mutable_shape();
  for (int i = 0; i < 200; ++i) shape = shape->add_tuple_shapes();
  EXPECT_FALSE(ReadModule(wire.SerializeAsString()));
  instruction->mutable_shape()->clear_tuple_shapes();
  instruction->mutable_shape()->add_dimensions(-5);
  const Result<Module> negative = ReadModule(wire.SerializeAsString());
  ASSERT_FALSE(negative);
  EXPECT_THAT(negative.error().message, HasSubstr("'ar' has a dimension of unknown or negative"));
}

TEST(Module, LinkRefusesBrokenIds) {
  const Module good = LoadFixture("cpu_gemm_f32");
  const auto message = [&](const std::function<void(Module&)>& edit) {
    Module module = good;
    edit(module);
    const Status status = module.Link();
    return status ? std::string("linked") : status.error().message;
  };
  EXPECT_EQ(message([](Module&) {}), "linked");
  EXPECT_THAT(message([](Module& m) { FirstOpcode(m, "dot").operands[0] = 99; }),
              HasSubstr("'dot.0' uses operand 99, not defined before it"));
  EXPECT_THAT(
      message([](Module& m) { FirstOpcode(m, "dot").operands[0] = FirstOpcode(m, "dot").id; }),
      HasSubstr("not defined before it"));
  EXPECT_THAT(message([](Module& m) { m.entry = 77; }), HasSubstr("no entry computation 77"));
  EXPECT_THAT(message([](Module& m) { m.computations[0].root = 5; }), HasSubstr("no root 5"));
  EXPECT_THAT(message([](Module& m) { FirstOpcode(m, "fusion").called = {1234}; }),
              HasSubstr("calls computation 1234"));
  EXPECT_THAT(message([](Module& m) { FirstOpcode(m, "dot").called = {m.entry}; }),
              HasSubstr("in a cycle"));
  EXPECT_THAT(message([](Module& m) { m.computations.push_back(m.computations[0]); }),
              HasSubstr("two computations have id"));
  EXPECT_THAT(message([](Module& m) { FirstOpcode(m, "while").called.pop_back(); }),
              HasSubstr("lacks its state, body or condition"));
  EXPECT_THAT(message([](Module& m) {
                const int64_t entry = m.entry;
                for (int64_t i = 0; i < 500; ++i) {
                  Computation next;
                  next.id = 100000 + i;
                  next.instructions.resize(1);
                  next.instructions[0].opcode = "call";
                  next.instructions[0].called = {i == 0 ? entry : next.id - 1};
                  m.computations.push_back(next);
                }
              }),
              HasSubstr("nest more than 400 deep"));
}

TEST(Shape, Bytes) {
  const Shape packed{21, {3, 5}, {}, {}, 4, 0};
  EXPECT_DOUBLE_EQ(packed.bytes(), 7.5);
  const Shape loose{21, {3, 5}, {}, {}, 0, 0};
  EXPECT_DOUBLE_EQ(loose.bytes(), 15);
  const Shape tuple{kTupleType, {}, {packed, Shape{12, {}, {}, {}, 0, 0}}, {}, 0, 0};
  EXPECT_DOUBLE_EQ(tuple.bytes(), 15.5);
  EXPECT_EQ(tuple.ToString(), "(s4[3,5], f64[])");
  const Shape token{17, {}, {}, {}, 0, 0};
  EXPECT_DOUBLE_EQ(token.bytes(), 0);
  const Shape huge{11, {int64_t{1} << 62, int64_t{1} << 62}, {}, {}, 0, 0};
  EXPECT_DOUBLE_EQ(huge.bytes(), std::ldexp(1.0, 126));
  EXPECT_EQ(PrimitiveName(999), "type999");
  EXPECT_TRUE((Shape{4, {}, {}, {}, 0, 0}.is_scalar_integer()));
  EXPECT_TRUE((Shape{1, {}, {}, {}, 0, 0}.is_scalar_integer()));
  EXPECT_FALSE((Shape{4, {1}, {}, {}, 0, 0}.is_scalar_integer()));
  EXPECT_FALSE((Shape{11, {}, {}, {}, 0, 0}.is_scalar_integer()));
}

}  // namespace
}  // namespace ridgeline::hlo
