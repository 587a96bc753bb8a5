#include "program_change.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/text.h"
#include "hlo_wire.pb.h"

namespace ridgeline::faulty {
namespace {

using hlo_wire::Computation;
using hlo_wire::Instruction;
using hlo_wire::Module;

// xla::PrimitiveType
constexpr int kS32 = 4, kF16 = 10, kF32 = 11, kF64 = 12, kBf16 = 16;

bool IsPlumbing(const Instruction& at) {
  static const std::set<std::string> plumbing = {"parameter", "get-tuple-element", "tuple",
                                                 "constant",  "bitcast",           "opt-barrier"};
  return plumbing.contains(at.opcode());
}

bool IsArray(const Instruction& at) {
  return at.shape().tuple_shapes().empty() && !at.shape().dimensions().empty();
}

bool SameShape(const Instruction& a, const Instruction& b) {
  return a.shape().element_type() == b.shape().element_type() &&
         std::ranges::equal(a.shape().dimensions(), b.shape().dimensions());
}

// The loop of a module, its parts, and the work in its body: the last array that is computed.
class Loop {
 public:
  explicit Loop(Module& module) : module_(module) {
    entry = Find(module.entry_computation_id());
    if (entry == nullptr) return;
    for (Instruction& at : *entry->mutable_instructions()) {
      if (at.opcode() == "while") loop = &at;
    }
    if (loop == nullptr || loop->called_computation_ids_size() != 2) return;
    body = Find(loop->called_computation_ids(0));
    condition = Find(loop->called_computation_ids(1));
    if (body == nullptr || condition == nullptr) return;
    for (Instruction& at : *body->mutable_instructions()) {
      if (IsArray(at) && !IsPlumbing(at)) work = &at;
    }
  }

  Computation* Find(int64_t id) {
    for (Computation& at : *module_.mutable_computations()) {
      if (at.id() == id) return &at;
    }
    return nullptr;
  }

  static Instruction* Find(Computation& in, int64_t id) {
    for (Instruction& at : *in.mutable_instructions()) {
      if (at.id() == id) return &at;
    }
    return nullptr;
  }

  // Puts `instruction` before `before`, which moves.
  static void Insert(Computation& into, const Instruction& before, const Instruction& instruction) {
    auto& list = *into.mutable_instructions();
    int at = 0;
    while (list[at].id() != before.id()) ++at;
    *list.Add() = instruction;
    for (int i = list.size() - 1; i > at; --i) list.SwapElements(i, i - 1);
  }

  // Everything in `in` that took `from` takes `to`.
  static void Replace(Computation& in, int64_t from, int64_t to) {
    for (Instruction& at : *in.mutable_instructions()) {
      for (int64_t& operand : *at.mutable_operand_ids()) {
        if (operand == from && at.id() != to) operand = to;
      }
    }
  }

  int64_t NewId() const {
    int64_t most = 0;
    for (const Computation& computation : module_.computations()) {
      for (const Instruction& at : computation.instructions()) most = std::max(most, at.id());
    }
    return most + 1;
  }

  Computation* entry = nullptr;
  Computation* body = nullptr;
  Computation* condition = nullptr;
  Instruction* loop = nullptr;
  Instruction* work = nullptr;

 private:
  Module& module_;
};

// An array of the work's shape that the body has without it.
Instruction* Other(Loop& loop) {
  Instruction* found = nullptr;
  for (Instruction& at : *loop.body->mutable_instructions()) {
    if (at.opcode() == "get-tuple-element" && SameShape(at, *loop.work)) found = &at;
  }
  return found;
}

bool Empty(Loop& loop) {
  const Instruction* other = Other(loop);
  if (other == nullptr) return false;
  Loop::Replace(*loop.body, loop.work->id(), other->id());
  auto& list = *loop.body->mutable_instructions();
  list.erase(std::ranges::find_if(list, [&](const auto& at) { return &at == loop.work; }));
  return true;
}

bool Hoist(Loop& loop) {
  Instruction moved = *loop.work;
  moved.set_id(loop.NewId());
  moved.set_name("hoisted");
  moved.clear_operand_ids();
  // Operands come from the arguments of the same shapes.
  for (const int64_t id : loop.work->operand_ids()) {
    const Instruction* operand = Loop::Find(*loop.body, id);
    for (const Instruction& at : loop.entry->instructions()) {
      if (at.opcode() != "parameter" || operand == nullptr || !SameShape(at, *operand)) continue;
      moved.add_operand_ids(at.id());
      break;
    }
  }
  if (moved.operand_ids_size() != loop.work->operand_ids_size()) return false;
  Instruction* tuple = Loop::Find(*loop.entry, loop.loop->operand_ids(0));
  if (tuple == nullptr || tuple->opcode() != "tuple") return false;
  for (int64_t& element : *tuple->mutable_operand_ids()) {
    const Instruction* carried = Loop::Find(*loop.entry, element);
    if (carried != nullptr && SameShape(*carried, *loop.work)) element = moved.id();
  }
  Loop::Insert(*loop.entry, *tuple, moved);
  return Empty(loop);
}

// Another instruction behind the work, which everything after takes instead of it.
void InsertAfterWork(Loop& loop, Instruction after) {
  const int64_t work = loop.work->id();
  auto& list = *loop.body->mutable_instructions();
  int at = 0;
  while (list[at].id() != work) ++at;
  after.set_id(loop.NewId());
  Loop::Replace(*loop.body, work, after.id());
  *list.Add() = after;
  for (int i = list.size() - 1; i > at + 1; --i) list.SwapElements(i, i - 1);
}

bool Twice(Loop& loop) {
  Instruction again = *loop.work;
  again.set_name(again.name() + ".again");
  InsertAfterWork(loop, again);
  return true;
}

bool Copy(Loop& loop) {
  Instruction copy;
  copy.set_name("copied");
  copy.set_opcode("copy");
  *copy.mutable_shape() = loop.work->shape();
  copy.add_operand_ids(loop.work->id());
  InsertAfterWork(loop, copy);
  return true;
}

int Wider(int type) { return type == kF32 ? kF64 : type == kBf16 || type == kF16 ? kF32 : 0; }

bool Widen(Loop& loop) {
  const int type = loop.work->shape().element_type();
  const int wide = Wider(type);
  if (wide == 0) return false;
  const int64_t work_id = loop.work->id();
  for (int i = 0; i < loop.work->operand_ids_size(); ++i) {
    Instruction convert;
    convert.set_id(loop.NewId());
    convert.set_name("widened." + std::to_string(i));
    convert.set_opcode("convert");
    *convert.mutable_shape() = Loop::Find(*loop.body, loop.work->operand_ids(i))->shape();
    convert.mutable_shape()->set_element_type(wide);
    convert.add_operand_ids(loop.work->operand_ids(i));
    loop.work->set_operand_ids(i, convert.id());
    Loop::Insert(*loop.body, *loop.work, convert);
    loop.work = Loop::Find(*loop.body, work_id);
  }
  for (const int64_t called : loop.work->called_computation_ids()) {
    for (Instruction& at : *loop.Find(called)->mutable_instructions()) {
      if (at.shape().element_type() == type) at.mutable_shape()->set_element_type(wide);
    }
  }
  Instruction narrow;
  narrow.set_name("narrowed");
  narrow.set_opcode("convert");
  *narrow.mutable_shape() = loop.work->shape();
  narrow.add_operand_ids(work_id);
  loop.work->mutable_shape()->set_element_type(wide);
  InsertAfterWork(loop, narrow);
  return true;
}

bool Groups(Loop& loop) {
  Instruction& work = *loop.work;
  if (work.source_target_pairs_size() > 0) {
    for (auto& pair : *work.mutable_source_target_pairs()) {
      const int64_t source = pair.source();
      pair.set_source(pair.target());
      pair.set_target(source);
    }
    return true;
  }
  work.clear_replica_groups();
  work.clear_collective_device_list();
  work.clear_iota_collective_device_list();
  work.clear_mesh_axes_replica_group_list();
  for (int64_t device = 0; device < 2; ++device) work.add_replica_groups()->add_replica_ids(device);
  return true;
}

bool Constant(Loop& loop) {
  if (loop.work->operand_ids_size() == 0) return false;
  Instruction constant;
  constant.set_id(loop.NewId());
  constant.set_name("folded");
  constant.set_opcode("constant");
  *constant.mutable_shape() = Loop::Find(*loop.body, loop.work->operand_ids(0))->shape();
  loop.work->set_operand_ids(0, constant.id());
  Loop::Insert(*loop.body, *loop.work, constant);
  return true;
}

Instruction ScalarConstant(int64_t id, int value) {
  Instruction constant;
  constant.set_id(id);
  constant.set_name("known");
  constant.set_opcode("constant");
  constant.mutable_shape()->set_element_type(kS32);
  constant.mutable_literal()->add_s32s(value);
  return constant;
}

// The condition compares the counter with an element of the state: with a number instead.
bool Trips(Loop& loop) {
  Computation& condition = *loop.condition;
  Instruction* root = Loop::Find(condition, condition.root_id());
  if (root == nullptr || root->operand_ids_size() == 0) return false;
  Computation* where = &condition;
  if (root->called_computation_ids_size() == 1) {  // fused
    where = loop.Find(root->called_computation_ids(0));
    root = Loop::Find(*where, where->root_id());
  }
  if (root->operand_ids_size() != 2) return false;
  const Instruction constant = ScalarConstant(loop.NewId(), 7);
  root->set_operand_ids(1, constant.id());
  Loop::Insert(*where, *root, constant);
  return true;
}

bool Step(Loop& loop) {
  for (Instruction& at : *loop.body->mutable_instructions()) {
    if (at.opcode() != "constant" || at.literal().s32s_size() != 1) continue;
    if (at.literal().s32s(0) != 1) continue;
    at.mutable_literal()->set_s32s(0, 2);
    return true;
  }
  return false;
}

bool NoLoop(Loop& loop) {
  loop.loop->set_opcode("call");
  loop.loop->mutable_called_computation_ids()->RemoveLast();
  return true;
}

struct Change {
  std::string_view name;
  bool (*make)(Loop&);
};
constexpr Change kChanges[] = {
    {"empty", Empty}, {"hoist", Hoist},    {"twice", Twice},       {"copy", Copy},
    {"widen", Widen}, {"groups", Groups},  {"constant", Constant}, {"trips", Trips},
    {"step", Step},   {"no_loop", NoLoop},
};

}  // namespace

Result<std::string> ChangeProgram(const std::string& bytes, std::string_view how) {
  if (how == "cut") return bytes.substr(0, bytes.size() / 2);
  if (how == "garbage") return std::string(bytes.size(), '\x5a');
  std::vector<std::string_view> names = {"cut", "garbage"};
  for (const Change& change : kChanges) {
    names.push_back(change.name);
    if (change.name != how) continue;
    hlo_wire::ModuleInContainer container;
    if (!container.ParseFromString(bytes)) {
      return Fail(Code::kInvalidArgument, "the program cannot be parsed");
    }
    Loop loop(*container.mutable_hlo_module());
    if (loop.work == nullptr || !change.make(loop)) {
      return Fail(Code::kInvalidArgument,
                  "the program has nothing for the change " + std::string(how) + " to work on");
    }
    return container.SerializeAsString();
  }
  return Fail(Code::kInvalidArgument, UnknownName("change", how, names));
}

}  // namespace ridgeline::faulty
