#include "core/measurement.h"

#include <array>

#include "base/text.h"

namespace ridgeline {
namespace {

constexpr std::array<std::string_view, 9> kStatuses = {
    "ok",      "unconverged", "suspect",     "unsupported", "emulated", "not_applicable",
    "skipped", "failed",      "wrong_result"};

Json IntervalToJson(const Interval& interval) {
  return {
      {"value", Number(interval.value)}, {"lo", Number(interval.lo)}, {"hi", Number(interval.hi)}};
}

// A missing bound (it was not finite) reads back as the infinity that it stood for.
Interval IntervalFromJson(const Json& json) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {OptionalNumber(json, "value").value_or(0),
          OptionalNumber(json, "lo").value_or(-kInfinity),
          OptionalNumber(json, "hi").value_or(kInfinity)};
}

Json FitToJson(const Fit& fit) {
  Json medians = Json::array();
  for (const double m : fit.medians_s) medians.push_back(Number(m));
  Json passes = Json::array();
  for (const double pass : fit.passes_s) passes.push_back(Number(pass));
  return {{"counts", fit.counts}, {"medians_s", medians}, {"r2", Number(fit.r2)},
          {"blocks", fit.blocks}, {"passes_s", passes},   {"floor_s", Number(fit.floor_s)}};
}

Fit FitFromJson(const Json& json) {
  Fit fit;
  if (const Json* counts = Member(json, "counts")) {
    for (const Json& count : *counts)
      fit.counts.push_back(count.is_number() ? count.get<int64_t>() : 0);
  }
  if (const Json* medians = Member(json, "medians_s")) {
    for (const Json& m : *medians) fit.medians_s.push_back(m.is_number() ? m.get<double>() : 0);
  }
  if (const Json* passes = Member(json, "passes_s")) {
    for (const Json& p : *passes) fit.passes_s.push_back(p.is_number() ? p.get<double>() : 0);
  }
  fit.r2 = OptionalNumber(json, "r2").value_or(0);
  fit.blocks = static_cast<int>(IntegerOr(json, "blocks"));
  fit.floor_s = OptionalNumber(json, "floor_s").value_or(0);
  return fit;
}

}  // namespace

std::string_view Name(CaseStatus status) { return kStatuses[static_cast<size_t>(status)]; }

Result<CaseStatus> ParseCaseStatus(std::string_view text) {
  for (size_t i = 0; i < kStatuses.size(); ++i) {
    if (kStatuses[i] == text) return static_cast<CaseStatus>(i);
  }
  return Fail(Code::kInvalidArgument, UnknownName("status", text, kStatuses));
}

bool IsUsable(CaseStatus status) {
  return status == CaseStatus::kOk || status == CaseStatus::kUnconverged;
}

Json ToJson(const Measurement& m) {
  Json json;
  json["id"] = m.id;
  json["component"] = Name(m.component);
  json["bench"] = m.bench;
  json["params"] = ToJson(m.params);
  json["devices"] = m.devices;
  json["mesh"] = m.mesh;
  json["dtype"] = m.dtype;
  json["executed_as"] = m.executed_as.empty() ? Json(nullptr) : Json(m.executed_as);
  json["status"] = Name(m.status);
  json["reason"] = m.reason;
  json["data_mode"] = m.data_mode;
  json["memory_kind"] = m.memory_kind;
  json["scope"] = Name(m.scope);
  json["labels"] = m.labels;
  json["time_s"] = m.time_s ? IntervalToJson(*m.time_s) : Json(nullptr);
  json["fit"] = m.fit ? FitToJson(*m.fit) : Json(nullptr);
  json["launch_s"] = nullptr;
  if (m.launch_s) {
    json["launch_s"] = IntervalToJson(*m.launch_s);
    json["launch_s"]["resolved"] = m.launch_resolved;
  }
  json["compile_s"] = Number(m.compile_s);
  json["rates"] = Json::array();
  for (const Rate& rate : m.rates) {
    Json row = {{"name", rate.name}, {"unit", rate.unit}};
    row.update(IntervalToJson(rate.value));
    row["of_spec"] = Number(rate.of_reference);
    json["rates"].push_back(row);
  }
  json["alpha_beta"] = nullptr;
  if (m.alpha_beta) {
    json["alpha_beta"] = {{"alpha_s", Number(m.alpha_beta->alpha_s)},
                          {"bytes_per_s", Number(m.alpha_beta->bytes_per_s)},
                          {"half_size_bytes", Number(m.alpha_beta->half_size_bytes)}};
  }
  json["work"] = ToJson(m.work);
  json["working_set_bytes"] = m.working_set_bytes;
  json["check"] = {{"status", m.check_status}, {"detail", m.check_detail}};
  json["audit"] = Json::array();
  for (const AuditLine& line : m.audit) {
    json["audit"].push_back({{"level", line.level}, {"text", line.text}});
  }
  json["state"] = m.state;
  json["program_hash"] = m.program_hash;
  json["seed"] = m.seed;
  json["simulated"] = m.simulated;
  json["predicted"] = m.predicted;
  json["wall_s"] = Number(m.wall_s);
  json["timed_s"] = Number(m.timed_s);
  json["audit_s"] = Number(m.audit_s);
  json["check_s"] = Number(m.check_s);
  json.update(m.extra);
  return json;
}

Result<Measurement> MeasurementFromJson(const Json& json) {
  if (!json.is_object()) return Fail(Code::kInvalidArgument, "a measurement is a JSON object");
  Measurement m;
  m.id = StringOr(json, "id");
  if (m.id.empty()) return Fail(Code::kInvalidArgument, "a measurement without an id");
  RL_ASSIGN(m.component, ParseComponent(StringOr(json, "component")));
  RL_ASSIGN(m.status, ParseCaseStatus(StringOr(json, "status")));
  m.bench = StringOr(json, "bench");
  RL_ASSIGN(m.params, ParamsFromJson(ObjectOr(json, "params")));
  m.devices = static_cast<int>(IntegerOr(json, "devices", 1));
  m.mesh = ObjectOr(json, "mesh");
  m.dtype = StringOr(json, "dtype");
  m.executed_as = StringOr(json, "executed_as");
  m.reason = StringOr(json, "reason");
  m.data_mode = StringOr(json, "data_mode", "normal");
  m.memory_kind = StringOr(json, "memory_kind");
  const std::string scope = StringOr(json, "scope", "device");
  m.scope = scope == "all" ? Scope::kAll : scope == "chip" ? Scope::kChip : Scope::kDevice;
  m.labels = TextsOf(json, "labels");
  if (const Json* time = Member(json, "time_s")) m.time_s = IntervalFromJson(*time);
  if (const Json* fit = Member(json, "fit")) m.fit = FitFromJson(*fit);
  if (const Json* launch = Member(json, "launch_s")) {
    m.launch_s = IntervalFromJson(*launch);
    m.launch_resolved = BoolOr(*launch, "resolved");
  }
  m.compile_s = OptionalNumber(json, "compile_s");
  if (const Json* rates = Member(json, "rates")) {
    for (const Json& row : *rates) {
      m.rates.push_back({StringOr(row, "name"), StringOr(row, "unit"), IntervalFromJson(row),
                         OptionalNumber(row, "of_spec")});
    }
  }
  if (const Json* law = Member(json, "alpha_beta")) {
    m.alpha_beta = AlphaBeta{OptionalNumber(*law, "alpha_s").value_or(0),
                             OptionalNumber(*law, "bytes_per_s").value_or(0),
                             OptionalNumber(*law, "half_size_bytes")};
  }
  if (const Json* work = Member(json, "work")) {
    RL_ASSIGN(m.work, WorkFromJson(*work));
  }
  m.working_set_bytes = IntegerOr(json, "working_set_bytes");
  if (const Json* check = Member(json, "check")) {
    m.check_status = StringOr(*check, "status", "none");
    m.check_detail = StringOr(*check, "detail");
  }
  if (const Json* audit = Member(json, "audit")) {
    for (const Json& line : *audit) {
      m.audit.push_back({StringOr(line, "level"), StringOr(line, "text")});
    }
  }
  m.state = ObjectOr(json, "state");
  m.program_hash = StringOr(json, "program_hash");
  m.seed = static_cast<uint64_t>(IntegerOr(json, "seed"));
  m.simulated = BoolOr(json, "simulated");
  m.predicted = BoolOr(json, "predicted");
  m.wall_s = OptionalNumber(json, "wall_s").value_or(0);
  m.timed_s = OptionalNumber(json, "timed_s").value_or(0);
  m.audit_s = OptionalNumber(json, "audit_s");
  m.check_s = OptionalNumber(json, "check_s");
  static const Json known = ToJson(Measurement{});
  for (const auto& [key, value] : json.items()) {
    if (!known.contains(key)) m.extra[key] = value;
  }
  return m;
}

}  // namespace ridgeline
