#include "hlo/inline.h"

#include <algorithm>
#include <unordered_map>

namespace ridgeline::hlo {
namespace {

// The inlined module has at most so many instructions: some copies of a small one, few of a large.
constexpr size_t kFactor = 4;
constexpr size_t kFreely = 100'000;

class Inliner {
 public:
  explicit Inliner(const Module& module) : module_(module) {
    for (const Computation& computation : module.computations) {
      total_ += computation.instructions.size();
    }
    limit_ = kFactor * total_ + kFreely;
  }

  Result<Module> Run() {
    Module out = module_;
    for (const size_t index : CalleesFirst()) {
      Computation& computation = out.computations[index];
      Rewrite(computation);
      done_[computation.id] = &computation;
    }
    RL_CHECK_OK(out.Link());
    return out;
  }

 private:
  std::vector<size_t> CalleesFirst() const {
    std::unordered_map<int64_t, size_t> position;
    std::unordered_map<int64_t, size_t> waiting;  // calls of it that are not visited
    for (size_t i = 0; i < module_.computations.size(); ++i) {
      position[module_.computations[i].id] = i;
      for (const Instruction& at : module_.computations[i].instructions) {
        for (const int64_t callee : at.called) ++waiting[callee];
      }
    }
    std::vector<size_t> order;
    for (size_t i = 0; i < module_.computations.size(); ++i) {
      if (waiting[module_.computations[i].id] == 0) order.push_back(i);
    }
    for (size_t next = 0; next < order.size(); ++next) {
      for (const Instruction& at : module_.computations[order[next]].instructions) {
        for (const int64_t callee : at.called) {
          if (--waiting[callee] == 0) order.push_back(position[callee]);
        }
      }
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  bool Inlines(const Instruction& at) {
    if (at.opcode != "call" || at.called.size() != 1) return false;
    const Computation& callee = *done_.at(at.called[0]);
    if (callee.name.starts_with(kManualComputation)) return false;
    if (total_ + callee.instructions.size() > limit_) return false;
    total_ += callee.instructions.size();
    return true;
  }

  void Rewrite(Computation& computation) {
    const bool calls = std::any_of(computation.instructions.begin(), computation.instructions.end(),
                                   [](const Instruction& at) { return at.opcode == "call"; });
    if (!calls) return;
    std::vector<Instruction> out;
    std::unordered_map<int64_t, int64_t> renamed;  // id here -> id in `out`
    int64_t next_id = 0;
    for (Instruction& at : computation.instructions) {
      std::vector<int64_t> operands;
      for (const int64_t operand : at.operands) operands.push_back(renamed.at(operand));
      const int64_t id = at.id;
      if (Inlines(at)) {
        renamed[id] = Splice(*done_.at(at.called[0]), operands, out, next_id);
        continue;
      }
      at.operands = std::move(operands);
      at.id = renamed[id] = next_id++;
      out.push_back(std::move(at));
    }
    computation.root = renamed.at(computation.root);
    computation.instructions = std::move(out);
  }

  // The callee's instructions behind what `out` holds; the id of its result.
  static int64_t Splice(const Computation& callee, const std::vector<int64_t>& operands,
                        std::vector<Instruction>& out, int64_t& next_id) {
    std::unordered_map<int64_t, int64_t> renamed;
    for (const Instruction& at : callee.instructions) {
      const auto number = static_cast<size_t>(std::max<int64_t>(0, at.parameter_number));
      if (at.opcode == "parameter" && number < operands.size()) {
        renamed[at.id] = operands[number];
        continue;
      }
      Instruction copy = at;
      for (int64_t& operand : copy.operands) operand = renamed.at(operand);
      copy.id = renamed[at.id] = next_id++;
      out.push_back(std::move(copy));
    }
    return renamed.at(callee.root);
  }

  const Module& module_;
  size_t total_ = 0;
  size_t limit_ = 0;
  std::unordered_map<int64_t, const Computation*> done_;
};

}  // namespace

Result<Module> InlineCalls(const Module& module) { return Inliner(module).Run(); }

}  // namespace ridgeline::hlo
