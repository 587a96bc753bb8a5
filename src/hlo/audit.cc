#include "hlo/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "hlo/body.h"
#include "hlo/loop.h"
#include "hlo/trace.h"

namespace ridgeline::hlo {
namespace {

// Bytes beside the operation that are named, and from which the figure is refused, as shares of
// the bytes that the operation moves. 1 % is design.md's limit; up to 10 % the figure is still that
// of the operation, with an error that the warning tells.
constexpr double kNamedShare = 0.01;
constexpr double kRefusedShare = 0.10;
// Less than this takes no measurable time, whatever its share of a tiny message.
constexpr double kNegligibleBytes = 1024;

std::string Bytes(double bytes) { return FormatBytes(static_cast<int64_t>(std::min(bytes, 9e18))); }

std::string Join(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  const size_t shown = std::min(names.size(), kShown);
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string Describe(const Match& match) {
  const Instruction& op = *match.op.instruction;
  std::string text = OpcodeText(op) + " " + op.name;
  if (match.unit.instruction != &op) text += " (in " + match.unit.instruction->name + ")";
  return text;
}

std::string Describe(const ExpectedOp& op) {
  return fmt::format("{}", fmt::join(op.opcodes, " or "));
}

std::string Describe(const std::vector<std::vector<int64_t>>& groups) {
  std::string text = "{";
  for (const auto& group : groups) text += fmt::format("{{{}}}", fmt::join(group, ","));
  text += "}";
  constexpr size_t kShown = 200;
  return text.size() > kShown ? text.substr(0, kShown) + "…" : text;
}

std::string Describe(const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  std::vector<std::vector<int64_t>> lists;
  for (const auto& [from, to] : pairs) lists.push_back({from, to});
  return Describe(lists);
}

bool IsMatrix(const Instruction& op) { return op.opcode == "dot" || op.opcode == "convolution"; }

class Auditor {
 public:
  Auditor(const Module& module, const Expectation& expected)
      : module_(module), expected_(expected), tracer_(module) {}

  AuditResult Run() {
    CheckConstants();
    if (expected_.loop) CheckLoop();
    const bool fine =
        std::all_of(result_.findings.begin(), result_.findings.end(),
                    [](const Finding& finding) { return finding.level == FindingLevel::kNote; });
    if (fine) {
      const std::string text = expected_.loop ? Summary() : "no constant is too large";
      result_.findings.insert(result_.findings.begin(), {FindingLevel::kOk, text});
    }
    return std::move(result_);
  }

 private:
  void Add(FindingLevel level, const std::string& text) {
    result_.findings.push_back({level, text});
  }
  void Refuse(const std::string& text) { Add(FindingLevel::kRefused, text); }

  void CheckConstants() {
    for (const Computation* computation : Reachable(module_, module_.Entry())) {
      for (const Instruction& at : computation->instructions) {
        if (at.opcode != "constant") continue;
        if (at.shape.bytes() <= static_cast<double>(expected_.max_constant_bytes)) continue;
        Refuse(fmt::format("{} in {} is a constant of {}: big arrays must be parameters", at.name,
                           computation->name, Bytes(at.shape.bytes())));
      }
    }
  }

  void CheckLoop() {
    const Frame* entry = tracer_.Enter(module_.entry, nullptr, nullptr);
    const std::optional<Loop> loop = FindLoop(entry);
    if (!loop) return;
    const Trips trips = CheckTrips(tracer_, *loop);
    for (const std::string& problem : trips.problems) Refuse(problem);
    const Frame* body = tracer_.Enter(loop->instruction->called[0], loop->instruction, loop->frame);
    survey_ = Examine(tracer_, body, expected_.ops);
    if (!survey_.complete) return Refuse("the loop body is too large to audit");
    CheckTypes();
    CheckCounts(entry, *loop, trips.step);
    for (const Match& match : survey_.matches) {
      CheckOperands(match);
      CheckDevices(match);
      CheckKind(match);
    }
    CheckMemorySpaces();
    CheckOthers();
    if (!survey_.inner_loops.empty()) {
      std::vector<std::string> names;
      for (const Instruction* inner : survey_.inner_loops) names.push_back(inner->name);
      Add(FindingLevel::kNote,
          fmt::format(
              "the body holds inner loops: {}; what they move is counted for one round each",
              Join(names)));
    }
  }

  std::optional<Loop> FindLoop(const Frame* entry) {
    const std::vector<Loop> loops = OuterLoops(tracer_, entry);
    std::vector<Loop> ours;
    std::vector<std::string> others;
    for (const Loop& loop : loops) {
      if (RunsParameterRounds(loop)) {
        ours.push_back(loop);
      } else {
        others.push_back(loop.instruction->name);
      }
    }
    if (ours.empty() && loops.size() == 1) return loops[0];
    if (loops.empty()) {
      Refuse("the loop is gone: no while runs in the compiled program");
      return std::nullopt;
    }
    if (ours.size() != 1) {
      Refuse(fmt::format("{} loops run as often as parameter 0 says, not one, of {} in all",
                         ours.size(), loops.size()));
      return std::nullopt;
    }
    if (!others.empty()) {
      Add(FindingLevel::kNote, "other loops run once a call: " + Join(others));
    }
    return ours[0];
  }

  void CheckCounts(const Frame* entry, const Loop& loop, int64_t step) {
    std::optional<Survey> outside;  // the program without the loop
    bool unrolled = false;
    for (size_t i = 0; i < expected_.ops.size(); ++i) {
      const ExpectedOp& op = expected_.ops[i];
      std::vector<std::string> found = Names(survey_, i);
      const auto count = static_cast<int64_t>(found.size());
      if (count == op.count || (count > op.count && op.at_least)) continue;
      if (count == 0) {
        if (!outside) outside = Examine(tracer_, entry, expected_.ops, loop.instruction);
        const std::vector<std::string> hoisted = Names(*outside, i);
        Refuse(
            hoisted.empty()
                ? fmt::format("the work was optimised away: no {} in the loop body", Describe(op))
                : fmt::format("hoisted out of the loop: {} runs once a call, not once a round",
                              Join(hoisted)));
      } else if (count < op.count) {
        Refuse(
            fmt::format("part of the work was optimised away: {} of {} {} are left in the body: {}",
                        count, op.count, Describe(op), Join(found)));
      } else if (op.count > 0 && count % op.count == 0) {
        const int64_t times = count / op.count;
        unrolled = unrolled || times == step;
        Add(times == step || in_parts_ ? FindingLevel::kWarning : FindingLevel::kRefused,
            fmt::format(
                "unrolled x{}: the body holds {} {} where {} {} meant ({}); the counter steps "
                "by {}",
                times, count, Describe(op), op.count, op.count == 1 ? "is" : "are", Join(found),
                step));
      } else {
        Refuse(fmt::format("the body holds {} {}, {} {} meant: {}", count, Describe(op), op.count,
                           op.count == 1 ? "is" : "are", Join(found)));
      }
    }
    if (step != 1 && !unrolled) {
      Refuse(fmt::format("the trip count was changed: the counter of {} steps by {}",
                         loop.instruction->name, step));
    }
  }

  static std::vector<std::string> Names(const Survey& survey, size_t expected) {
    std::vector<std::string> names;
    for (const Match& match : survey.matches) {
      if (match.expected == expected) names.push_back(Describe(match));
    }
    return names;
  }

  // An operation on known values may be computed by the compiler, or cheaply.
  void CheckOperands(const Match& match) {
    const Instruction& op = *match.op.instruction;
    if (op.operands.empty() || op.opcode == "broadcast") return;
    std::vector<std::string> constants;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const Value operand = tracer_.Operand(match.op, i);
      const bool scalar = operand.instruction->shape.dims.empty();
      if (scalar && (IsMatrix(op) || IsCollective(op))) continue;
      if (tracer_.IsConstant(operand)) {
        constants.push_back(tracer_.Resolve(operand).instruction->name);
      }
    }
    // A scalar factor or an initial value may be constant; a matrix or a message may not.
    const bool every = constants.size() == op.operands.size();
    if (every || (!constants.empty() && (IsMatrix(op) || IsCollective(op)))) {
      Refuse(fmt::format("{} works on a constant ({}), not on the program's arguments",
                         Describe(match), Join(constants)));
    }
  }

  void CheckDevices(const Match& match) {
    const Instruction& op = *match.op.instruction;
    if (!IsCollective(op)) return;
    if (BaseOpcode(op.opcode) == "collective-permute") {
      using Pairs = std::set<std::pair<int64_t, int64_t>>;
      const Pairs asked(expected_.source_target.begin(), expected_.source_target.end());
      const Pairs found(op.source_target.begin(), op.source_target.end());
      if (asked.empty() || asked == found) return;
      return Refuse(fmt::format("{} sends along {}, asked were {}", Describe(match),
                                Describe(op.source_target), Describe(expected_.source_target)));
    }
    if (expected_.groups.empty() || op.groups == expected_.groups) return;
    if (op.groups.empty() && expected_.groups.size() == 1) return;  // all devices, in their order
    using Sets = std::set<std::set<int64_t>>;
    const auto sets = [](const std::vector<std::vector<int64_t>>& groups) {
      Sets out;
      for (const auto& group : groups) out.emplace(group.begin(), group.end());
      return out;
    };
    if (sets(op.groups) != sets(expected_.groups)) {
      return Refuse(fmt::format("{} runs in groups {}, asked were {}", Describe(match),
                                Describe(op.groups), Describe(expected_.groups)));
    }
    std::set<std::vector<int64_t>> in_order(op.groups.begin(), op.groups.end());
    std::set<std::vector<int64_t>> asked(expected_.groups.begin(), expected_.groups.end());
    if (in_order != asked) {
      Add(FindingLevel::kNote,
          fmt::format("{} runs in the groups asked for, members in another order: {}",
                      Describe(match), Describe(op.groups)));
    }
  }

  // A collective that was asked for as another one. Inside a fusion it is only a part: libtpu's
  // fusion all-reduce-scatter holds an all-reduce and is none.
  void CheckKind(const Match& match) {
    const Instruction& op = *match.op.instruction;
    const ExpectedOp& meant = expected_.ops[match.expected];
    if (!IsCollective(op) || meant.count == 0 || match.unit.instruction->opcode == "fusion") {
      return;
    }
    const std::string_view asked = BaseOpcode(meant.opcodes.front());
    if (BaseOpcode(op.opcode) == asked) return;
    Add(FindingLevel::kWarning,
        fmt::format("{} is executed as {}: it may move more than counted", asked, Describe(match)));
  }

  // Matrix operations and collectives say what a program computes in; without any of them, every
  // expected operation does.
  void CheckTypes() {
    if (!expected_.dtype_matters) return;
    const auto decides = [](const Match& match) {
      const Instruction& op = *match.op.instruction;
      return IsMatrix(op) || IsCollective(op) || op.opcode == "custom-call";
    };
    const bool any = std::any_of(survey_.matches.begin(), survey_.matches.end(), decides);
    const std::string asked(Name(expected_.dtype));
    for (const Match& match : survey_.matches) {
      const Instruction& op = *match.op.instruction;
      if (any && !decides(match)) continue;
      const size_t operands = std::min<size_t>(op.operands.size(), IsMatrix(op) ? 2 : 1);
      for (size_t i = 0; i < operands; ++i) {
        Value operand = tracer_.Operand(match.op, i);
        // The first operand of a select is a mask.
        if (op.opcode == "select" && op.operands.size() > 1) operand = tracer_.Operand(match.op, 1);
        const std::string type = operand.instruction->shape.type_name();
        if (!operand.instruction->shape.is_array() || type == asked) continue;
        const Instruction& source = *tracer_.Resolve(operand).instruction;
        const std::string by =
            source.opcode == "convert" ? fmt::format(" (converted by {})", source.name) : "";
        Add(FindingLevel::kWarning, fmt::format("{} computed as {}: {} takes {}{}", asked, type,
                                                Describe(match), type, by));
        result_.executed_as = type;
        const Result<DType> computed = ParseDType(type);
        const auto products = std::ranges::count(survey_.matches, match.expected, &Match::expected);
        in_parts_ = computed && Info(*computed).bits < Info(expected_.dtype).bits &&
                    products > expected_.ops[match.expected].count;
        return;
      }
    }
  }

  void CheckMemorySpaces() {
    std::map<int64_t, std::vector<std::string>> named;  // space -> arrays
    std::set<const Instruction*> seen;
    const auto look = [&](const Instruction& array) {
      const Shape& shape = array.shape;
      if (!shape.is_array() || shape.memory_space == 0 || shape.bytes() < kNegligibleBytes) return;
      if (seen.insert(&array).second) named[shape.memory_space].push_back(array.name);
    };
    for (const Match& match : survey_.matches) {
      const Unit& unit = match.unit;
      for (int64_t id : unit.instruction->operands) look(unit.frame->computation->Get(id));
      look(*unit.instruction);
    }
    for (const auto& [space, arrays] : named) {
      Add(FindingLevel::kWarning,
          fmt::format("operands live in memory space {}, not in the device's main memory (on a TPU "
                      "1 is VMEM, not HBM): {}",
                      space, Join(arrays)));
    }
  }

  // A copy that takes an array from one memory to another.
  static bool ChangesMemory(const Unit& unit) {
    const Instruction& at = *unit.instruction;
    if (at.operands.empty()) return false;
    const Shape& from = unit.frame->computation->Get(at.operands[0]).shape;
    const Shape& to = at.shape.tuple.empty() ? at.shape : at.shape.tuple[0];
    return BaseOpcode(at.opcode) == "copy" && from.memory_space != to.memory_space;
  }

  // XLA's GPU compiler lays an all-reduce's result over its operand: one that is kept is copied.
  bool FeedsInPlace(const Unit& unit) const {
    if (unit.instruction->opcode != "copy") return false;
    return std::ranges::any_of(survey_.matches, [&unit](const Match& match) {
      const Instruction& op = *match.op.instruction;
      return match.op.frame == unit.frame && BaseOpcode(op.opcode) == "all-reduce" &&
             std::ranges::find(op.operands, unit.instruction->id) != op.operands.end();
    });
  }

  void CheckOthers() {
    std::vector<std::string> between;
    for (const Unit& unit : survey_.others) {
      if (unit.bytes < kNegligibleBytes || unit.bytes <= kNamedShare * expected_.moved_bytes)
        continue;
      const Instruction& at = *unit.instruction;
      if (unit.between && !unit.only_moves) {
        between.push_back(at.name);
        continue;
      }
      std::string text =
          fmt::format("{} {} also moves {} in the body", at.opcode, at.name, Bytes(unit.bytes));
      if (expected_.moved_bytes > 0) {
        text += fmt::format(", {} of the {} of the operation",
                            FormatShare(unit.bytes / expected_.moved_bytes),
                            Bytes(expected_.moved_bytes));
      }
      FindingLevel level = unit.bytes > kRefusedShare * expected_.moved_bytes
                               ? FindingLevel::kRefused
                               : FindingLevel::kWarning;
      if (!unit.only_moves) {
        text += "; it computes something that was not expected";
        level = FindingLevel::kWarning;
      } else if (FeedsInPlace(unit)) {
        text +=
            "; this compiler reduces in place, so that the figure holds a copy of the buffer too";
        level = FindingLevel::kWarning;
      } else if (ChangesMemory(unit)) {
        text += "; it takes an array to another memory space";
        level = FindingLevel::kWarning;
      } else if (in_parts_) {
        text += "; it takes a type apart that is emulated in a narrower one";
        level = FindingLevel::kWarning;
      } else if (!result_.executed_as.empty() && Converts(unit)) {
        text += "; it converts for a type that is emulated";
        level = FindingLevel::kWarning;
      }
      Add(level, text);
    }
    if (!between.empty()) {
      Add(FindingLevel::kNote,
          "part of the operation, between the expected ones: " + Join(between));
    }
  }

  bool Converts(const Unit& unit) {
    static const std::vector<ExpectedOp> convert = {{{"convert"}, 1, true}};
    if (unit.instruction->opcode == "convert") return true;
    if (unit.instruction->opcode != "fusion" || unit.instruction->called.empty()) return false;
    const Frame* inside = tracer_.Enter(unit.instruction->called[0], unit.instruction, unit.frame);
    return !Examine(tracer_, inside, convert).matches.empty();
  }

  std::string Summary() const {
    std::vector<std::string> ops;
    for (const Match& match : survey_.matches) ops.push_back(Describe(match));
    if (ops.empty()) return "one loop, parameter 0 rounds; its body holds the counter alone";
    return fmt::format(
        "one loop, parameter 0 rounds; its body holds {}; nothing else in it moves more than {} of "
        "{}",
        Join(ops), FormatShare(kNamedShare), Bytes(expected_.moved_bytes));
  }

  const Module& module_;
  const Expectation& expected_;
  Tracer tracer_;
  Survey survey_;
  bool in_parts_ = false;  // several operations of a narrower type stand for one of a wide one
  AuditResult result_;
};

}  // namespace

std::string_view Name(FindingLevel level) {
  switch (level) {
    case FindingLevel::kOk:
      return "ok";
    case FindingLevel::kNote:
      return "note";
    case FindingLevel::kWarning:
      return "warning";
    case FindingLevel::kRefused:
      return "refused";
  }
  return "refused";
}

bool AuditResult::refused() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == FindingLevel::kRefused;
  });
}

AuditResult Audit(const Module& module, const Expectation& expected) {
  return Auditor(module, expected).Run();
}

}  // namespace ridgeline::hlo
