#include "hlo/trace.h"

#include <algorithm>

namespace ridgeline::hlo {
namespace {

// Deeper chains than these are no program of ours; the value is then called unknown.
constexpr int kMaxDepth = 200;
constexpr int kMaxHops = 10000;

bool HandsOn(std::string_view opcode) {
  return opcode == "copy" || opcode == "bitcast" || opcode == "optimization-barrier" ||
         opcode == "copy-start" || opcode == "copy-done";
}

}  // namespace

bool operator<(const Value& a, const Value& b) {
  return std::tie(a.instruction, a.frame, a.path) < std::tie(b.instruction, b.frame, b.path);
}

const Frame* Tracer::Enter(int64_t computation, const Instruction* caller, const Frame* outer) {
  std::unique_ptr<Frame>& frame = frames_[{caller, outer, computation}];
  if (!frame) frame = std::make_unique<Frame>(Frame{&module_.Get(computation), caller, outer});
  return frame.get();
}

Value Tracer::Operand(const Value& value, size_t number) const {
  return {&value.frame->computation->Get(value.instruction->operands[number]), value.frame, {}};
}

Value Tracer::Resolve(Value value) {
  for (int hop = 0; hop < kMaxHops; ++hop) {
    const Instruction& at = *value.instruction;
    const auto step_to = [&](size_t operand) {
      value.instruction = Operand(value, operand).instruction;
    };
    const auto enter = [&](const Instruction& caller) {
      value.frame = Enter(caller.called[0], &caller, value.frame);
      value.instruction = &value.frame->computation->Root();
    };
    if (at.opcode == "parameter") {
      const Instruction* caller = value.frame->caller;
      const bool inlined = caller && caller->opcode != "while" && caller->opcode != "conditional";
      const auto number = static_cast<size_t>(at.parameter_number);
      if (!inlined || number >= caller->operands.size()) return value;
      value.frame = value.frame->outer;
      value.instruction = &value.frame->computation->Get(caller->operands[number]);
      continue;
    }
    if (at.operands.empty()) return value;
    if (at.opcode == "get-tuple-element") {
      value.path.push_back(at.tuple_index);
      step_to(0);
    } else if (at.opcode == "tuple") {
      if (value.path.empty()) return value;
      const auto element = static_cast<size_t>(value.path.back());
      if (element >= at.operands.size()) return value;
      value.path.pop_back();
      step_to(element);
    } else if (HandsOn(at.opcode)) {
      if (at.opcode == "copy-start") value.path.clear();
      step_to(0);
    } else if (at.opcode == "async-done" || at.opcode == "async-update") {
      const Instruction* start = Operand(value, 0).instruction;
      if (start->opcode == "async-start" && start->called.size() == 1) {
        enter(*start);
      } else if (start->opcode == "async-update") {
        value.instruction = start;
      } else {
        return value;
      }
    } else if ((at.opcode == "fusion" || at.opcode == "call") && at.called.size() == 1) {
      enter(at);
    } else {
      return value;
    }
  }
  return value;
}

Scalar Tracer::Evaluate(const Value& value, int depth) {
  if (depth == 0) evaluated_ = 0;
  if (depth > kMaxDepth || ++evaluated_ > kMaxSteps) return {};
  const Value at = Resolve(value);
  const Instruction& instruction = *at.instruction;
  if (instruction.integer) return {Scalar::Base::kConstant, 0, *instruction.integer};
  if (instruction.opcode == "parameter") {
    if (!at.frame->caller) return {Scalar::Base::kParameter, instruction.parameter_number, 0};
    if (at.frame->caller->opcode == "while" && at.path.size() == 1) {
      return {Scalar::Base::kCarried, at.path[0], 0};
    }
  }
  if (instruction.opcode == "convert" && instruction.shape.is_scalar_integer()) {
    return Evaluate(Operand(at, 0), depth + 1);
  }
  const bool add = instruction.opcode == "add";
  if ((add || instruction.opcode == "subtract") && instruction.operands.size() == 2) {
    Scalar left = Evaluate(Operand(at, 0), depth + 1);
    Scalar right = Evaluate(Operand(at, 1), depth + 1);
    if (add && left.base == Scalar::Base::kConstant) std::swap(left, right);
    if (right.base == Scalar::Base::kConstant && left.base != Scalar::Base::kUnknown) {
      // Unsigned, so that a file's numbers cannot overflow.
      const auto change = static_cast<uint64_t>(right.offset);
      const auto offset = static_cast<uint64_t>(left.offset);
      left.offset = static_cast<int64_t>(add ? offset + change : offset - change);
      return left;
    }
  }
  return {};
}

Value Tracer::Before(const Instruction& loop, const Frame* frame, int64_t element) const {
  return {&frame->computation->Get(loop.operands[0]), frame, {element}};
}

Value Tracer::AfterRound(const Instruction& loop, const Frame* frame, int64_t element) {
  const Frame* body = Enter(loop.called[0], &loop, frame);
  return {&body->computation->Root(), body, {element}};
}

bool Tracer::IsConstant(const Value& value) {
  std::map<Value, bool> seen;
  return IsConstant(value, seen, 0);
}

bool Tracer::IsConstant(const Value& value, std::map<Value, bool>& seen, int depth) {
  if (depth > kMaxDepth || seen.size() > kMaxSteps) return false;
  const Value at = Resolve(value);
  if (const auto found = seen.find(at); found != seen.end()) return found->second;
  seen[at] = false;
  const Instruction& instruction = *at.instruction;
  if (instruction.opcode == "parameter") {
    const Instruction* loop = at.frame->caller;
    if (!loop || loop->opcode != "while" || at.path.size() != 1) return false;
    const Value left = Resolve(AfterRound(*loop, at.frame->outer, at.path[0]));
    const bool unchanged = left.instruction->opcode == "parameter" &&
                           left.frame == Enter(loop->called[0], loop, at.frame->outer) &&
                           left.path == at.path;
    return seen[at] =
               unchanged && IsConstant(Before(*loop, at.frame->outer, at.path[0]), seen, depth + 1);
  }
  if (instruction.operands.empty()) {
    return seen[at] = instruction.opcode == "constant" || instruction.opcode == "iota";
  }
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (!IsConstant(Operand(at, i), seen, depth + 1)) return false;
  }
  return seen[at] = true;
}

}  // namespace ridgeline::hlo
