// Writes StableHLO statements: one function an operation, each returns the value that it defines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"

namespace ridgeline::programs {

// An SSA value: "%7" and its type.
struct Value {
  std::string name;
  Shape shape;
};

struct DotDims {
  std::vector<int64_t> lhs_batch;
  std::vector<int64_t> rhs_batch;
  std::vector<int64_t> lhs_contract;
  std::vector<int64_t> rhs_contract;
};

class Body {
 public:
  // `prefix` keeps the names of nested regions apart.
  explicit Body(std::string prefix = "v", int indent = 4);

  // A statement of the form "NAME = TEXT"; `text` holds the whole right-hand side, with its types.
  Value Define(std::string text, Shape result);
  // The first of `results` results of one statement.
  Value DefineFirst(std::string text, int results, Shape first);
  // "add", "multiply", "maximum" …: operands of one shape.
  Value Binary(std::string_view op, const Value& a, const Value& b);
  // "exponential", "tanh", "rsqrt", "negate" …
  Value Unary(std::string_view op, const Value& a);
  Value Convert(const Value& a, DType dtype);
  // A scalar constant broadcast to `shape`.
  Value Splat(double value, const Shape& shape);
  // dims[i] is the dimension of the result that dimension i of `a` becomes.
  Value Broadcast(const Value& a, const std::vector<int64_t>& dims, std::vector<int64_t> to);
  Value Reshape(const Value& a, std::vector<int64_t> to);
  Value Transpose(const Value& a, const std::vector<int64_t>& permutation);
  // strides may be empty (all 1).
  Value Slice(const Value& a, const std::vector<int64_t>& start, const std::vector<int64_t>& limit,
              const std::vector<int64_t>& strides = {});
  Value Concatenate(const std::vector<Value>& parts, int64_t dimension);
  Value Iota(Shape shape, int64_t dimension);
  // "GE", "LT" …; the result is pred.
  Value Compare(std::string_view direction, const Value& a, const Value& b);
  Value Select(const Value& predicate, const Value& on_true, const Value& on_false);
  // Reduces `dims` with "add" or "maximum" from `initial`.
  Value Reduce(std::string_view op, const Value& a, double initial,
               const std::vector<int64_t>& dims);
  // `a`, row-major in memory. A compiler may lay out an array as it likes, and so do the moving of
  // a transpose once, outside of the loop; between pinned arrays it cannot.
  Value RowMajor(const Value& a);
  // Starts are scalars of s32, one a dimension.
  Value DynamicSlice(const Value& a, const std::vector<Value>& start, std::vector<int64_t> sizes);
  Value DynamicUpdateSlice(const Value& a, const Value& part, const std::vector<Value>& start);
  // An inner loop of `rounds` rounds, a constant. `round` gets the round's number (scalar s32) and
  // the state, and returns the next state, of the same shapes. Names from outside are not seen in
  // it: all that it reads is state.
  using RoundWriter = std::function<std::vector<Value>(Body& body, const Value& round,
                                                       const std::vector<Value>& state)>;
  std::vector<Value> Repeat(int64_t rounds, const std::vector<Value>& initial,
                            const RoundWriter& round);
  // Result: batch, free dimensions of a, free dimensions of b. `attributes` is text such as
  // "precision = [HIGHEST, HIGHEST]".
  Value Dot(const Value& a, const Value& b, const DotDims& dims, DType result,
            std::string_view attributes = "");

  const std::string& text() const { return text_; }

 private:
  std::string prefix_;
  std::string indent_;
  int next_ = 0;
  std::string text_;
};

// "0.000000e+00", "-inf" as the hex pattern that StableHLO wants, "3" for integers, "true".
std::string Literal(double value, DType dtype);

}  // namespace ridgeline::programs
