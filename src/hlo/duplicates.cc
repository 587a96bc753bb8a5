#include "hlo/duplicates.h"

#include <algorithm>

#include "hlo/opcode.h"

namespace ridgeline::hlo {
namespace {

// splitmix64's finalizer (Steele, Lea, Flood 2014): every bit of the input reaches every other.
uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

uint64_t Combine(uint64_t a, uint64_t b) { return Mix(a * 0x9e3779b97f4a7c15ull + b); }

bool IsUnique(const Instruction& at) {
  switch (KindOf(at.opcode).value_or(OpKind::kCustomCall)) {
    case OpKind::kCollective:
    case OpKind::kHost:
    case OpKind::kRandom:
      return true;
    case OpKind::kCustomCall:
      return at.side_effect || at.opcode != "custom-call";
    default:
      return at.opcode.ends_with("-done") || at.opcode == "after-all";
  }
}

// Value numbers of a computation: equal numbers, equal values.
class Numbering {
 public:
  template <typename Meaning>
  void Add(const Instruction& at, size_t position, const Meaning& meaning) {
    uint64_t number = Combine(at.fingerprint, at.operands.size());
    for (const int64_t operand : at.operands) number = Combine(number, numbers_.at(operand));
    for (const int64_t callee : at.called) number = Combine(number, meaning(callee));
    if (IsUnique(at)) number = Combine(number, position + 1);
    numbers_[at.id] = number;
  }
  uint64_t Of(int64_t id) const { return numbers_.at(id); }

 private:
  std::unordered_map<int64_t, uint64_t> numbers_;
};

}  // namespace

uint64_t DuplicateFinder::Meaning(int64_t computation) {
  if (const auto found = meanings_.find(computation); found != meanings_.end()) {
    return found->second;
  }
  const Computation& at = module_.Get(computation);
  Numbering numbering;
  for (size_t i = 0; i < at.instructions.size(); ++i) {
    numbering.Add(at.instructions[i], i, [this](int64_t callee) { return Meaning(callee); });
  }
  return meanings_[computation] = numbering.Of(at.root);
}

std::vector<bool> DuplicateFinder::Find(const Computation& computation) {
  std::vector<bool> duplicate(computation.instructions.size());
  std::unordered_map<uint64_t, size_t> first;
  Numbering numbering;
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& at = computation.instructions[i];
    numbering.Add(at, i, [this](int64_t callee) { return Meaning(callee); });
    duplicate[i] = !first.emplace(numbering.Of(at.id), i).second;
  }
  return duplicate;
}

}  // namespace ridgeline::hlo
