#include "hlo/demand.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hlo/custom_call.h"
#include "hlo/opcode.h"
#include "hlo/stacked.h"

namespace ridgeline::hlo {
namespace {

// Questions about one computation that differ only in what is needed; beyond these everything is.
constexpr size_t kMaxQuestions = 4096;
constexpr int kMaxRounds = 4;
constexpr int kMaxHops = 10000;

void Collect(const Shape& shape, std::vector<const Shape*>& into) {
  if (!shape.is_tuple()) {
    into.push_back(&shape);
    return;
  }
  for (const Shape& element : shape.tuple) Collect(element, into);
}

bool HasSideEffect(const Instruction& at) {
  constexpr std::array<std::string_view, 6> kEffects = {"infeed", "outfeed",   "send",
                                                        "recv",   "send-done", "recv-done"};
  return at.side_effect || std::find(kEffects.begin(), kEffects.end(), at.opcode) != kEffects.end();
}

double Share(double part, double whole) { return whole > 0 ? std::min(1.0, part / whole) : 1; }

// Leaf `from` + i of a `while`, call or fusion is leaf i of its callee's root.
bool IsPlainCall(const Instruction& at) {
  return (at.opcode == "call" || at.opcode == "fusion" || at.opcode == "async-start") &&
         at.called.size() == 1;
}

}  // namespace

size_t CountLeaves(const Shape& shape) {
  if (!shape.is_tuple()) return 1;
  size_t count = 0;
  for (const Shape& element : shape.tuple) count += CountLeaves(element);
  return count;
}

std::vector<const Shape*> Leaves(const Shape& shape) {
  std::vector<const Shape*> leaves;
  Collect(shape, leaves);
  return leaves;
}

// One walk over one computation.
class DemandAnalysis::Pass {
 public:
  Pass(DemandAnalysis& owner, const Computation& computation, bool entry)
      : owner_(owner), computation_(computation), entry_(entry) {
    const auto count = computation.instructions.size();
    start_.reserve(count + 1);
    start_.push_back(0);
    for (const Instruction& at : computation.instructions) {
      start_.push_back(start_.back() + CountLeaves(at.shape));
    }
    share_.resize(start_.back());
    used_.resize(start_.back());
  }

  std::vector<RootLeaf> Roots() {
    std::vector<RootLeaf> root;
    const std::vector<const Shape*> shapes = Leaves(computation_.Root().shape);
    for (size_t i = 0; i < shapes.size(); ++i) {
      RootLeaf leaf = FollowInPlace(computation_.Root(), i);
      if (leaf.origin && entry_ && !Donated(i, *leaf.origin)) leaf.origin.reset();
      if (!leaf.origin) leaf.written_bytes = shapes[i]->bytes();
      root.push_back(leaf);
    }
    return root;
  }

  Demand Run(const std::vector<bool>& needed) {
    Demand demand;
    demand.root = entry_ ? Roots() : owner_.RootOf(computation_.id);
    SeedRoot(needed, demand.root);
    demand.live.resize(computation_.instructions.size());
    for (size_t position = computation_.instructions.size(); position-- > 0;) {
      const Instruction& at = computation_.instructions[position];
      const bool effect = HasEffect(at);
      const bool live = effect || std::any_of(used_.begin() + Index(start_[position]),
                                              used_.begin() + Index(start_[position + 1]),
                                              [](char used) { return used != 0; });
      if (!live) continue;
      demand.live[position] = true;
      if (effect) {
        for (size_t leaf = start_[position]; leaf < start_[position + 1]; ++leaf) Need(leaf, 1);
      }
      if (at.opcode == "parameter") {
        TakeParameter(at, position, demand);
      } else {
        Propagate(at, position);
      }
    }
    return demand;
  }

 private:
  static std::ptrdiff_t Index(size_t number) { return static_cast<std::ptrdiff_t>(number); }

  // Effects inside a loop or a call keep it alive.
  bool HasEffect(const Instruction& at) {
    if (HasSideEffect(at)) return true;
    for (const int64_t callee : RunsInPlace(at)) {
      if (owner_.HasEffects(callee)) return true;
    }
    return false;
  }

  size_t Position(int64_t id) const {
    return static_cast<size_t>(&computation_.Get(id) - computation_.instructions.data());
  }

  void Need(size_t leaf, double share) {
    share_[leaf] = std::min(1.0, share_[leaf] + share);
    used_[leaf] = 1;
  }

  void TakeParameter(const Instruction& at, size_t position, Demand& demand) {
    const auto number = static_cast<size_t>(std::max<int64_t>(0, at.parameter_number));
    if (number >= computation_.instructions.size()) return;  // no caller passes that many
    if (demand.touched.size() <= number) {
      demand.touched.resize(number + 1);
      demand.used.resize(number + 1);
    }
    for (size_t leaf = start_[position]; leaf < start_[position + 1]; ++leaf) {
      demand.touched[number].push_back(share_[leaf]);
      demand.used[number].push_back(used_[leaf] != 0);
    }
  }

  void SeedRoot(const std::vector<bool>& needed, const std::vector<RootLeaf>& root) {
    const size_t first = start_[Position(computation_.root)];
    for (size_t i = 0; i < root.size(); ++i) {
      if (i < needed.size() && !needed[i]) continue;
      used_[first + i] = 1;
      if (!root[i].origin) Need(first + i, 1);
    }
  }

  bool Donated(size_t root_leaf, const Origin& origin) const {
    const Module& module = owner_.module_;
    if (std::find(module.donors.begin(), module.donors.end(),
                  static_cast<int64_t>(origin.parameter)) != module.donors.end()) {
      return true;
    }
    return std::any_of(module.aliases.begin(), module.aliases.end(), [&](const Alias& alias) {
      return alias.parameter == static_cast<int64_t>(origin.parameter) &&
             LeafAt(computation_.Root().shape, alias.output_index) == root_leaf;
    });
  }

  static size_t LeafAt(const Shape& shape, const std::vector<int64_t>& path) {
    const Shape* at = &shape;
    size_t leaf = 0;
    for (const int64_t index : path) {
      if (index < 0 || static_cast<size_t>(index) >= at->tuple.size()) return SIZE_MAX;
      for (size_t i = 0; i < static_cast<size_t>(index); ++i) leaf += CountLeaves(at->tuple[i]);
      at = &at->tuple[static_cast<size_t>(index)];
    }
    return leaf;
  }

  // From a leaf of `from` back through updates and hand-ons to a parameter, if that is all there
  // is.
  RootLeaf FollowInPlace(const Instruction& from, size_t leaf) {
    RootLeaf found;
    const Instruction* at = &from;
    const auto operand = [&](size_t number) { return &computation_.Get(at->operands[number]); };
    for (int hop = 0; hop < kMaxHops; ++hop) {
      if (at->opcode == "parameter") {
        found.origin =
            Origin{static_cast<size_t>(std::max<int64_t>(0, at->parameter_number)), leaf};
        return found;
      }
      if (at->operands.empty()) return {};
      if (at->opcode == "tuple") {
        size_t number = 0;
        while (number + 1 < at->operands.size() && leaf >= CountLeaves(operand(number)->shape)) {
          leaf -= CountLeaves(operand(number)->shape);
          ++number;
        }
        at = operand(number);
      } else if (at->opcode == "get-tuple-element") {
        leaf += ElementStart(*operand(0), at->tuple_index);
        at = operand(0);
      } else if (at->opcode == "optimization-barrier" || at->opcode == "opt-barrier" ||
                 at->opcode == "bitcast" || IsMarker(*at)) {
        at = operand(0);
      } else if (at->opcode == "dynamic-update-slice") {
        found.written_bytes += operand(1)->shape.bytes();
        at = operand(0);
      } else if (at->opcode == "scatter" && at->operands.size() == 3) {
        at = operand(0);  // rows may repeat: at least nothing more is written
      } else if (at->opcode == "while") {
        const double trips = owner_.trips_(*at);
        if (const auto stacked = Stacked(*at, leaf)) {
          found.written_bytes += trips * stacked->round_bytes;
          leaf = static_cast<size_t>(stacked->source);
        } else {
          const std::vector<RootLeaf>& body = owner_.RootOf(at->called[0]);
          if (leaf >= body.size() || !body[leaf].origin || body[leaf].origin->leaf != leaf) {
            return {};
          }
          found.written_bytes += trips * body[leaf].written_bytes;
        }
        at = operand(0);
      } else if (IsPlainCall(*at)) {
        const std::vector<RootLeaf>& inner = owner_.RootOf(at->called[0]);
        if (leaf >= inner.size() || !inner[leaf].origin ||
            inner[leaf].origin->parameter >= at->operands.size()) {
          return {};
        }
        found.written_bytes += inner[leaf].written_bytes;
        const Origin origin = *inner[leaf].origin;
        leaf = origin.leaf;
        at = operand(origin.parameter);
      } else {
        return {};
      }
    }
    return {};
  }

  bool IsMarker(const Instruction& at) const {
    return at.opcode == "custom-call" && at.operands.size() == 1 &&
           KindOfCustomCall(computation_, at) == CustomCallKind::kMarker;
  }

  std::optional<StackedUpdate> Stacked(const Instruction& loop, size_t leaf) {
    const bool flat = std::none_of(loop.shape.tuple.begin(), loop.shape.tuple.end(),
                                   [](const Shape& element) { return element.is_tuple(); });
    if (!flat || leaf >= loop.shape.tuple.size()) return std::nullopt;
    const Frame* frame = owner_.tracer_.Enter(computation_.id, nullptr, nullptr);
    return FindStackedUpdate(owner_.tracer_, loop, frame, static_cast<int64_t>(leaf));
  }

  static size_t ElementStart(const Instruction& tuple, int64_t index) {
    size_t start = 0;
    const auto end =
        std::min(static_cast<size_t>(std::max<int64_t>(0, index)), tuple.shape.tuple.size());
    for (size_t i = 0; i < end; ++i) start += CountLeaves(tuple.shape.tuple[i]);
    return start;
  }

  // Every leaf of the operand to `share`.
  void NeedOperand(const Instruction& at, size_t number, double share) {
    const size_t position = Position(at.operands[number]);
    for (size_t leaf = start_[position]; leaf < start_[position + 1]; ++leaf) Need(leaf, share);
  }

  // The operand's leaves as those of `position` from `first` on.
  void HandOn(const Instruction& at, size_t number, size_t first) {
    const size_t position = Position(at.operands[number]);
    for (size_t i = 0; start_[position] + i < start_[position + 1]; ++i) {
      if (first + i >= used_.size() || used_[first + i] == 0) continue;
      used_[start_[position] + i] = 1;
      share_[start_[position] + i] =
          std::min(1.0, share_[start_[position] + i] + share_[first + i]);
    }
  }

  double Elements(const Instruction& at, size_t number) const {
    return computation_.Get(at.operands[number]).shape.elements();
  }

  void Propagate(const Instruction& at, size_t position) {
    const size_t first = start_[position];
    const double share = first < start_[position + 1] ? share_[first] : 0;
    if (at.operands.empty()) return;
    if (at.opcode == "tuple") {
      size_t leaf = first;
      for (size_t i = 0; i < at.operands.size(); ++i) {
        HandOn(at, i, leaf);
        leaf += CountLeaves(computation_.Get(at.operands[i]).shape);
      }
      return;
    }
    if (at.opcode == "get-tuple-element") {
      const Instruction& tuple = computation_.Get(at.operands[0]);
      const size_t from = start_[Position(at.operands[0])] + ElementStart(tuple, at.tuple_index);
      for (size_t i = 0; first + i < start_[position + 1]; ++i) {
        if (used_[first + i] == 0) continue;
        used_[from + i] = 1;
        share_[from + i] = std::min(1.0, share_[from + i] + share_[first + i]);
      }
      return;
    }
    if (at.opcode == "while") return PropagateLoop(at, position);
    if (at.opcode == "conditional") return PropagateBranches(at, position);
    if (IsPlainCall(at)) return PropagateCall(at, position);
    switch (KindOf(at.opcode).value_or(OpKind::kCustomCall)) {
      case OpKind::kFree:
        if (CountLeaves(computation_.Get(at.operands[0]).shape) == start_[position + 1] - first) {
          HandOn(at, 0, first);
          for (size_t i = 1; i < at.operands.size(); ++i) NeedOperand(at, i, 1);
          return;
        }
        break;
      case OpKind::kMove:
      case OpKind::kVector:
      case OpKind::kTranscendental:
        for (size_t i = 0; i < at.operands.size(); ++i) {
          NeedOperand(at, i, Share(share * at.shape.elements(), Elements(at, i)));
        }
        return;
      case OpKind::kReduce:
        for (size_t i = 0; i < at.operands.size(); ++i) NeedOperand(at, i, share);
        return;
      case OpKind::kSlice:
      case OpKind::kGather:
        NeedOperand(at, 0, Share(share * at.shape.elements(), Elements(at, 0)));
        for (size_t i = 1; i < at.operands.size(); ++i) NeedOperand(at, i, 1);
        return;
      case OpKind::kUpdate:
        HandOn(at, 0, first);
        for (size_t i = 1; i < at.operands.size(); ++i) NeedOperand(at, i, 1);
        return;
      case OpKind::kScatter:
        if (at.operands.size() == 3) {
          HandOn(at, 0, first);
          NeedOperand(at, 1, 1);
          NeedOperand(at, 2, 1);
          return;
        }
        break;
      case OpKind::kCustomCall:
        if (at.opcode == "custom-call" && at.operands.size() == 1 &&
            KindOfCustomCall(computation_, at) != CustomCallKind::kKernel &&
            CountLeaves(computation_.Get(at.operands[0]).shape) == start_[position + 1] - first) {
          HandOn(at, 0, first);
          return;
        }
        break;
      default:
        break;
    }
    for (size_t i = 0; i < at.operands.size(); ++i) NeedOperand(at, i, 1);
  }

  std::vector<bool> UsedLeaves(size_t position) const {
    return {used_.begin() + Index(start_[position]), used_.begin() + Index(start_[position + 1])};
  }

  // What the body needs of one round, the round before has to make: until nothing is added.
  void PropagateLoop(const Instruction& at, size_t position) {
    const std::vector<bool> results = UsedLeaves(position);
    std::vector<bool> needed = results;
    const Demand& condition = owner_.Of(owner_.module_.Get(at.called[1]), {true});
    const auto add = [&](const Demand& from) {
      bool more = false;
      if (from.used.empty()) return more;
      for (size_t i = 0; i < needed.size() && i < from.used[0].size(); ++i) {
        more = more || (from.used[0][i] && !needed[i]);
        needed[i] = needed[i] || from.used[0][i];
      }
      return more;
    };
    add(condition);
    const Computation& body = owner_.module_.Get(at.called[0]);
    const Demand* round = &owner_.Of(body, needed);
    for (int i = 0; add(*round); ++i) {
      if (i == kMaxRounds) needed.assign(needed.size(), true);
      round = &owner_.Of(body, needed);
    }
    const double trips = owner_.trips_(at);
    const size_t operand = start_[Position(at.operands[0])];
    for (size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i]) continue;
      const size_t leaf = start_[position] + i;
      double share = 0;
      for (const Demand* part : {round, &condition}) {
        if (!part->touched.empty() && i < part->touched[0].size()) {
          share += part->touched[0][i] * trips;
        }
      }
      const bool kept = i < round->root.size() && round->root[i].origin.has_value();
      if (kept || trips == 0) share += share_[leaf];
      Need(operand + i, std::min(1.0, share));
    }
  }

  void PropagateBranches(const Instruction& at, size_t position) {
    NeedOperand(at, 0, 1);
    const std::vector<bool> needed = UsedLeaves(position);
    for (size_t i = 0; i < at.called.size() && i + 1 < at.operands.size(); ++i) {
      PassToOperand(owner_.Of(owner_.module_.Get(at.called[i]), needed), 0, at, i + 1, position);
    }
  }

  void PropagateCall(const Instruction& at, size_t position) {
    const Demand& callee = owner_.Of(owner_.module_.Get(at.called[0]), UsedLeaves(position));
    for (size_t i = 0; i < at.operands.size(); ++i) PassToOperand(callee, i, at, i, position);
  }

  void PassToOperand(const Demand& callee, size_t parameter, const Instruction& at, size_t number,
                     size_t position) {
    if (parameter >= callee.touched.size()) return;
    const size_t operand = Position(at.operands[number]);
    const size_t leaves = start_[operand + 1] - start_[operand];
    for (size_t i = 0; i < leaves && i < callee.touched[parameter].size(); ++i) {
      if (callee.used[parameter][i]) Need(start_[operand] + i, callee.touched[parameter][i]);
    }
    // What the callee keeps in place is read as far as its result is.
    for (size_t i = 0; i < callee.root.size(); ++i) {
      const std::optional<Origin>& origin = callee.root[i].origin;
      if (!origin || origin->parameter != parameter || origin->leaf >= leaves) continue;
      if (start_[position] + i < start_[position + 1] && used_[start_[position] + i] != 0) {
        Need(start_[operand] + origin->leaf, share_[start_[position] + i]);
      }
    }
  }

  DemandAnalysis& owner_;
  const Computation& computation_;
  const bool entry_;
  std::vector<size_t> start_;  // first leaf of each instruction
  std::vector<double> share_;  // by leaf
  std::vector<char> used_;
};

bool DemandAnalysis::HasEffects(int64_t computation) {
  if (const auto found = effects_.find(computation); found != effects_.end()) return found->second;
  bool effects = false;
  for (const Instruction& at : module_.Get(computation).instructions) {
    effects = effects || HasSideEffect(at);
    for (const int64_t callee : RunsInPlace(at)) effects = effects || HasEffects(callee);
  }
  return effects_[computation] = effects;
}

const std::vector<RootLeaf>& DemandAnalysis::RootOf(int64_t computation) {
  const auto found = roots_.find(computation);
  if (found != roots_.end()) return found->second;
  return roots_[computation] = Pass(*this, module_.Get(computation), false).Roots();
}

void DemandAnalysis::MarkLive(const Computation& computation, const Demand& demand) {
  std::vector<bool>& live = live_[computation.id];
  live.resize(computation.instructions.size());
  for (size_t i = 0; i < live.size(); ++i) live[i] = live[i] || demand.live[i];
}

const Demand& DemandAnalysis::Of(const Computation& computation, const std::vector<bool>& needed) {
  std::pair<int64_t, std::vector<bool>> question = {computation.id, needed};
  if (known_.size() > kMaxQuestions) question.second.assign(needed.size(), true);
  const auto found = known_.find(question);
  if (found != known_.end()) return *found->second;
  Demand demand = Pass(*this, computation, false).Run(question.second);
  MarkLive(computation, demand);
  return *(known_[question] = std::make_unique<Demand>(std::move(demand)));
}

const Demand& DemandAnalysis::OfEntry() {
  if (!entry_) {
    entry_ = std::make_unique<Demand>(Pass(*this, module_.Entry(), true).Run({}));
    MarkLive(module_.Entry(), *entry_);
  }
  return *entry_;
}

bool DemandAnalysis::IsLive(const Computation& computation, size_t position) const {
  const auto found = live_.find(computation.id);
  return found != live_.end() && found->second[position];
}

}  // namespace ridgeline::hlo
