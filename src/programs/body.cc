#include "programs/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ridgeline::programs {
namespace {

std::string List(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string Signature(const std::vector<Value>& operands, const Shape& result) {
  std::vector<std::string> types;
  for (const Value& operand : operands) types.push_back(operand.shape.ToStableHlo());
  return fmt::format("({}) -> {}", fmt::join(types, ", "), result.ToStableHlo());
}

std::string_view CompareType(DType dtype) {
  switch (Info(dtype).kind) {
    case DTypeKind::kFloat:
      return "FLOAT";
    case DTypeKind::kSigned:
      return "SIGNED";
    default:
      return "UNSIGNED";
  }
}

}  // namespace

std::string Literal(double value, DType dtype) {
  if (dtype == DType::kPred) return value != 0 ? "true" : "false";
  if (!IsFloat(dtype)) return fmt::format("{}", static_cast<int64_t>(value));
  if (std::isinf(value)) {
    // Sign, all-ones exponent, zero fraction, in the width of the dtype.
    const int bits = Info(dtype).bits;
    const uint64_t exponent_ones = (uint64_t{1} << (bits - 1 - Info(dtype).fraction_bits)) - 1;
    const uint64_t pattern =
        (exponent_ones << Info(dtype).fraction_bits) | (value < 0 ? uint64_t{1} << (bits - 1) : 0);
    return fmt::format("0x{:0{}X}", pattern, bits / 4);
  }
  return fmt::format("{:e}", value);
}

Body::Body(std::string prefix, int indent)
    : prefix_(std::move(prefix)), indent_(static_cast<size_t>(indent), ' ') {}

Value Body::Define(std::string text, Shape result) {
  Value value{fmt::format("%{}{}", prefix_, next_++), std::move(result)};
  text_ += fmt::format("{}{} = {}\n", indent_, value.name, text);
  return value;
}

Value Body::DefineFirst(std::string text, int results, Shape first) {
  const std::string name = fmt::format("%{}{}", prefix_, next_++);
  text_ += fmt::format("{}{}:{} = {}\n", indent_, name, results, text);
  return {name + "#0", std::move(first)};
}

Value Body::Binary(std::string_view op, const Value& a, const Value& b) {
  return Define(fmt::format("stablehlo.{} {}, {} : {}", op, a.name, b.name, a.shape.ToStableHlo()),
                a.shape);
}

Value Body::Unary(std::string_view op, const Value& a) {
  return Define(fmt::format("stablehlo.{} {} : {}", op, a.name, a.shape.ToStableHlo()), a.shape);
}

Value Body::Convert(const Value& a, DType dtype) {
  const Shape result{dtype, a.shape.dims};
  return Define(fmt::format("stablehlo.convert {} : {}", a.name, Signature({a}, result)), result);
}

Value Body::Splat(double value, const Shape& shape) {
  const Shape scalar{shape.dtype, {}};
  const Value constant = Define(fmt::format("stablehlo.constant dense<{}> : {}",
                                            Literal(value, shape.dtype), scalar.ToStableHlo()),
                                scalar);
  return shape.dims.empty() ? constant : Broadcast(constant, {}, shape.dims);
}

Value Body::Broadcast(const Value& a, const std::vector<int64_t>& dims, std::vector<int64_t> to) {
  const Shape result{a.shape.dtype, std::move(to)};
  return Define(fmt::format("stablehlo.broadcast_in_dim {}, dims = {} : {}", a.name, List(dims),
                            Signature({a}, result)),
                result);
}

Value Body::Reshape(const Value& a, std::vector<int64_t> to) {
  const Shape result{a.shape.dtype, std::move(to)};
  return Define(fmt::format("stablehlo.reshape {} : {}", a.name, Signature({a}, result)), result);
}

Value Body::Transpose(const Value& a, const std::vector<int64_t>& permutation) {
  Shape result{a.shape.dtype, {}};
  for (const int64_t d : permutation) result.dims.push_back(a.shape.dims[static_cast<size_t>(d)]);
  return Define(fmt::format("stablehlo.transpose {}, dims = {} : {}", a.name, List(permutation),
                            Signature({a}, result)),
                result);
}

Value Body::Slice(const Value& a, const std::vector<int64_t>& start,
                  const std::vector<int64_t>& limit, const std::vector<int64_t>& strides) {
  Shape result{a.shape.dtype, {}};
  std::vector<std::string> ranges;
  for (size_t d = 0; d < start.size(); ++d) {
    const int64_t stride = strides.empty() ? 1 : strides[d];
    result.dims.push_back((limit[d] - start[d] + stride - 1) / stride);
    ranges.push_back(stride == 1 ? fmt::format("{}:{}", start[d], limit[d])
                                 : fmt::format("{}:{}:{}", start[d], limit[d], stride));
  }
  return Define(fmt::format("stablehlo.slice {} [{}] : {}", a.name, fmt::join(ranges, ", "),
                            Signature({a}, result)),
                result);
}

Value Body::Concatenate(const std::vector<Value>& parts, int64_t dimension) {
  Shape result = parts.front().shape;
  int64_t& extent = result.dims[static_cast<size_t>(dimension)];
  extent = 0;
  std::vector<std::string> names;
  for (const Value& part : parts) {
    extent += part.shape.dims[static_cast<size_t>(dimension)];
    names.push_back(part.name);
  }
  return Define(fmt::format("stablehlo.concatenate {}, dim = {} : {}", fmt::join(names, ", "),
                            dimension, Signature(parts, result)),
                result);
}

Value Body::Iota(Shape shape, int64_t dimension) {
  std::string text = fmt::format("stablehlo.iota dim = {} : {}", dimension, shape.ToStableHlo());
  return Define(std::move(text), std::move(shape));
}

Value Body::Compare(std::string_view direction, const Value& a, const Value& b) {
  const Shape result{DType::kPred, a.shape.dims};
  return Define(fmt::format("stablehlo.compare {}, {}, {}, {} : {}", direction, a.name, b.name,
                            CompareType(a.shape.dtype), Signature({a, b}, result)),
                result);
}

Value Body::Select(const Value& predicate, const Value& on_true, const Value& on_false) {
  return Define(
      fmt::format("stablehlo.select {}, {}, {} : {}, {}", predicate.name, on_true.name,
                  on_false.name, predicate.shape.ToStableHlo(), on_true.shape.ToStableHlo()),
      on_true.shape);
}

Value Body::Reduce(std::string_view op, const Value& a, double initial,
                   const std::vector<int64_t>& dims) {
  const Shape scalar{a.shape.dtype, {}};
  const Value start = Splat(initial, scalar);
  Shape result{a.shape.dtype, {}};
  for (size_t d = 0; d < a.shape.dims.size(); ++d) {
    if (std::ranges::find(dims, static_cast<int64_t>(d)) == dims.end()) {
      result.dims.push_back(a.shape.dims[d]);
    }
  }
  return Define(fmt::format("stablehlo.reduce({} init: {}) applies stablehlo.{} across dimensions "
                            "= {} : {}",
                            a.name, start.name, op, List(dims), Signature({a, start}, result)),
                result);
}

Value Body::RowMajor(const Value& a) {
  std::vector<size_t> minor_to_major(a.shape.dims.size());
  std::iota(minor_to_major.rbegin(), minor_to_major.rend(), size_t{0});
  const std::string layout = fmt::format("[dense<[{}]> : tensor<{}xindex>]",
                                         fmt::join(minor_to_major, ", "), minor_to_major.size());
  return Define(fmt::format("stablehlo.custom_call @LayoutConstraint({}) {{operand_layouts = {}, "
                            "result_layouts = {}}} : {}",
                            a.name, layout, layout, Signature({a}, a.shape)),
                a.shape);
}

Value Body::DynamicSlice(const Value& a, const std::vector<Value>& start,
                         std::vector<int64_t> sizes) {
  const Shape result{a.shape.dtype, std::move(sizes)};
  std::vector<std::string> names;
  std::vector<Value> operands = {a};
  for (const Value& s : start) {
    names.push_back(s.name);
    operands.push_back(s);
  }
  return Define(fmt::format("stablehlo.dynamic_slice {}, {}, sizes = {} : {}", a.name,
                            fmt::join(names, ", "), List(result.dims), Signature(operands, result)),
                result);
}

Value Body::DynamicUpdateSlice(const Value& a, const Value& part, const std::vector<Value>& start) {
  std::vector<std::string> names;
  std::vector<Value> operands = {a, part};
  for (const Value& s : start) {
    names.push_back(s.name);
    operands.push_back(s);
  }
  return Define(fmt::format("stablehlo.dynamic_update_slice {}, {}, {} : {}", a.name, part.name,
                            fmt::join(names, ", "), Signature(operands, a.shape)),
                a.shape);
}

std::vector<Value> Body::Repeat(int64_t rounds, const std::vector<Value>& initial,
                                const RoundWriter& round) {
  const Shape counter{DType::kS32, {}};
  const std::string name = fmt::format("{}{}", prefix_, next_++);
  const Value zero = Splat(0, counter);
  const Value number{fmt::format("%{}i", name), counter};
  std::vector<Value> state;
  std::vector<std::string> bindings = {number.name + " = " + zero.name};
  std::vector<std::string> types = {counter.ToStableHlo()};
  for (const Value& value : initial) {
    state.push_back({fmt::format("%{}s{}", name, state.size()), value.shape});
    bindings.push_back(state.back().name + " = " + value.name);
    types.push_back(value.shape.ToStableHlo());
  }
  Body condition(name + "c", static_cast<int>(indent_.size()) + 4);
  const Value more =
      condition.Compare("LT", number, condition.Splat(static_cast<double>(rounds), counter));
  Body inner(name + "v", static_cast<int>(indent_.size()) + 4);
  std::vector<Value> next = round(inner, number, state);
  next.insert(next.begin(), inner.Binary("add", number, inner.Splat(1, counter)));
  std::vector<std::string> returned;
  for (const Value& value : next) returned.push_back(value.name);
  text_ += fmt::format("{0}%{1}:{2} = stablehlo.while({3}) : {4}\n", indent_, name, next.size(),
                       fmt::join(bindings, ", "), fmt::join(types, ", "));
  text_ +=
      fmt::format("{0}  cond {{\n{1}{0}    stablehlo.return {2} : {3}\n{0}  }} do {{\n{4}", indent_,
                  condition.text(), more.name, more.shape.ToStableHlo(), inner.text());
  text_ += fmt::format("{0}    stablehlo.return {1} : {2}\n{0}  }}\n", indent_,
                       fmt::join(returned, ", "), fmt::join(types, ", "));
  std::vector<Value> results;
  for (const Value& value : initial) {
    results.push_back({fmt::format("%{}#{}", name, results.size() + 1), value.shape});
  }
  return results;
}

Value Body::Dot(const Value& a, const Value& b, const DotDims& dims, DType result,
                std::string_view attributes) {
  Shape shape{result, {}};
  for (const int64_t d : dims.lhs_batch) shape.dims.push_back(a.shape.dims[static_cast<size_t>(d)]);
  const auto add_free = [&shape](const Value& v, const std::vector<int64_t>& batch,
                                 const std::vector<int64_t>& contract) {
    for (size_t d = 0; d < v.shape.dims.size(); ++d) {
      const auto dim = static_cast<int64_t>(d);
      if (std::ranges::find(batch, dim) == batch.end() &&
          std::ranges::find(contract, dim) == contract.end()) {
        shape.dims.push_back(v.shape.dims[d]);
      }
    }
  };
  add_free(a, dims.lhs_batch, dims.lhs_contract);
  add_free(b, dims.rhs_batch, dims.rhs_contract);
  std::string text = fmt::format("stablehlo.dot_general {}, {}", a.name, b.name);
  if (!dims.lhs_batch.empty()) {
    text += fmt::format(", batching_dims = {} x {}", List(dims.lhs_batch), List(dims.rhs_batch));
  }
  text +=
      fmt::format(", contracting_dims = {} x {}", List(dims.lhs_contract), List(dims.rhs_contract));
  if (!attributes.empty()) text += fmt::format(", {}", attributes);
  return Define(text + " : " + Signature({a, b}, shape), shape);
}

}  // namespace ridgeline::programs
