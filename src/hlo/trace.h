// Where a value of a compiled program comes from: through tuples, copies, fusions and calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "hlo/module.h"

namespace ridgeline::hlo {

// One computation as it runs in one place: its caller and the frame that the caller stands in.
struct Frame {
  const Computation* computation = nullptr;
  const Instruction* caller = nullptr;  // none for the entry
  const Frame* outer = nullptr;
};

struct Value {
  const Instruction* instruction = nullptr;
  const Frame* frame = nullptr;
  std::vector<int64_t> path;  // element of a tuple, outermost index last
};

// A scalar integer as far as it is known without running: base + offset.
struct Scalar {
  enum class Base { kUnknown, kConstant, kParameter, kCarried };
  Base base = Base::kUnknown;
  int64_t index = 0;   // kParameter: number of the entry's; kCarried: element of the loop's tuple
  int64_t offset = 0;  // kConstant: the value
};

class Tracer {
 public:
  explicit Tracer(const Module& module) : module_(module) {}

  const Module& module() const { return module_; }

  // The same frame for the same place.
  const Frame* Enter(int64_t computation, const Instruction* caller, const Frame* outer);

  // Walks back through what only hands a value on. Stops at an instruction that makes a value, at
  // a parameter of the entry, or at the parameter of a loop body or condition (path: its element).
  Value Resolve(Value value);
  Value Operand(const Value& value, size_t number) const;
  Scalar Evaluate(const Value& value, int depth = 0);

  // Whether nothing but constants goes into the value. A value that a loop carries unchanged is
  // what it was before the loop.
  bool IsConstant(const Value& value);

  // Element of a `while`'s tuple: before the loop, and as the body leaves it.
  Value Before(const Instruction& loop, const Frame* frame, int64_t element) const;
  Value AfterRound(const Instruction& loop, const Frame* frame, int64_t element);

 private:
  // Instructions that one question looks at before the answer is "unknown" or "no".
  static constexpr int kMaxSteps = 20000;
  bool IsConstant(const Value& value, std::map<Value, bool>& seen, int depth);

  const Module& module_;
  int evaluated_ = 0;
  std::map<std::tuple<const Instruction*, const Frame*, int64_t>, std::unique_ptr<Frame>> frames_;
};

bool operator<(const Value& a, const Value& b);

}  // namespace ridgeline::hlo
