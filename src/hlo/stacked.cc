#include "hlo/stacked.h"

#include "hlo/custom_call.h"

namespace ridgeline::hlo {
namespace {

constexpr int kMaxSteps = 100;

class StackFollower {
 public:
  StackFollower(Tracer& tracer, const Instruction& loop, const Frame* frame)
      : tracer_(tracer), body_(tracer.Enter(loop.called[0], &loop, frame)) {}

  std::optional<StackedUpdate> Follow(int64_t element) {
    const Value stack = AtRoot(element);
    if (stack.instruction->opcode != "dynamic-update-slice") return std::nullopt;
    if (StateElement(Step(tracer_.Operand(stack, 0))) != element) return std::nullopt;
    StackedUpdate found;
    Value row = Step(tracer_.Operand(stack, 1));
    for (int i = 0; i < kMaxSteps && row.instruction->opcode == "dynamic-update-slice"; ++i) {
      found.round_bytes += tracer_.Operand(row, 1).instruction->shape.bytes();
      row = Step(tracer_.Operand(row, 0));
    }
    if (row.instruction->opcode != "dynamic-slice") return std::nullopt;
    const std::optional<int64_t> source = StateElement(Step(tracer_.Operand(row, 0)));
    if (!source || *source == element || StateElement(AtRoot(*source)) != *source) {
      return std::nullopt;
    }
    found.source = *source;
    return found;
  }

 private:
  Value AtRoot(int64_t element) { return Step({&body_->computation->Root(), body_, {element}}); }

  static bool HandsOn(const Value& value) {
    const Instruction& at = *value.instruction;
    return at.opcode == "reshape" ||
           (at.opcode == "custom-call" && at.operands.size() == 1 &&
            KindOfCustomCall(*value.frame->computation, at) == CustomCallKind::kMarker);
  }

  // Through what only gives the array another shape, or says how it is sharded.
  Value Step(Value value) {
    value = tracer_.Resolve(value);
    for (int i = 0; i < kMaxSteps && HandsOn(value); ++i) {
      value = tracer_.Resolve(tracer_.Operand(value, 0));
    }
    return value;
  }

  // The element of the loop's state that this is, as it enters the round.
  std::optional<int64_t> StateElement(const Value& value) const {
    const bool state =
        value.instruction->opcode == "parameter" && value.frame == body_ && value.path.size() == 1;
    return state ? std::optional(value.path[0]) : std::nullopt;
  }

  Tracer& tracer_;
  const Frame* body_;
};

}  // namespace

std::optional<StackedUpdate> FindStackedUpdate(Tracer& tracer, const Instruction& loop,
                                               const Frame* frame, int64_t element) {
  return StackFollower(tracer, loop, frame).Follow(element);
}

}  // namespace ridgeline::hlo
