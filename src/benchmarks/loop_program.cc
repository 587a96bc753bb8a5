#include "benchmarks/loop_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ridgeline::benchmarks {
namespace {

using programs::Program;
using programs::TensorSpec;

// The ways to multiply two f32.
struct PrecisionName {
  std::string_view name;
  std::string_view precision;  // of dot_general and convolution, or empty:
  std::string_view type;       // of the parts that an algorithm multiplies,
  int products;                // and how many products of them
  double epsilon;              // of the operands as they are multiplied
  std::string_view label;
};

constexpr PrecisionName kPrecisions[] = {
    {"highest", "HIGHEST", "", 0, 0, "asked for precision HIGHEST: f32 products"},
    {"high", "HIGH", "", 0, 0x1p-10,
     "asked for precision HIGH: may multiply tf32 or three bf16 parts"},
    {"default", "DEFAULT", "", 0, 0x1p-7, "asked for precision DEFAULT: may multiply bf16 or tf32"},
    {"tf32", "", "tf32", 1, 0x1p-10, "asked for algorithm tf32_tf32_f32"},
    {"bf16", "", "bf16", 1, 0x1p-7, "asked for algorithm bf16_bf16_f32"},
    {"bf16x3", "", "bf16", 3, 0x1p-14, "asked for algorithm bf16_bf16_f32_x3"},
    {"bf16x6", "", "bf16", 6, 0x1p-21, "asked for algorithm bf16_bf16_f32_x6"}};

// `same`: the type of the operands; that of the running sum for integers, and bf16 for 8-bit
// floats, whose own range and 2 or 3 fraction bits hold no sum (what matrix libraries give too).
Result<DType> ResultType(DType operand, const std::string& asked) {
  if (asked == "same") {
    if (!IsFloat(operand)) return DType::kS32;
    return Info(operand).bits == 8 ? DType::kBF16 : operand;
  }
  const DType result = ParseDType(asked).value();
  const bool fits = IsFloat(operand) ? IsFloat(result) && (result == operand ||
                                                           Info(result).bits > Info(operand).bits)
                                     : result == DType::kS32;
  if (!fits) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("parameter 'out_dtype' is '{}'; a product of {} gives {}", asked, Name(operand),
                    IsFloat(operand) ? "that type or a wider float" : "s32"));
  }
  return result;
}

}  // namespace

Program LoopProgram(const Target& target, DType dtype, std::vector<TensorSpec> inputs, Shape result,
                    const programs::OpWriter& op) {
  Program program;
  program.partitions = target.placement.all ? static_cast<int>(target.mesh->size()) : 1;
  program.scope = target.placement.all ? Scope::kAll : Scope::kDevice;
  program.dtype = dtype;
  program.inputs = std::move(inputs);
  program.carried = {{"result", result, {.kind = programs::FillKind::kZeros}}};
  program.outputs = {std::move(result)};
  program.stablehlo = programs::WriteLoop(program.partitions, program.inputs, program.carried, op);
  program.working_set_bytes = program.device_bytes();
  program.expected.dtype = dtype;
  return program;
}

void CountBytes(Program& program, double bytes, std::string convention) {
  program.work.hbm_bytes = bytes;
  program.expected.moved_bytes = bytes;
  program.rates.push_back({"hbm_bw", "B/s", bytes * program.partitions});
  program.labels.push_back(std::move(convention));
}

void CountMatrixFlops(Program& program, DType dtype, double flops, std::string convention) {
  program.work.matrix_flops[dtype] = flops;
  program.work.useful_flops = UsefulFlops{flops, std::move(convention)};
  program.rates.push_back({"flops", "FLOP/s", flops * program.partitions});
}

std::vector<ParamSpec> ArrayParams(const std::string& bytes_help) {
  return {{.name = "bytes",
           .type = ParamType::kBytes,
           .fallback = int64_t{64} << 20,
           .help = bytes_help},
          {.name = "dtype",
           .type = ParamType::kDType,
           .fallback = std::string("f32"),
           .help = "type of an element",
           .allowed = {"f64", "f32", "bf16", "f16", "s32", "s8"}}};
}

Result<int64_t> ElementsOf(const Params& params) {
  const int64_t bytes = params.Integer("bytes");
  const int64_t element = HostBytesPerElement(params.Type("dtype"));
  if (bytes % element != 0) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("parameter 'bytes' is {}; expected a multiple of {}, the size of one {}", bytes,
                    element, params.Text("dtype")));
  }
  return bytes / element;
}

Result<Program> ElementwiseProgram(const Params& params, const Target& target,
                                   const std::vector<std::string>& inputs,
                                   const std::string& convention, const programs::OpWriter& op) {
  RL_ASSIGN(const int64_t elements, ElementsOf(params));
  const Shape array{params.Type("dtype"), {elements}};
  std::vector<TensorSpec> specs;
  for (const std::string& name : inputs) specs.push_back({name, array, {}});
  Program program = LoopProgram(target, array.dtype, specs, array, op);
  // Narrow floats are added as f32 on most devices; the bytes are what counts here.
  program.expected.dtype_matters = false;
  const auto arrays = static_cast<double>(inputs.size() + 1);
  CountBytes(program, arrays * static_cast<double>(array.device_bytes()), convention);
  return program;
}

std::vector<ParamSpec> ProductParams() {
  std::vector<std::string> precisions;
  for (const PrecisionName& precision : kPrecisions) precisions.emplace_back(precision.name);
  return {{.name = "dtype",
           .type = ParamType::kDType,
           .fallback = std::string("f32"),
           .help = "type of the operands",
           .allowed = {"f64", "f32", "bf16", "f16", "f8e4m3fn", "f8e5m2", "s8", "s4"}},
          {.name = "out_dtype",
           .type = ParamType::kText,
           .fallback = std::string("same"),
           .help = "type of the result; same: that of the operands, bf16 for 8-bit floats, s32 for "
                   "integers",
           .allowed = {"same", "f64", "f32", "bf16", "f16", "s32"}},
          {.name = "precision_config",
           .type = ParamType::kText,
           .fallback = std::string("highest"),
           .help = "how f32 operands are multiplied; other types always as they are",
           .allowed = std::move(precisions)}};
}

Result<ProductChoice> ChooseProduct(const Params& params, const Target& target, int64_t terms) {
  ProductChoice choice;
  const DType operand = params.Type("dtype");
  if (operand == DType::kS4 && target.platform == "cpu") {
    // "does not support custom element sizes on non-sub-byte types", from its own rewriting.
    return Fail(Code::kUnimplemented, "XLA's CPU compiler takes no product of s4");
  }
  RL_ASSIGN(const DType result, ResultType(operand, params.Text("out_dtype")));
  choice.types = {.operand = operand, .result = result};
  choice.precision = "DEFAULT";
  if (!IsFloat(operand)) {
    // As many values as the type has while a sum of `terms` products stays in s32.
    const double most = std::floor(std::sqrt((0x1p31 - 1) / static_cast<double>(terms)));
    choice.fill.limit = static_cast<int64_t>(std::clamp(most, 1.0, MaxValue(operand)));
  }
  const std::string& name = params.Text("precision_config");
  const PrecisionName& chosen =
      *std::ranges::find(kPrecisions, std::string_view(name), &PrecisionName::name);
  if (operand == DType::kF32) {
    choice.precision = chosen.precision;
    choice.label = chosen.label;
    choice.types.multiply_epsilon = chosen.epsilon;
    if (choice.precision.empty()) {
      choice.algorithm = fmt::format(
          "algorithm = <lhs_precision_type = {0}, rhs_precision_type = {0}, accumulation_type = "
          "f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {1}, "
          "allow_imprecise_accumulation = false>",
          chosen.type, chosen.products);
    }
  } else if (chosen.precision.empty()) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("parameter 'precision_config' is '{}', which multiplies f32; dtype is {}", name,
                    Name(operand)));
  }
  return choice;
}

std::string ProductChoice::DotAttributes() const {
  return precision.empty() ? algorithm : fmt::format("precision = [{0}, {0}]", precision);
}

std::vector<std::string> ProductOpcodes() {
  return {"dot",
          "convolution",
          "custom-call:__onednn$matmul",
          "custom-call:__cublas",
          "custom-call:__triton",
          "fusion:__triton_gemm"};
}

}  // namespace ridgeline::benchmarks
