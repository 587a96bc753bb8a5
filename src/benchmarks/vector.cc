// A chain of elementwise operations on each element: the rate of the vector units, as every
// element is read once and used `repeats` times.
#include <fmt/format.h>

#include <cmath>

#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Fill;
using programs::Program;
using programs::Value;

// One step of the chain is x = combine(x, y), then x = f(x) where f is named. The values stay in
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
    // Factors near 1, so that 64 steps change x by e^2 at most, and x far from subnormals.
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
void Chain(const programs::Chunk& chunk, int64_t repeats, const F& step) {
  for (size_t i = 0; i < chunk.expected.size(); ++i) {
    Bounded x{chunk.inputs[0][i], 0};
    const double y = chunk.inputs[1][i];
    for (int64_t r = 0; r < repeats; ++r) x = step(x, y);
    chunk.expected[i] = x.value;
    chunk.bound[i] = x.error;
  }
}

void Evaluate(const programs::Chunk& chunk, std::string_view op, int64_t repeats, DType dtype) {
  const Roundings roundings = RoundingsOf(dtype);
  const double half = roundings.arithmetic;
  const double wide = roundings.transcendental;
  if (op == "add") {
    return Chain(chunk, repeats,
                 [=](Bounded x, double y) { return Round(x.value + y, x.error, half); });
  }
  if (op == "multiply") {
    return Chain(chunk, repeats, [=](Bounded x, double y) {
      return Round(x.value * y, x.error * std::fabs(y), half);
    });
  }
  if (op == "exponential") {
    return Chain(chunk, repeats, [=](Bounded x, double y) {
      const Bounded in = Round(y - x.value, x.error, half);
      const double value = std::exp(in.value);
      return Round(value, value * std::expm1(in.error), wide);
    });
  }
  if (op == "tanh") {
    return Chain(chunk, repeats, [=](Bounded x, double y) {
      const Bounded in = Round(x.value + y, x.error, half);
      const double value = std::tanh(in.value);
      // The slope is at most 1, and its own change at most 0.77 a unit.
      const double slope = std::min(1.0, 1 - value * value + 0.77 * in.error);
      return Round(value, slope * in.error, wide);
    });
  }
  Chain(chunk, repeats, [=](Bounded x, double y) {
    const Bounded in = Round(x.value + y, x.error, half);
    const double value = 1 / std::sqrt(in.value);
    return Round(value, 1 / std::sqrt(in.value - in.error) - value, wide);
  });
}

Result<Program> Build(const Params& params, const Target& target) {
  constexpr int64_t kMaxRepeats = 1024;  // each is a line of the program
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
                    Value x = in[0];
                    for (int64_t r = 0; r < repeats; ++r) x = WriteStep(body, step, x, in[1]);
                    return std::vector{x};
                  });
  const double operations = static_cast<double>(elements) * static_cast<double>(repeats);
  program.work.vector_flops[array.dtype] = operations;
  program.rates.push_back({"flops", "FLOP/s", operations * program.partitions});
  program.labels.push_back(fmt::format("chain of {} {} an element", repeats, step.name));
  program.expected.ops = {{{std::string(step.combine)}, repeats}};
  if (step.transcendental) {
    program.work.transcendentals = operations;
    program.rates.push_back({"op_rate", "op/s", operations * program.partitions});
    program.labels.push_back(fmt::format("flops: the {} before each {}", step.combine, step.name));
    program.expected.ops.push_back({{std::string(step.name)}, repeats});
  }
  CountBytes(program, 3 * static_cast<double>(array.device_bytes()),
             "3 arrays: x, y read, result written");
  program.check = [op = std::string(step.name), repeats,
                   dtype = array.dtype](const programs::CheckInput& input) {
    return programs::CheckElementwise(
        input, 2, fmt::format("chain of {} {} in f64", repeats, op),
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
          .summary = "elementwise arithmetic and transcendental functions, in a chain",
          .params = {{.name = "op",
                      .type = ParamType::kText,
                      .fallback = std::string("multiply"),
                      .help = "the operation of one step",
                      .allowed = std::move(ops)},
                     {.name = "repeats",
                      .fallback = int64_t{64},
                      .help = "steps of the chain, for each element"},
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
