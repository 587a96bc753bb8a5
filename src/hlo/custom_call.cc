#include "hlo/custom_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"

namespace ridgeline::hlo {
namespace {

bool Has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// Numbers as JSON numbers or, as protobuf writes 64-bit ones, strings.
std::optional<double> AsNumber(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  const std::string& text = json.get_ref<const std::string&>();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

std::optional<double> NumberAt(const Json& object, std::string_view key) {
  const Json* member = Member(object, key);
  return member ? AsNumber(*member) : std::nullopt;
}

// A member at any of the places where kernels keep theirs, or nullptr.
const Json* Find(const Json& config, std::string_view key) {
  if (const Json* found = Member(config, key)) return found;
  for (const std::string_view inner :
       {"custom_call_config", "cudnn_fmha_backend_config", "gemm_backend_config"}) {
    const Json* object = Member(config, inner);
    if (object == nullptr) continue;
    if (const Json* found = Member(*object, key)) return found;
  }
  return nullptr;
}

std::optional<Json> Config(const Instruction& instruction) {
  const size_t start = instruction.backend_config.find('{');
  if (start == std::string::npos) return std::nullopt;
  Result<Json> json = ParseJson(instruction.backend_config);
  if (!json || !json->is_object()) return std::nullopt;
  return *std::move(json);
}

const Shape& OperandShape(const Computation& computation, const Instruction& instruction,
                          size_t number) {
  return computation.Get(instruction.operands[number]).shape;
}

double DimensionOr1(const Shape& shape, double number) {
  const auto index = static_cast<size_t>(number);
  return number >= 0 && index < shape.dims.size() ? static_cast<double>(shape.dims[index]) : 1;
}

// The first dimension that a member such as {"lhs_contracting_dimensions": ["3"]} lists.
std::optional<double> FirstDimension(const Json& numbers, std::string_view key) {
  const Json* list = Member(numbers, key);
  if (list == nullptr || !list->is_array() || list->empty()) return std::nullopt;
  return AsNumber(list->front());
}

// Attention as cuDNN runs it: two dots over batch x heads x queries x keys forward, five backward.
std::optional<OpCost> Attention(const Computation& computation, const Instruction& instruction,
                                const Json& config) {
  const Json* scores = Find(config, "intermediate_tensor_shape");
  const Json* dot = Find(config, "bmm1_dot_dimension_numbers");
  const bool backward = Has(instruction.custom_call_target, "Backward");
  if (dot == nullptr) dot = Find(config, "bmm1_grad_gemm1_dot_dimension_numbers");
  if (scores == nullptr || dot == nullptr || instruction.operands.empty()) return std::nullopt;
  const Json* dims = Member(*scores, "dimensions");
  if (dims == nullptr || !dims->is_array()) return std::nullopt;
  double elements = 1;
  for (const Json& dim : *dims) elements *= AsNumber(dim).value_or(0);
  const Shape& queries = OperandShape(computation, instruction, 0);
  const double head =
      backward
          ? DimensionOr1(queries, static_cast<double>(queries.dims.size()) - 1)
          : DimensionOr1(queries, FirstDimension(*dot, "lhs_contracting_dimensions").value_or(-1));
  OpCost cost;
  cost.type = queries.primitive;
  cost.matrix = (backward ? 5 : 2) * 2 * elements * head;
  cost.transcendental = elements;
  cost.note = "the whole square of queries and keys; a causal kernel runs about half of it";
  return cost;
}

// A library's matrix product; the contracted length from its own dimension numbers.
std::optional<OpCost> LibraryDot(const Computation& computation, const Instruction& instruction,
                                 const Json& config) {
  const Json* numbers = Find(config, "dot_dimension_numbers");
  if (numbers == nullptr || instruction.operands.size() < 2) return std::nullopt;
  const auto contracting = FirstDimension(*numbers, "lhs_contracting_dimensions");
  if (!contracting) return std::nullopt;
  const Shape& out = instruction.shape.is_tuple() && !instruction.shape.tuple.empty()
                         ? instruction.shape.tuple[0]
                         : instruction.shape;
  const Shape& lhs = OperandShape(computation, instruction, 0);
  OpCost cost;
  cost.type = RealType(lhs.primitive);
  const double scale = cost.type == lhs.primitive ? 2 : 8;
  cost.matrix = scale * out.elements() * DimensionOr1(lhs, *contracting);
  return cost;
}

struct Factorization {
  std::string_view part;  // of the target's name
  double (*flops)(const Shape& a, const Shape& b);
};

double Last(const Shape& shape, size_t from_end) {
  return shape.dims.size() < from_end
             ? 1
             : static_cast<double>(shape.dims[shape.dims.size() - from_end]);
}

double Batch(const Shape& shape) {
  const double matrix = Last(shape, 1) * Last(shape, 2);
  return matrix > 0 ? shape.elements() / matrix : 0;
}

// Leading terms of LAPACK's own counts (LAPACK Working Note 41), square matrices where the routine
// wants them; eigenvalues with vectors: about 9 N^3.
constexpr std::array<Factorization, 5> kFactorizations = {{
    {"potrf", [](const Shape& a, const Shape&) { return Batch(a) * std::pow(Last(a, 1), 3) / 3; }},
    {"getrf",
     [](const Shape& a, const Shape&) {
       const double m = std::max(Last(a, 1), Last(a, 2));
       const double n = std::min(Last(a, 1), Last(a, 2));
       return Batch(a) * (m * n * n - n * n * n / 3);
     }},
    {"geqrf",
     [](const Shape& a, const Shape&) {
       const double m = std::max(Last(a, 1), Last(a, 2));
       const double n = std::min(Last(a, 1), Last(a, 2));
       return Batch(a) * 2 * (m * n * n - n * n * n / 3);
     }},
    {"trsm", [](const Shape& a, const Shape& b) { return Last(a, 1) * b.elements(); }},
    {"syevd", [](const Shape& a, const Shape&) { return Batch(a) * 9 * std::pow(Last(a, 1), 3); }},
}};

std::optional<OpCost> Factorized(const Computation& computation, const Instruction& instruction) {
  const std::string& target = instruction.custom_call_target;
  if (!target.starts_with("lapack_") && !target.starts_with("cusolver_")) return std::nullopt;
  for (const Factorization& known : kFactorizations) {
    if (!Has(target, known.part) || instruction.operands.empty()) continue;
    const Shape& a = OperandShape(computation, instruction, 0);
    const Shape& b =
        instruction.operands.size() > 1 ? OperandShape(computation, instruction, 1) : a;
    OpCost cost;
    cost.type = RealType(a.primitive);
    cost.vector = (cost.type == a.primitive ? 1 : 4) * known.flops(a, b);
    cost.note = "leading term of LAPACK's count";
    return cost;
  }
  return std::nullopt;
}

std::optional<OpCost> Selection(const Computation& computation, const Instruction& instruction) {
  const std::string& target = instruction.custom_call_target;
  if (target != "TopK" && target != "PartialReduce" && target != "ApproxTopK" &&
      target != "__gpu$TopK") {
    return std::nullopt;
  }
  OpCost cost;
  cost.type = OperandShape(computation, instruction, 0).primitive;
  cost.vector = OperandShape(computation, instruction, 0).elements();
  cost.note = "one comparison an element, the least there can be";
  return cost;
}

// {"custom_call_config": {"cost_estimate": {"flops": …, "transcendentals": …}}}
std::optional<OpCost> Stated(const Computation& computation, const Instruction& instruction,
                             const Json& config) {
  const Json* estimate = Find(config, "cost_estimate");
  const std::optional<double> flops = estimate ? NumberAt(*estimate, "flops") : std::nullopt;
  if (!flops || *flops < 0) return std::nullopt;
  OpCost cost;
  if (!instruction.operands.empty()) {
    cost.type = RealType(OperandShape(computation, instruction, 0).primitive);
  }
  cost.matrix = *flops;
  cost.transcendental = std::max(0.0, NumberAt(*estimate, "transcendentals").value_or(0));
  cost.note = "as the kernel's own cost_estimate states";
  return cost;
}

}  // namespace

CustomCallKind KindOfCustomCall(const Computation& computation, const Instruction& instruction) {
  const std::string& target = instruction.custom_call_target;
  constexpr std::array<std::string_view, 13> kMarkers = {"Sharding",
                                                         "SPMDFullToShardShape",
                                                         "SPMDShardToFullShape",
                                                         "AllocateBuffer",
                                                         "CreateBuffer",
                                                         "Pin",
                                                         "Unpin",
                                                         "LayoutConstraint",
                                                         "PadToStatic",
                                                         "SliceToDynamic",
                                                         "AssumeGatherIndicesInBound",
                                                         "GlobalToLocal",
                                                         "LocalToGlobal"};
  if (target.starts_with("xla.sdy.")) return CustomCallKind::kMarker;
  if (std::find(kMarkers.begin(), kMarkers.end(), target) != kMarkers.end()) {
    return CustomCallKind::kMarker;
  }
  if (target == "MoveToHost") return CustomCallKind::kToHost;
  if (target == "MoveToDevice") return CustomCallKind::kToDevice;
  if (target == "annotate_device_placement") {
    const auto place = instruction.frontend_attributes.find("_xla_buffer_placement");
    const bool host = place != instruction.frontend_attributes.end() && Has(place->second, "host");
    const bool marks_entry = !instruction.operands.empty() &&
                             computation.Get(instruction.operands[0]).opcode == "parameter";
    if (marks_entry) return CustomCallKind::kMarker;
    return host ? CustomCallKind::kToHost : CustomCallKind::kToDevice;
  }
  return CustomCallKind::kKernel;
}

OpCost CostOfCustomCall(const Computation& computation, const Instruction& instruction) {
  if (KindOfCustomCall(computation, instruction) != CustomCallKind::kKernel) return {};
  if (!instruction.operands.empty()) {
    if (auto cost = Factorized(computation, instruction)) return *cost;
    if (auto cost = Selection(computation, instruction)) return *cost;
  }
  if (const std::optional<Json> config = Config(instruction)) {
    if (auto cost = Stated(computation, instruction, *config)) return *cost;
    if (auto cost = Attention(computation, instruction, *config)) return *cost;
    if (auto cost = LibraryDot(computation, instruction, *config)) return *cost;
  }
  OpCost cost;
  const bool callback = Has(instruction.custom_call_target, "callback");
  cost.uncounted = callback ? "runs on the host: its work and its time are unknown"
                            : "nothing here knows this kernel, and it states no cost";
  return cost;
}

std::optional<double> StatedBytes(const Instruction& instruction) {
  const std::optional<Json> config = Config(instruction);
  const Json* estimate = config ? Find(*config, "cost_estimate") : nullptr;
  const std::optional<double> bytes =
      estimate ? NumberAt(*estimate, "bytes_accessed") : std::nullopt;
  return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

}  // namespace ridgeline::hlo
