#include "hlo/body.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace ridgeline::hlo {
namespace {

// Instructions that one walk may visit; our own programs have hundreds.
constexpr int64_t kMaxVisits = 200'000;

template <size_t N>
bool IsOneOf(std::string_view opcode, const std::array<std::string_view, N>& opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
}

// No memory is touched: names for values, and the ends of asynchronous operations.
bool MovesNothing(std::string_view opcode) {
  constexpr std::array<std::string_view, 11> kFree = {
      "parameter",  "constant",  "get-tuple-element",    "tuple",
      "bitcast",    "after-all", "optimization-barrier", "partition-id",
      "replica-id", "domain",    "add-dependency"};
  return IsOneOf(opcode, kFree) || opcode.ends_with("-done") || opcode.ends_with("-update");
}

bool OnlyMoves(std::string_view opcode) {
  constexpr std::array<std::string_view, 15> kMoves = {
      "copy",  "copy-start", "transpose", "convert",       "broadcast",
      "slice", "pad",        "reverse",   "dynamic-slice", "dynamic-update-slice",
      "iota",  "reshape",    "gather",    "concatenate",   "bitcast-convert"};
  return IsOneOf(opcode, kMoves);
}

bool ReadsAPart(std::string_view opcode) {
  return opcode == "dynamic-slice" || opcode == "slice" || opcode == "gather";
}

// What a fusion reads of its operand `number`: of an array that is only sliced, the slices.
double BytesRead(const Computation& fused, size_t number, double whole) {
  std::unordered_set<int64_t> names;  // the parameter, also under other shapes
  double slices = 0;
  for (const Instruction& at : fused.instructions) {
    const bool is_parameter = at.opcode == "parameter";
    if (is_parameter && static_cast<size_t>(at.parameter_number) == number) names.insert(at.id);
    for (size_t i = 0; i < at.operands.size(); ++i) {
      if (!names.contains(at.operands[i])) continue;
      if (at.opcode == "bitcast") {
        names.insert(at.id);
      } else if (i == 0 && ReadsAPart(at.opcode)) {
        slices += at.shape.bytes();
      } else {
        return whole;
      }
    }
    // Handed out as a whole.
    if (at.id == fused.root && names.contains(at.id)) return whole;
  }
  return std::min(slices, whole);
}

double MovedBytes(const Module& module, const Unit& unit) {
  const Instruction& at = *unit.instruction;
  const auto operand_bytes = [&](size_t i) {
    const double whole = unit.frame->computation->Get(at.operands[i]).shape.bytes();
    if (at.opcode != "fusion" || at.called.size() != 1) return whole;
    return BytesRead(module.Get(at.called[0]), i, whole);
  };
  const std::string_view opcode = at.opcode;
  if (ReadsAPart(opcode)) return 2 * at.shape.bytes();
  if (opcode == "dynamic-update-slice" && at.operands.size() > 1) return 2 * operand_bytes(1);
  double total = 0;
  for (size_t i = 0; i < at.operands.size(); ++i) total += operand_bytes(i);
  // The result tuple of a start names the operands again.
  return opcode.ends_with("-start") ? 2 * total : total + at.shape.bytes();
}

class Walker {
 public:
  Walker(Tracer& tracer, std::span<const ExpectedOp> ops, const Instruction* skip)
      : tracer_(tracer), ops_(ops), skip_(skip) {}

  // Nesting is bounded by Module::kMaxNesting.
  void Walk(const Frame* frame, const Unit* unit, bool in_inner_loop) {
    for (const Instruction& at : frame->computation->instructions) {
      if (&at == skip_) continue;
      if (++visits_ > kMaxVisits) {
        survey.complete = false;
        return;
      }
      if (IsBookkeeping(at, *frame->computation)) continue;
      Unit own{&at, frame, in_inner_loop, false, false, 0};
      const std::optional<size_t> expected = Expected(at);
      if (expected) survey.matches.push_back({{&at, frame, {}}, *expected, unit ? *unit : own});
      if (expected || MovesNothing(at.opcode)) continue;

      const std::span<const int64_t> inside = RunsOrDefines(tracer_.module(), at);
      const bool is_unit =
          !unit && (at.opcode == "fusion" || inside.empty() || at.opcode == "async-start");
      const size_t matches = survey.matches.size();
      const int64_t computing = computing_;
      if (inside.empty() && !OnlyMoves(at.opcode)) ++computing_;
      if (at.opcode == "while") survey.inner_loops.push_back(&at);
      for (int64_t callee : inside) {
        Walk(tracer_.Enter(callee, &at, frame), is_unit ? &own : unit,
             in_inner_loop || at.opcode == "while");
      }
      if (is_unit && survey.matches.size() == matches) {
        own.bytes = MovedBytes(tracer_.module(), own);
        own.only_moves = computing_ == computing;
        survey.others.push_back(own);
      }
    }
  }

  // An asynchronous fusion may clone a collective; the clones share its channel.
  void DropClones() {
    std::vector<Match> kept;
    for (const Match& match : survey.matches) {
      const Instruction& op = *match.op.instruction;
      const bool clone = IsCollective(op) && op.channel_id > 0 &&
                         std::any_of(kept.begin(), kept.end(), [&](const Match& other) {
                           return other.op.instruction->channel_id == op.channel_id &&
                                  (other.unit.instruction->opcode == "fusion" ||
                                   match.unit.instruction->opcode == "fusion");
                         });
      if (!clone) kept.push_back(match);
    }
    survey.matches = std::move(kept);
  }

  void MarkBetween() {
    std::unordered_set<const Instruction*> holders;  // matches and all that they stand in
    for (const Match& match : survey.matches) {
      holders.insert(match.op.instruction);
      for (const Frame* at = match.op.frame; at->caller; at = at->outer) holders.insert(at->caller);
    }
    std::map<const Computation*, Sides> sides;
    for (Unit& unit : survey.others) {
      const Computation& computation = *unit.frame->computation;
      auto [entry, fresh] = sides.try_emplace(&computation);
      if (fresh) entry->second = FindSides(computation, holders);
      const bool after = entry->second.after.contains(unit.instruction);
      const bool before = entry->second.before.contains(unit.instruction);
      // What an inner loop carries over closes the ring in the next round.
      unit.between = unit.in_inner_loop ? after || before : after && before;
    }
  }

  Survey survey;

 private:
  using Set = std::unordered_set<const Instruction*>;
  struct Sides {
    Set after, before;  // instructions that use, or lead to, an expected operation
  };

  static Sides FindSides(const Computation& computation, const Set& holders) {
    Sides sides;
    const auto& all = computation.instructions;
    for (const Instruction& at : all) {
      for (int64_t id : at.operands) {
        const Instruction* operand = &computation.Get(id);
        if (holders.contains(operand) || sides.after.contains(operand)) sides.after.insert(&at);
      }
    }
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
      if (!holders.contains(&*at) && !sides.before.contains(&*at)) continue;
      for (int64_t id : at->operands) sides.before.insert(&computation.Get(id));
    }
    return sides;
  }

  // Counters and conditions: integers of rank 0, made of such.
  static bool IsBookkeeping(const Instruction& at, const Computation& computation) {
    if (IsCollective(at) || at.opcode == "custom-call" || !at.shape.is_scalar_integer()) {
      return false;
    }
    return std::all_of(at.operands.begin(), at.operands.end(),
                       [&](int64_t id) { return computation.Get(id).shape.is_scalar_integer(); });
  }

  std::optional<size_t> Expected(const Instruction& at) const {
    constexpr std::string_view kCustomCall = "custom-call:";
    for (size_t i = 0; i < ops_.size(); ++i) {
      for (const std::string& opcode : ops_[i].opcodes) {
        const bool matches =
            opcode.starts_with(kCustomCall)
                ? at.opcode == "custom-call" &&
                      at.custom_call_target.starts_with(opcode.substr(kCustomCall.size()))
                : at.opcode == opcode || BaseOpcode(at.opcode) == opcode;
        if (matches) return i;
      }
    }
    return std::nullopt;
  }

  Tracer& tracer_;
  std::span<const ExpectedOp> ops_;
  const Instruction* skip_;
  int64_t visits_ = 0;
  int64_t computing_ = 0;  // visited instructions that do more than move
};

}  // namespace

Survey Examine(Tracer& tracer, const Frame* start, std::span<const ExpectedOp> ops,
               const Instruction* skip) {
  Walker walker(tracer, ops, skip);
  walker.Walk(start, nullptr, false);
  walker.DropClones();
  walker.MarkBetween();
  return std::move(walker.survey);
}

std::string OpcodeText(const Instruction& instruction) {
  if (instruction.opcode != "custom-call") return instruction.opcode;
  return "custom-call:" + instruction.custom_call_target;
}

}  // namespace ridgeline::hlo
