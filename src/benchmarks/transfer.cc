#include "benchmarks/transfer.h"

#include <fmt/format.h>

#include "benchmarks/movement_check.h"

namespace ridgeline::benchmarks {

using programs::Program;
using programs::TransferDirection;

std::vector<ParamSpec> TransferParams(bool to_device) {
  std::vector<ParamSpec> params = {
      {.name = "bytes",
       .type = ParamType::kBytes,
       .fallback = int64_t{64} << 20,
       .help = "bytes of one transfer, per direction and device"},
      {.name = "dtype",
       .type = ParamType::kDType,
       .fallback = std::string("f32"),
       .help = "element type; another layout on the device costs a conversion on the way",
       .allowed = {"s8", "s32", "u8", "u32", "f8e4m3fn", "f8e5m2", "bf16", "f16", "f32", "f64"}},
      {.name = "memory_kind",
       .type = ParamType::kText,
       .fallback = std::string(),
       .help = "memory of the device's end, as `ridgeline devices` names it; empty: its default"}};
  if (to_device) {
    params.push_back({.name = "semantics",
                      .type = ParamType::kText,
                      .fallback = std::string("until_transfer_completes"),
                      .help = "how long the host promises not to touch its array; zero_copy: the "
                              "device may use it in place",
                      .allowed = {"during_call", "until_transfer_completes", "zero_copy"}});
  }
  return params;
}

Result<Program> BuildTransfer(TransferDirection direction, const Params& params,
                              const Target& target) {
  const DType dtype = params.Type("dtype");
  const int64_t asked = params.Integer("bytes");
  const int64_t width = HostBytesPerElement(dtype);
  if (asked < width) {
    return Fail(Code::kOutOfRange, fmt::format("{} B of {} are too few: needs at least {} B", asked,
                                               Name(dtype), width));
  }
  const Shape shape{dtype, {(asked - 1) / width + 1}};
  const bool both = direction == TransferDirection::kBoth;
  const double bytes = static_cast<double>(shape.host_bytes()) * (both ? 2 : 1);

  Program program;
  program.repeat = programs::Repeat::kTransfers;
  program.partitions = target.placement.all ? static_cast<int>(target.mesh->size()) : 1;
  program.scope = target.placement.all ? Scope::kAll : Scope::kDevice;
  program.dtype = dtype;
  program.inputs = {{"data", shape, {}}};
  program.outputs.assign(both ? 2 : 1, shape);
  program.transfer = {direction, shape, params.Text("memory_kind"),
                      params.Has("semantics") ? params.Text("semantics") : std::string()};
  program.work.host_bytes = bytes;
  program.working_set_bytes = shape.device_bytes() * (both ? 2 : 1);
  program.rates = {{"host_bw", "B/s", bytes * program.partitions}};
  program.expected.loop = false;
  if (target.platform == "cpu") program.labels.emplace_back("host RAM, not a link");
  if (both) program.labels.emplace_back("both directions at once, sum");
  if (program.transfer.semantics == "zero_copy") {
    program.labels.emplace_back("zero-copy: the device may use the host's array in place");
  }
  if (shape.host_bytes() != asked) {
    program.labels.push_back(fmt::format("moved bytes: {} (asked {})", shape.host_bytes(), asked));
  }
  const int outputs = both ? 2 : 1;
  program.check = [outputs, elements = shape.elements()](const programs::CheckInput& input) {
    const PiecesOf pieces = [elements](int partition, int) {
      return std::vector<Piece>{{partition, 0, 0, 0, elements}};
    };
    return CheckMovement(input, outputs, pieces, "what arrived, every element");
  };
  return program;
}

}  // namespace ridgeline::benchmarks
