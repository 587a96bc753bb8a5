// Chains of elementwise operations on each element: the rate of the vector units, as every element
// is read once and used many times. A chain alone would show how long one operation takes before
// the next may start; eight side by side keep the units busy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Fill;
using programs::Program;
using programs::Value;

constexpr int kChains = 8;
// Chain c starts at x + (c + 1) / 16, and its end is that much more too; exact in every type.
double Offset(int chain) { return (chain + 1) * 0.0625; }

// One step of a chain is x = combine(x, y), then x = f(x) where f is named. The values stay in
// range and differ between elements however long the chain is.
struct Step {
  std::string_view name;
  std::string_view combine;  // StableHLO's name
  bool y_first = false;      // combine(y, x)
  bool transcendental = false;
  Fill x;
  Fill y;
};

const Step kSteps[] = {
    {"add", "add", false, false, {}, {}},
    // Factors near 1, so that 64 steps would change x by e^2 at most, and x far from subnormals.
    {"multiply",
     "multiply",
     false,
     false,
     {.scale = 0.25, .mean = 2},
     {.scale = 0x1p-7, .mean = 1}},
    // Towards the solution of x = exp(y - x), which is y's own.
    {"exponential", "subtract", true, true, {.scale = 0.25}, {.scale = 0.25}},
    {"tanh", "add", false, true, {}, {}},
    // Both positive: |normal| <= 4.2.
    {"rsqrt", "add", false, true, {.scale = 0.2, .mean = 1}, {.scale = 0.25, .mean = 2}}};

const Step& StepOf(const Params& params) {
  const std::string& op = params.Text("op");
  return *std::ranges::find(kSteps, std::string_view(op), &Step::name);
}

Value WriteStep(Body& body, const Step& step, const Value& x, const Value& y) {
  const Value sum =
      step.y_first ? body.Binary(step.combine, y, x) : body.Binary(step.combine, x, y);
  return step.transcendental ? body.Unary(step.name, sum) : sum;
}

// The sum of all chains, in pairs.
template <typename Value, typename F>
Value SumInPairs(std::array<Value, kChains> values, const F& add) {
  for (size_t half = kChains / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) values[i] = add(values[i], values[i + half]);
  }
  return values[0];
}

Value WriteChains(Body& body, const Step& step, int64_t repeats, const Value& x, const Value& y) {
  std::array<Value, kChains> chains;
  for (int c = 0; c < kChains; ++c) {
    chains[static_cast<size_t>(c)] = body.Binary("add", x, body.Splat(Offset(c), x.shape));
  }
  for (int64_t r = 0; r < repeats; ++r) {
    for (Value& chain : chains) chain = WriteStep(body, step, chain, y);
  }
  // An end of its own for each: libtpu's compiler turns a·y + b·y into (a + b)·y, which would leave
  // one chain of eight.
  for (int c = 0; c < kChains; ++c) {
    Value& chain = chains[static_cast<size_t>(c)];
    chain = body.Binary("add", chain, body.Splat(Offset(c), chain.shape));
  }
  return SumInPairs(chains,
                    [&](const Value& a, const Value& b) { return body.Binary("add", a, b); });
}

// A value and how far the device's may be from it.
struct Bounded {
  double value;
  double error;
};

// Rounding of one operation: half an epsilon, and the expected value's own; a transcendental
// function is an approximation, good to a few roundings of its own type and 32 of the f32 that
// narrow types are computed in.
struct Roundings {
  double arithmetic;
  double transcendental;
};
Roundings RoundingsOf(DType dtype) {
  const double wide = Epsilon(dtype == DType::kF64 ? DType::kF64 : DType::kF32);
  return {Epsilon(dtype) / 2 * 1.01 + Epsilon(DType::kF64) / 2, 2 * Epsilon(dtype) + 32 * wide};
}

Bounded Round(double value, double error, double share) {
  return {value, error + share * (std::fabs(value) + error)};
}

template <typename F>
void Chain(const programs::Chunk& chunk, int64_t repeats, double half, const F& step) {
  for (size_t i = 0; i < chunk.expected.size(); ++i) {
    std::array<Bounded, kChains> chains;
    for (int c = 0; c < kChains; ++c) {
      Bounded x = Round(chunk.inputs[0][i] + Offset(c), 0, half);
      for (int64_t r = 0; r < repeats; ++r) x = step(x, chunk.inputs[1][i]);
      chains[static_cast<size_t>(c)] = Round(x.value + Offset(c), x.error, half);
    }
    const Bounded sum = SumInPairs(chains, [half](const Bounded& a, const Bounded& b) {
      return Round(a.value + b.value, a.error + b.error, half);
    });
    chunk.expected[i] = sum.value;
    chunk.bound[i] = sum.error;
  }
}

void Evaluate(const programs::Chunk& chunk, std::string_view op, int64_t repeats, DType dtype) {
  const Roundings roundings = RoundingsOf(dtype);
  const double half = roundings.arithmetic;
  const double wide = roundings.transcendental;
  if (op == "add") {
    return Chain(chunk, repeats, half,
                 [=](Bounded x, double y) { return Round(x.value + y, x.error, half); });
  }
  if (op == "multiply") {
    return Chain(chunk, repeats, half, [=](Bounded x, double y) {
      return Round(x.value * y, x.error * std::fabs(y), half);
    });
  }
  if (op == "exponential") {
    return Chain(chunk, repeats, half, [=](Bounded x, double y) {
      const Bounded in = Round(y - x.value, x.error, half);
      const double value = std::exp(in.value);
      return Round(value, value * std::expm1(in.error), wide);
    });
  }
  if (op == "tanh") {
    return Chain(chunk, repeats, half, [=](Bounded x, double y) {
      const Bounded in = Round(x.value + y, x.error, half);
      const double value = std::tanh(in.value);
      // The slope is at most 1, and its own change at most 0.77 a unit.
      const double slope = std::min(1.0, 1 - value * value + 0.77 * in.error);
      return Round(value, slope * in.error, wide);
    });
  }
  Chain(chunk, repeats, half, [=](Bounded x, double y) {
    const Bounded in = Round(x.value + y, x.error, half);
    const double value = 1 / std::sqrt(in.value);
    return Round(value, 1 / std::sqrt(in.value - in.error) - value, wide);
  });
}

Result<Program> Build(const Params& params, const Target& target) {
  constexpr int64_t kMaxRepeats = 256;  // each is eight lines of the program
  const Step& step = StepOf(params);
  const int64_t repeats = params.Integer("repeats");
  if (repeats > kMaxRepeats) {
    return Fail(Code::kInvalidArgument,
                fmt::format("parameter 'repeats' is {}; at most {}", repeats, kMaxRepeats));
  }
  RL_ASSIGN(const int64_t elements, ElementsOf(params));
  const Shape array{params.Type("dtype"), {elements}};
  Program program =
      LoopProgram(target, array.dtype, {{"x", array, step.x}, {"y", array, step.y}}, array,
                  [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
                    return std::vector{WriteChains(body, step, repeats, in[0], in[1])};
                  });
  // Starts, ends and sums of the chains are additions too.
  const int64_t steps = kChains * repeats;
  const int64_t additions = 3 * kChains - 1;
  const auto count = static_cast<double>(elements);
  const double flops = count * static_cast<double>(steps + additions);
  program.work.vector_flops[array.dtype] = flops;
  program.rates.push_back({"flops", "FLOP/s", flops * program.partitions});
  program.labels.push_back(
      fmt::format("{} chains of {} {} for each element", kChains, repeats, step.name));
  if (step.combine == "add") {
    program.expected.ops = {{{"add"}, steps + additions}};
  } else {
    program.expected.ops = {{{std::string(step.combine)}, steps}, {{"add"}, additions}};
  }
  if (step.transcendental) {
    const double operations = count * static_cast<double>(steps);
    program.work.transcendentals = operations;
    program.rates.push_back({"op_rate", "op/s", operations * program.partitions});
    program.labels.push_back(fmt::format("flops: one {} before each {}", step.combine, step.name));
    program.expected.ops.push_back({{std::string(step.name)}, steps});
  }
  CountBytes(program, 3 * static_cast<double>(array.device_bytes()),
             "3 arrays: x, y read, result written");
  program.check = [op = std::string(step.name), repeats,
                   dtype = array.dtype](const programs::CheckInput& input) {
    return programs::CheckElementwise(
        input, 2, fmt::format("{} chains of {} {} in f64", kChains, repeats, op),
        [&](const programs::Chunk& chunk) { Evaluate(chunk, op, repeats, dtype); });
  };
  return program;
}

}  // namespace

Benchmark vector_benchmark() {
  std::vector<std::string> ops;
  for (const Step& step : kSteps) ops.emplace_back(step.name);
  return {.name = "vector",
          .component = Component::kCompute,
          .summary = "elementwise arithmetic and transcendental functions, in chains",
          .params = {{.name = "op",
                      .type = ParamType::kText,
                      .fallback = std::string("multiply"),
                      .help = "the operation of one step",
                      .allowed = std::move(ops)},
                     {.name = "repeats",
                      .fallback = int64_t{8},
                      .help = "steps of each of the eight chains of an element"},
                     {.name = "bytes",
                      .type = ParamType::kBytes,
                      .fallback = int64_t{1} << 20,
                      .help = "size of one array; there are three"},
                     {.name = "dtype",
                      .type = ParamType::kDType,
                      .fallback = std::string("f32"),
                      .help = "type of an element",
                      .allowed = {"f64", "f32", "bf16", "f16"}}},
          .build = Build};
}

}  // namespace ridgeline::benchmarks
