#include "hlo/cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hlo/custom_call.h"
#include "hlo/opcode.h"

namespace ridgeline::hlo {
namespace {

constexpr int kF32 = 11, kF64 = 12, kC64 = 15, kC128 = 18;

bool IsComplex(int primitive) { return primitive == kC64 || primitive == kC128; }

const Shape& FirstArray(const Shape& shape) {
  const Shape* at = &shape;
  while (at->is_tuple() && !at->tuple.empty()) at = &at->tuple[0];
  return *at;
}

const Shape* OperandShape(const Computation& computation, const Instruction& instruction,
                          size_t number) {
  if (number >= instruction.operands.size()) return nullptr;
  return &computation.Get(instruction.operands[number]).shape;
}

double Dimension(const Shape& shape, int64_t number) {
  const auto index = static_cast<size_t>(number);
  return number >= 0 && index < shape.dims.size() ? static_cast<double>(shape.dims[index]) : 1;
}

// x with value * x = 1 modulo `modulus`, by Euclid's algorithm; value and modulus share no factor.
__int128 Inverse(__int128 value, __int128 modulus) {
  __int128 a = value % modulus, b = modulus, x = 1, y = 0;
  while (a > 1) {
    const __int128 quotient = b / a;
    b -= quotient * a;
    y -= quotient * x;
    std::swap(a, b);
    std::swap(x, y);
  }
  return ((x % modulus) + modulus) % modulus;
}

// Numbers i in [0, count) for which start + i * step lies in [0, span) and is a multiple of
// `modulus`.
double CountInside(int64_t start, int64_t step, int64_t count, int64_t span, int64_t modulus) {
  if (step <= 0 || count <= 0 || span <= 0 || modulus <= 0) return 0;
  using Wide = __int128;
  const Wide first = start >= 0 ? 0 : (-Wide{start} + step - 1) / step;
  const Wide high = Wide{span} - 1 - start < 0 ? -1 : (Wide{span} - 1 - start) / step;
  const Wide last = std::min<Wide>(high, count - 1);
  const int64_t common = std::gcd(modulus, step);
  if (last < first || start % common != 0) return 0;
  // The multiples come every `period` steps from `phase` on.
  const Wide period = modulus / common;
  Wide phase = 0;
  if (period > 1) {
    const Wide wanted = ((-Wide{start} / common) % period + period) % period;
    phase = wanted * Inverse(step / common, period) % period;
  }
  const Wide next = phase >= first ? phase : phase + (first - phase + period - 1) / period * period;
  if (next > last) return 0;
  const Wide found = (last - next) / period + 1;
  return static_cast<double>(found);
}

double Log2(double value) { return value > 1 ? std::log2(value) : 0; }

double ComplexFactor(std::string_view opcode, int primitive) {
  if (!IsComplex(primitive)) return 1;
  if (opcode == "multiply") return 6;  // 4 products, 2 sums
  if (opcode == "divide") return 11;   // by the conjugate
  return 2;
}

OpCost Elementwise(const Computation& computation, const Instruction& instruction,
                   bool transcendental) {
  // The comparison of f32 is f32 arithmetic, though its result is pred; a select's kind is that of
  // what it selects.
  const Shape* operand = OperandShape(
      computation, instruction, instruction.operands.empty() ? 0 : instruction.operands.size() - 1);
  const int type = operand ? operand->primitive : instruction.shape.primitive;
  const double count = instruction.shape.elements() * ComplexFactor(instruction.opcode, type);
  OpCost cost;
  cost.type = RealType(type);
  (transcendental ? cost.transcendental : cost.vector) = count;
  return cost;
}

OpCost Dot(const Computation& computation, const Instruction& instruction) {
  OpCost cost;
  const Shape* lhs = OperandShape(computation, instruction, 0);
  const Shape* rhs = OperandShape(computation, instruction, 1);
  if (!instruction.dot || lhs == nullptr || rhs == nullptr) {
    cost.uncounted = "its dimension numbers are not readable";
    return cost;
  }
  double summed = 1;
  for (const int64_t dim : instruction.dot->lhs_contracting) summed *= Dimension(*lhs, dim);
  cost.matrix = (IsComplex(lhs->primitive) ? 8 : 2) * instruction.shape.elements() * summed;
  // Of mixed operands the wider one: the other is converted.
  const Shape one_lhs{.primitive = lhs->primitive, .dims = {}, .tuple = {}, .minor_to_major = {}};
  const Shape one_rhs{.primitive = rhs->primitive, .dims = {}, .tuple = {}, .minor_to_major = {}};
  cost.type = RealType(one_rhs.bytes() > one_lhs.bytes() ? rhs->primitive : lhs->primitive);
  return cost;
}

OpCost Convolution(const Computation& computation, const Instruction& instruction) {
  OpCost cost;
  const Shape* input = OperandShape(computation, instruction, 0);
  const Shape* kernel = OperandShape(computation, instruction, 1);
  if (!instruction.convolution || input == nullptr || kernel == nullptr ||
      instruction.convolution->input_spatial.size() < instruction.window.size() ||
      instruction.convolution->output_spatial.size() < instruction.window.size()) {
    cost.uncounted = "its dimension numbers are not readable";
    return cost;
  }
  const ConvolutionDimensions& numbers = *instruction.convolution;
  // The kernel's input features are those of one group already.
  double macs = Dimension(instruction.shape, numbers.output_batch) *
                Dimension(instruction.shape, numbers.output_feature) *
                Dimension(*kernel, numbers.kernel_input_feature);
  for (size_t i = 0; i < instruction.window.size(); ++i) {
    macs *= ValidTaps(static_cast<int64_t>(Dimension(*input, numbers.input_spatial[i])),
                      static_cast<int64_t>(Dimension(instruction.shape, numbers.output_spatial[i])),
                      instruction.window[i]);
  }
  cost.matrix = (IsComplex(input->primitive) ? 8 : 2) * macs;
  cost.type = RealType(input->primitive);
  return cost;
}

// A running sum along a dimension: the window is as long as the dimension and hangs over one end.
bool IsRunning(const WindowDimension& window, int64_t inputs, int64_t outputs) {
  return window.size == inputs && outputs == inputs && window.stride == 1 &&
         window.window_dilation == 1 && window.base_dilation == 1 && window.size > 1 &&
         (window.padding_low == 0 || window.padding_high == 0);
}

// Applications of the function in a reduce-window.
double WindowSums(const Shape& input, const Instruction& instruction) {
  const Shape& out = FirstArray(instruction.shape);
  double taps = 1;
  for (size_t i = 0; i < instruction.window.size(); ++i) {
    const auto inputs = static_cast<int64_t>(Dimension(input, static_cast<int64_t>(i)));
    const auto outputs = static_cast<int64_t>(Dimension(out, static_cast<int64_t>(i)));
    const WindowDimension& window = instruction.window[i];
    taps *= IsRunning(window, inputs, outputs) ? 2 * static_cast<double>(inputs) - 1
                                               : ValidTaps(inputs, outputs, window);
  }
  return std::max(0.0, taps - out.elements());
}

double Fft(const Instruction& instruction, const Shape& input) {
  double points = 1;
  for (const int64_t length : instruction.fft_length) points *= static_cast<double>(length);
  const bool real =
      instruction.fft_type == FftType::kReal || instruction.fft_type == FftType::kInverseReal;
  // Of a real transform the real side holds all points.
  const double elements = real
                              ? std::max(input.elements(), FirstArray(instruction.shape).elements())
                              : input.elements();
  return (real ? 2.5 : 5) * elements * Log2(points);
}

double Sort(const Instruction& instruction, const Shape& keys) {
  const double line =
      instruction.dimensions.empty() ? 1 : Dimension(keys, instruction.dimensions[0]);
  return keys.elements() * Log2(line);
}

}  // namespace

int RealType(int primitive) {
  if (primitive == kC64) return kF32;
  if (primitive == kC128) return kF64;
  return primitive;
}

double ValidTaps(int64_t inputs, int64_t outputs, const WindowDimension& window) {
  // Base dilation puts holes between the elements; only its multiples hold one.
  if (inputs <= 0 || outputs <= 0 || window.base_dilation <= 0) return 0;
  const __int128 wide_span = static_cast<__int128>(inputs - 1) * window.base_dilation + 1;
  const auto span =
      static_cast<int64_t>(std::min<__int128>(wide_span, std::numeric_limits<int64_t>::max()));
  // Walk the shorter of taps and outputs, count the other in closed form.
  constexpr int64_t kMaxWalk = 10'000'000;
  const bool walk_taps = window.size <= outputs;
  const int64_t steps = walk_taps ? window.size : outputs;
  if (steps > kMaxWalk) return static_cast<double>(window.size) * static_cast<double>(outputs);
  double pairs = 0;
  for (int64_t i = 0; i < steps; ++i) {
    const __int128 offset =
        static_cast<__int128>(i) * (walk_taps ? window.window_dilation : window.stride) -
        window.padding_low;
    if (offset > span) break;
    if (offset < std::numeric_limits<int64_t>::min() / 2) continue;
    pairs += CountInside(static_cast<int64_t>(offset),
                         walk_taps ? window.stride : window.window_dilation,
                         walk_taps ? outputs : window.size, span, window.base_dilation);
  }
  return pairs;
}

CostModel::Function CostModel::Applied(const Instruction& instruction) {
  if (instruction.called.empty()) return {1, 0};
  const int64_t id = instruction.called.back();  // select-and-scatter: select, scatter
  if (const auto found = functions_.find(id); found != functions_.end()) return found->second;
  functions_[id] = {};
  Function function;
  const Computation& computation = module_.Get(id);
  for (const Instruction& inner : computation.instructions) {
    const OpCost cost = Count(computation, inner);
    function.vector += cost.vector + cost.matrix;
    function.transcendental += cost.transcendental;
    for (const int64_t callee : RunsInPlace(inner)) {
      Instruction call;
      call.called = {callee};
      const Function nested = Applied(call);
      function.vector += nested.vector;
      function.transcendental += nested.transcendental;
    }
  }
  return functions_[id] = function;
}

OpCost CostModel::Count(const Computation& computation, const Instruction& instruction,
                        double group_size) {
  OpCost cost;
  const std::optional<OpKind> kind = KindOf(instruction.opcode);
  if (!kind) {
    cost.uncounted = "an opcode that this version does not know";
    return cost;
  }
  const Shape* input = OperandShape(computation, instruction, 0);
  if (input == nullptr) return cost;
  cost.type = RealType(FirstArray(*input).primitive);
  const auto apply = [&](double times) {
    const Function function = Applied(instruction);
    cost.vector = times * function.vector;
    cost.transcendental = times * function.transcendental;
  };
  switch (*kind) {
    case OpKind::kVector:
      return Elementwise(computation, instruction, false);
    case OpKind::kTranscendental:
      return Elementwise(computation, instruction, true);
    case OpKind::kDot:
      return Dot(computation, instruction);
    case OpKind::kConvolution:
      return Convolution(computation, instruction);
    case OpKind::kReduce:
      apply(std::max(0.0, input->elements() - FirstArray(instruction.shape).elements()));
      break;
    case OpKind::kReduceWindow:
      apply(WindowSums(*input, instruction));
      break;
    case OpKind::kSelectAndScatter: {
      // A comparison a tap but the first of each window, and one function an element scattered.
      const Shape* source = OperandShape(computation, instruction, 1);
      const double scattered = source ? source->elements() : 0;
      apply(scattered);
      double taps = 1;
      for (const WindowDimension& window : instruction.window) {
        taps *= static_cast<double>(window.size);
      }
      cost.vector += scattered * std::max(0.0, taps - 1);
      break;
    }
    case OpKind::kScatter: {
      const Shape* updates =
          OperandShape(computation, instruction, instruction.operands.size() - 1);
      apply(updates->elements());
      break;
    }
    case OpKind::kMap:
      apply(instruction.shape.elements());
      break;
    case OpKind::kSort:
      cost.vector = Sort(instruction, *input);
      break;
    case OpKind::kTopK:
      cost.vector = input->elements();
      cost.note = "one comparison an element, the least there can be";
      break;
    case OpKind::kFft:
      cost.vector = Fft(instruction, *input);
      break;
    case OpKind::kCholesky:
      cost.vector =
          input->elements() * Dimension(*input, static_cast<int64_t>(input->dims.size()) - 1) / 3;
      break;
    case OpKind::kTriangularSolve:
      cost.vector = FirstArray(instruction.shape).elements() *
                    Dimension(*input, static_cast<int64_t>(input->dims.size()) - 1);
      break;
    case OpKind::kBatchNorm:
      // Normalising takes 4 an element; statistics 4 more; gradients 11.
      cost.vector = input->elements() * (instruction.opcode == "batch-norm-grad"       ? 11
                                         : instruction.opcode == "batch-norm-training" ? 8
                                                                                       : 4);
      break;
    case OpKind::kCollective:
      if (BaseOpcode(instruction.opcode) == "all-reduce" ||
          instruction.opcode == "reduce-scatter") {
        double elements = 0;
        for (size_t i = 0; i < instruction.operands.size(); ++i) {
          elements += OperandShape(computation, instruction, i)->elements();
        }
        apply(elements * (1 - 1 / std::max(1.0, group_size)));
      }
      break;
    case OpKind::kCustomCall:
      return CostOfCustomCall(computation, instruction);
    case OpKind::kFree:
    case OpKind::kSource:
    case OpKind::kMove:
    case OpKind::kSlice:
    case OpKind::kGather:
    case OpKind::kUpdate:
    case OpKind::kRandom:  // integer mixing, by an algorithm that the device chooses
    case OpKind::kFusion:
    case OpKind::kControl:
    case OpKind::kHost:
      break;
  }
  return cost;
}

}  // namespace ridgeline::hlo
