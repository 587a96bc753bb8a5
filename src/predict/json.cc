#include <utility>
#include <variant>

#include "predict/prediction.h"

namespace ridgeline::predict {
namespace {

constexpr size_t kOpsWritten = 100;

Json ToJson(const Interval& interval) {
  return {{"lower", Number(interval.lower)}, {"upper", Number(interval.upper)}};
}

Json ToJson(const pjrt::CompiledMemory& memory) {
  Json largest = Json::array();
  for (const pjrt::NamedBytes& one : memory.largest) {
    largest.push_back({{"name", one.name}, {"bytes", one.bytes}});
  }
  return {{"arguments_bytes", memory.arguments}, {"outputs_bytes", memory.outputs},
          {"aliased_bytes", memory.aliased},     {"temporaries_bytes", memory.temporaries},
          {"code_bytes", memory.code},           {"host_bytes", memory.host},
          {"largest", std::move(largest)}};
}

Json ToJson(const WireRow& row) {
  return {{"axes", row.axes},
          {"collective", row.collective},
          {"executions", Number(row.executions)},
          {"payload_bytes", Number(row.payload_bytes)},
          {"wire_bytes", Number(row.wire_bytes)},
          {"seconds", Number(row.seconds)},
          {"overlapped_s", Number(row.overlapped_s)}};
}

Json ToJson(const OpTime& op) {
  return {{"name", op.name},
          {"op_name", op.op_name},
          {"part", Name(op.part)},
          {"overlaps", op.overlaps},
          {"executions", Number(op.executions)},
          {"time_s", ToJson(op.seconds)},
          {"flops", Number(op.flops)},
          {"hbm_bytes", Number(op.hbm_bytes)},
          {"how", op.how}};
}

void AddStep(const StepTime& step, Json& json) {
  json["time_s"] = ToJson(step.seconds);
  json["bound"] = step.bound.balanced        ? "balanced"
                  : step.bound.first.empty() ? "none"
                                             : step.bound.first;
  json["confidence"] = Number(step.bound.confidence);
  Json parts = Json::object();
  for (const auto& [part, seconds] : step.parts) parts[std::string(Name(part))] = ToJson(seconds);
  json["parts_s"] = std::move(parts);
  Json wire = Json::array();
  for (const WireRow& row : step.wire) wire.push_back(ToJson(row));
  json["wire"] = std::move(wire);
  json["matrix_flops"] = step.matrix_flops;
  json["hbm_bytes"] = Number(step.hbm_bytes);
  Json ops = Json::array();
  for (const OpTime& op : step.ops) {
    if (ops.size() == kOpsWritten) break;
    ops.push_back(ToJson(op));
  }
  json["ops"] = std::move(ops);
}

}  // namespace

Json ToJson(const TargetPrediction& prediction) {
  Json flags = Json::object();
  for (const auto& [name, value] : prediction.flags) {
    std::visit([&flags, &key = name](const auto& one) { flags[key] = one; }, value);
  }
  Json json = {{"name", prediction.target},
               {"predicted", true},
               {"by", prediction.compiled ? "compiler" : "roofs"},
               {"flags", std::move(flags)},
               {"status", Name(prediction.status)},
               {"reason", prediction.reason},
               {"fits", OrNull(prediction.fits)},
               {"peak_memory_bytes", Number(prediction.peak_memory_bytes)},
               {"capacity_bytes", Number(prediction.capacity_bytes)},
               {"memory", prediction.memory ? ToJson(*prediction.memory) : Json(nullptr)},
               {"time_s", nullptr},
               {"bound", nullptr},
               {"wire", Json::array()},
               {"mfu", prediction.mfu ? ToJson(*prediction.mfu) : Json(nullptr)},
               {"cost_per_step", nullptr},
               {"compiler", prediction.compiler},
               {"basis", prediction.basis},
               {"notes", prediction.notes}};
  if (prediction.step) AddStep(*prediction.step, json);
  if (prediction.cost) {
    json["cost_per_step"] = ToJson(prediction.cost->per_step);
    json["cost_per_step"]["currency"] = prediction.cost->currency;
    json["cost_per_step"]["basis"] = prediction.cost->basis;
  }
  return json;
}

}  // namespace ridgeline::predict
