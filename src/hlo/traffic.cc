#include "hlo/traffic.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "hlo/custom_call.h"
#include "hlo/opcode.h"

namespace ridgeline::hlo {
namespace {

constexpr int64_t kMainMemory = 0;
constexpr int64_t kHostMemory = 5;  // XLA's Layout::kHostMemorySpace
// A kernel reads at most so many arrays; beyond, compilers cut the chain.
constexpr size_t kMaxInputs = 16;
// Elementwise instructions that one kernel appends to a product.
constexpr int kMaxEpilogue = 256;

double BytesIn(const Shape& shape, int64_t space) {
  double bytes = 0;
  for (const Shape& element : shape.tuple) bytes += BytesIn(element, space);
  return shape.is_tuple() ? bytes : (shape.memory_space == space ? shape.bytes() : 0);
}

double MainBytes(const Shape& shape) { return BytesIn(shape, kMainMemory); }

class Unfused {
 public:
  Unfused(const Module& module, const Computation& computation, const Instruction& at,
          DemandAnalysis& demand, const std::vector<bool>* made)
      : module_(module), computation_(computation), at_(at), demand_(demand), made_(made) {}

  Traffic Count() {
    Traffic traffic;
    switch (KindOf(at_.opcode).value_or(OpKind::kCustomCall)) {
      case OpKind::kFree:
      case OpKind::kControl:
        return traffic;
      case OpKind::kSource:
        traffic.bytes = MainBytes(at_.shape);
        return traffic;
      case OpKind::kMove:
        if (at_.opcode == "copy-start" && !at_.shape.tuple.empty())
          return Copied(at_.shape.tuple[0]);
        if (at_.opcode == "copy") return Copied(at_.shape);
        break;
      case OpKind::kSlice:
        return Sliced();
      case OpKind::kGather:
        traffic.gather = 2 * MainBytes(at_.shape);
        traffic.bytes = traffic.gather + OperandBytes(1);
        return traffic;
      case OpKind::kUpdate:
        traffic.bytes = CopyFirst(0) + 2 * OperandBytes(1);
        return traffic;
      case OpKind::kScatter:
        return Scattered();
      case OpKind::kFusion:
        return Fused();
      case OpKind::kCustomCall:
        return CustomCall();
      case OpKind::kHost:
        traffic.host = traffic.bytes = MainBytes(at_.shape) + AllOperandBytes();
        return traffic;
      default:
        break;
    }
    traffic.bytes = AllOperandBytes() + MainBytes(at_.shape);
    return traffic;
  }

 private:
  const Instruction& Operand(size_t number) const { return computation_.Get(at_.operands[number]); }
  double OperandBytes(size_t number) const {
    return number < at_.operands.size() ? MainBytes(Operand(number).shape) : 0;
  }
  // Each array once, however often the instruction names it.
  double AllOperandBytes() const {
    std::unordered_set<int64_t> seen;
    double bytes = 0;
    for (const int64_t id : at_.operands) {
      if (seen.insert(id).second && !IsMade(id)) bytes += MainBytes(computation_.Get(id).shape);
    }
    return bytes;
  }

  bool IsMade(int64_t id) const {
    return made_ != nullptr &&
           (*made_)[static_cast<size_t>(&computation_.Get(id) - computation_.instructions.data())];
  }

  // Into or out of the host's memory, or within the device's.
  Traffic Copied(const Shape& to) const {
    Traffic traffic;
    traffic.bytes = OperandBytes(0) + MainBytes(to);
    const bool from_host = BytesIn(Operand(0).shape, kHostMemory) > 0;
    const bool to_host = BytesIn(to, kHostMemory) > 0;
    if (from_host != to_host) traffic.host = to.bytes();
    return traffic;
  }

  Traffic Sliced() const {
    Traffic traffic;
    traffic.bytes = 2 * MainBytes(at_.shape);
    for (size_t i = 1; i < at_.operands.size(); ++i) traffic.bytes += OperandBytes(i);
    const bool strided = std::any_of(at_.slice_strides.begin(), at_.slice_strides.end(),
                                     [](int64_t stride) { return stride > 1; });
    if (strided) traffic.strided = MainBytes(at_.shape);
    return traffic;
  }

  // An array that others still need, or that the program may not change, is copied before an
  // update.
  double CopyFirst(size_t number) const {
    const Instruction& base = Operand(number);
    const bool foreign = base.opcode == "constant" ||
                         (base.opcode == "parameter" && computation_.id == module_.entry &&
                          !Donated(base.parameter_number));
    return foreign ? 2 * MainBytes(base.shape) : 0;
  }
  bool Donated(int64_t parameter) const {
    return std::find(module_.donors.begin(), module_.donors.end(), parameter) !=
               module_.donors.end() ||
           std::any_of(module_.aliases.begin(), module_.aliases.end(),
                       [&](const Alias& alias) { return alias.parameter == parameter; });
  }

  // scatter(arrays…, indices, updates…): rows are read, combined and written.
  Traffic Scattered() const {
    Traffic traffic;
    const size_t arrays = at_.operands.size() / 2;
    traffic.bytes = OperandBytes(arrays);
    for (size_t i = 0; i < arrays; ++i) {
      const double updates = OperandBytes(arrays + 1 + i);
      traffic.gather += 2 * updates;
      traffic.bytes += CopyFirst(i) + updates;
    }
    traffic.bytes += traffic.gather;
    return traffic;
  }

  Traffic Fused() {
    Traffic traffic;
    if (at_.called.size() != 1) return traffic;
    const Computation& callee = module_.Get(at_.called[0]);
    const Demand& inside =
        demand_.Of(callee, std::vector<bool>(CountLeaves(callee.Root().shape), true));
    const bool gathers = std::any_of(callee.instructions.begin(), callee.instructions.end(),
                                     [](const Instruction& one) { return one.opcode == "gather"; });
    std::unordered_map<int64_t, double> read;  // by operand: the largest share of any use
    for (size_t i = 0; i < at_.operands.size() && i < inside.touched.size(); ++i) {
      const std::vector<const Shape*> leaves = Leaves(Operand(i).shape);
      double bytes = 0;
      for (size_t k = 0; k < leaves.size() && k < inside.touched[i].size(); ++k) {
        bytes += inside.touched[i][k] * MainBytes(*leaves[k]);
      }
      if (gathers && bytes < OperandBytes(i)) traffic.gather += bytes;
      double& known = read[at_.operands[i]];
      known = std::max(known, bytes);
    }
    for (const auto& [operand, bytes] : read) traffic.bytes += bytes;
    const std::vector<const Shape*> results = Leaves(at_.shape);
    for (size_t i = 0; i < inside.root.size() && i < results.size(); ++i) {
      if (results[i]->memory_space != kMainMemory) continue;
      traffic.bytes += inside.root[i].written_bytes;
    }
    return traffic;
  }

  Traffic CustomCall() const {
    Traffic traffic;
    switch (KindOfCustomCall(computation_, at_)) {
      case CustomCallKind::kMarker:
        return traffic;
      case CustomCallKind::kToHost:
      case CustomCallKind::kToDevice:
        traffic.host = traffic.bytes = MainBytes(at_.shape);
        return traffic;
      case CustomCallKind::kKernel:
        break;
    }
    traffic.bytes = StatedBytes(at_).value_or(AllOperandBytes() + MainBytes(at_.shape));
    return traffic;
  }

  const Module& module_;
  const Computation& computation_;
  const Instruction& at_;
  DemandAnalysis& demand_;
  const std::vector<bool>* made_;
};

// Runs inside the kernel of whoever uses its result.
bool FusesIntoUsers(OpKind kind) {
  switch (kind) {
    case OpKind::kSource:
    case OpKind::kMove:
    case OpKind::kSlice:
    case OpKind::kGather:
    case OpKind::kVector:
    case OpKind::kTranscendental:
    case OpKind::kMap:
      return true;
    default:
      return false;
  }
}

// Elementwise work can be appended to it.
bool TakesEpilogue(OpKind kind) {
  return kind == OpKind::kDot || kind == OpKind::kConvolution || kind == OpKind::kReduce ||
         kind == OpKind::kReduceWindow;
}

// A value that is handed on as it is: reading it is reading its operand.
bool IsAlias(const Instruction& at) {
  return at.opcode == "bitcast" || at.opcode == "reshape" || at.opcode == "optimization-barrier" ||
         at.opcode == "opt-barrier";
}

class Fuser {
 public:
  Fuser(const Module& module, const Computation& computation, const std::vector<bool>& counted,
        DemandAnalysis& demand)
      : module_(module), computation_(computation), counted_(counted), demand_(demand) {}

  std::vector<double> Count() {
    const auto count = computation_.instructions.size();
    for (size_t i = 0; i < count; ++i) {
      position_.emplace(computation_.instructions[i].id, i);
    }
    LookAtUsers();
    FindEpilogues();
    reads_.resize(count);
    std::vector<double> bytes(count);
    for (size_t i = 0; i < count; ++i) {
      if (counted_[i]) bytes[i] = Visit(i);
    }
    return bytes;
  }

 private:
  struct Read {
    size_t source;
    double bytes;
  };
  using Reads = std::vector<Read>;

  OpKind Kind(size_t i) const {
    return KindOf(computation_.instructions[i].opcode).value_or(OpKind::kCustomCall);
  }

  void LookAtUsers() {
    const auto count = computation_.instructions.size();
    users_.resize(count);
    escapes_.resize(count);
    escapes_[position_.at(computation_.root)] = true;
    for (size_t i = 0; i < count; ++i) {
      if (!counted_[i]) continue;
      const Instruction& at = computation_.instructions[i];
      for (const int64_t id : at.operands) {
        const size_t operand = position_.at(id);
        users_[operand].push_back(i);
        const OpKind kind = Kind(i);
        // Tuples, loops and calls want an array that is there.
        if (kind == OpKind::kControl || (kind == OpKind::kFree && !IsAlias(at))) {
          escapes_[operand] = true;
        }
      }
    }
  }

  bool IsElementwise(size_t i) const {
    const Instruction& at = computation_.instructions[i];
    return Kind(i) == OpKind::kVector || Kind(i) == OpKind::kTranscendental ||
           at.opcode == "convert" || IsAlias(at);
  }

  // A product is computed once: its kernel ends, and writes, where all elementwise work on its
  // result has come together.
  void FindEpilogues() {
    inside_.resize(users_.size());
    ends_.resize(users_.size());
    for (size_t i = 0; i < users_.size(); ++i) {
      if (!counted_[i] || !TakesEpilogue(Kind(i))) continue;
      const std::optional<size_t> end = EpilogueEnd(i);
      inside_[i] = end.has_value();
      if (end) ends_[*end] = true;
    }
  }

  // nullopt: the result itself is wanted, or more than one value that is made from it.
  std::optional<size_t> EpilogueEnd(size_t product) const {
    std::set<size_t> open = {product};
    std::optional<size_t> end;
    for (int steps = 0; !open.empty(); ++steps) {
      const size_t at = *open.begin();
      open.erase(open.begin());
      const bool goes_on =
          !escapes_[at] && !users_[at].empty() &&
          std::ranges::all_of(users_[at], [this](size_t user) { return IsElementwise(user); });
      if (goes_on) {
        open.insert(users_[at].begin(), users_[at].end());
      } else if (end) {
        return std::nullopt;
      } else {
        end = at;
      }
      if (end == product || steps == kMaxEpilogue) return std::nullopt;
    }
    return end;
  }

  static void Merge(Reads& into, const Reads& more) {
    for (const Read& read : more) {
      const auto known = std::find_if(into.begin(), into.end(),
                                      [&](const Read& one) { return one.source == read.source; });
      if (known == into.end()) {
        into.push_back(read);
      } else {
        known->bytes = std::max(known->bytes, read.bytes);
      }
    }
  }

  // What the kernel that runs instruction i has to read for it.
  Reads InputsOf(size_t i) const {
    Reads inputs;
    const Instruction& at = computation_.instructions[i];
    for (const int64_t id : at.operands) Merge(inputs, reads_[position_.at(id)]);
    // Through a slice or a gather no more is read than comes out.
    if (Kind(i) == OpKind::kSlice || Kind(i) == OpKind::kGather) {
      const double out = MainBytes(at.shape);
      const Reads& sliced = reads_[position_.at(at.operands[0])];
      for (Read& read : inputs) {
        const bool of_array = std::any_of(sliced.begin(), sliced.end(), [&](const Read& one) {
          return one.source == read.source;
        });
        if (of_array) read.bytes = std::min(read.bytes, out);
      }
    }
    return inputs;
  }

  double Visit(size_t i) {
    const Instruction& at = computation_.instructions[i];
    const OpKind kind = Kind(i);
    const double out = MainBytes(at.shape);
    if (IsAlias(at) && !escapes_[i] && !ends_[i]) {
      reads_[i] = reads_[position_.at(at.operands[0])];
      return 0;
    }
    if ((kind == OpKind::kFree || kind == OpKind::kControl) && !ends_[i]) {
      reads_[i] = {{i, out}};
      return 0;
    }
    Reads inputs = InputsOf(i);
    const bool fused = FusesIntoUsers(kind) && !escapes_[i] && !ends_[i];
    if ((fused || inside_[i]) && inputs.size() <= kMaxInputs) {
      reads_[i] = std::move(inputs);
      return 0;
    }
    reads_[i] = {{i, out}};
    const bool own_rule = kind == OpKind::kUpdate || kind == OpKind::kScatter ||
                          kind == OpKind::kFusion || kind == OpKind::kCustomCall ||
                          kind == OpKind::kHost;
    if (own_rule) return UnfusedTraffic(module_, computation_, at, demand_).bytes;
    double bytes = out;
    for (const Read& read : inputs) bytes += read.bytes;
    return bytes;
  }

  const Module& module_;
  const Computation& computation_;
  const std::vector<bool>& counted_;
  DemandAnalysis& demand_;
  std::unordered_map<int64_t, size_t> position_;
  std::vector<std::vector<size_t>> users_;
  std::vector<bool> escapes_;
  std::vector<bool> inside_;  // products whose kernel goes on beyond them
  std::vector<bool> ends_;    // where such a kernel writes
  std::vector<Reads> reads_;
};

}  // namespace

Traffic UnfusedTraffic(const Module& module, const Computation& computation,
                       const Instruction& instruction, DemandAnalysis& demand,
                       const std::vector<bool>* made) {
  return Unfused(module, computation, instruction, demand, made).Count();
}

std::vector<bool> MadeWhereUsed(const Computation& computation, const std::vector<bool>& counted) {
  const std::vector<Instruction>& all = computation.instructions;
  std::vector<bool> made(all.size());
  const auto index = [&](const Instruction& at) { return static_cast<size_t>(&at - all.data()); };
  for (size_t i = 0; i < all.size(); ++i) {
    if (!counted[i] || all[i].id == computation.root) continue;
    made[i] =
        all[i].opcode == "iota" || (all[i].opcode == "broadcast" && !all[i].operands.empty() &&
                                    computation.Get(all[i].operands[0]).shape.dims.empty());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (!counted[i]) continue;
    const OpKind kind = KindOf(all[i].opcode).value_or(OpKind::kCustomCall);
    const bool makes = kind == OpKind::kVector || kind == OpKind::kTranscendental ||
                       kind == OpKind::kMap || kind == OpKind::kReduce ||
                       all[i].opcode == "convert";
    if (makes) continue;
    for (const int64_t id : all[i].operands) made[index(computation.Get(id))] = false;
  }
  return made;
}

std::vector<double> FusedTraffic(const Module& module, const Computation& computation,
                                 const std::vector<bool>& counted, DemandAnalysis& demand) {
  return Fuser(module, computation, counted, demand).Count();
}

}  // namespace ridgeline::hlo
