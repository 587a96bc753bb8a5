#include "verdict/limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace ridgeline::verdict {
namespace {

constexpr double kWorthMentioning = 0.01;  // share of work without a figure that makes a bound

using model::Bound;
using model::Confirmation;
using model::Prediction;
using model::Roof;

double RoofSeconds(const Prediction& prediction, std::string_view roof) {
  if (roof == Name(Roof::kCompute)) return prediction.compute_s;
  if (roof == Name(Roof::kMemory)) return prediction.memory_s;
  if (roof == Name(Roof::kNetwork)) return prediction.network_s;
  return prediction.host_s;
}

// The figure that the longest term of a roof stands under: "matrix bf16, nominal 197 TFLOP/s".
std::string FigureOf(const Prediction& prediction, std::string_view roof) {
  const model::Term* longest = nullptr;
  for (const model::Term& term : prediction.terms) {
    if (Name(term.roof) != roof) continue;
    if (longest == nullptr || term.seconds > longest->seconds) longest = &term;
  }
  if (longest == nullptr) return "";
  const bool compute = longest->roof == Roof::kCompute;
  const bool launches = longest->what == "launches";
  return launches ? fmt::format("{} launches, {} {} each", longest->amount,
                                Name(longest->figure.kind), FormatSeconds(1 / longest->rate))
                  : fmt::format("{}, {} {}", longest->what, Name(longest->figure.kind),
                                FormatRate(longest->rate, compute ? "FLOP/s" : "B/s"));
}

// "64 FLOP/B, under the ridge of 243" for the two roofs that meet in a ridge.
std::string Ridge(const Prediction& prediction) {
  const bool memory = prediction.bound.first == Name(Roof::kMemory);
  const bool compute = prediction.bound.first == Name(Roof::kCompute);
  if (!(memory || compute) || prediction.compute_s <= 0 || prediction.memory_s <= 0) return "";
  // At the ridge both roofs take equally long.
  const double ridge = prediction.hbm_intensity * prediction.memory_s / prediction.compute_s;
  return fmt::format("; {:.4g} FLOP/B is {} the ridge at {:.4g}", prediction.hbm_intensity,
                     memory ? "under" : "above", ridge);
}

std::string Sentence(const std::string& name, const std::string& machine,
                     const Prediction& prediction) {
  const Bound& bound = prediction.bound;
  const std::string who = fmt::format("{} on {}", Printable(name), Printable(machine));
  if (bound.first.empty()) return who + " cannot be bounded: no figure for anything that it needs";
  const std::string first =
      fmt::format("{} ({})", FormatSeconds(bound.lower_s), FigureOf(prediction, bound.first));
  if (bound.second.empty()) {
    return fmt::format("{} is {}-bound: {}; it needs nothing else", who, bound.first, first);
  }
  const double second_s = RoofSeconds(prediction, bound.second);
  const std::string second =
      fmt::format("{} ({})", FormatSeconds(second_s), FigureOf(prediction, bound.second));
  if (bound.balanced) {
    return fmt::format(
        "{} is balanced between {} and {}: {} and {}; better {} alone gains at most "
        "{}{}",
        who, bound.first, bound.second, first, second, bound.first, FormatShare(bound.margin),
        Ridge(prediction));
  }
  return fmt::format("{} is {}-bound: {}; the next roof, {}, takes {}, {} times less{}", who,
                     bound.first, first, bound.second, second,
                     FormatNumber(bound.lower_s / second_s, 3), Ridge(prediction));
}

// What the measured time says about the prediction.
std::string Conclusion(const MeasuredTime& measured, const Prediction& prediction) {
  const model::Confirmed& c = measured.confirmed;
  switch (c.verdict) {
    case Confirmation::kTooFast:
      return fmt::format(
          "{} of the bound's speed: the measured roof is too low, rerun it, or the work is counted "
          "too high",
          FormatShare(c.efficiency));
    case Confirmation::kConfirmed:
      return fmt::format("{} of the {} roof{}", FormatShare(c.efficiency), prediction.bound.first,
                         measured.doubt.empty() ? ", the bound is confirmed" : "");
    case Confirmation::kLimitedOverlap:
      return fmt::format("{} of the {} roof; the roofs overlap by {} only",
                         FormatShare(c.efficiency), prediction.bound.first, FormatShare(c.omega));
    case Confirmation::kUnexplained:
      return fmt::format("{} more than all roofs together; latency, host, stragglers or padding",
                         FormatSeconds(c.residual_s));
  }
  return "";
}

std::string Explain(const MeasuredTime& measured, const Prediction& prediction) {
  std::string text = "measured " + FormatSeconds(measured.seconds);
  if (!measured.doubt.empty()) text += fmt::format(", in doubt ({})", Printable(measured.doubt));
  if (prediction.bound.first.empty()) return text;
  return text + ": " + Conclusion(measured, prediction);
}

void AddOnce(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

// Axes that both name but that differ in size.
std::vector<std::string> MeshRemarks(const workload::Workload& workload, const Machine& machine) {
  std::vector<std::string> remarks;
  for (const MeshAxis& axis : workload.mesh) {
    const NetworkAxis* there = machine.Axis(axis.name);
    if (there == nullptr || !there->size || *there->size == axis.size) continue;
    remarks.push_back(fmt::format("axis {} has {} devices in the workload and {} on the machine",
                                  Printable(axis.name), axis.size, *there->size));
  }
  if (machine.devices && *machine.devices < workload.devices) {
    remarks.push_back(fmt::format("the workload wants {} devices, the machine has {}",
                                  workload.devices, *machine.devices));
  }
  return remarks;
}

}  // namespace

std::string Execution::Doubt() const {
  return status == CaseStatus::kOk ? "" : fmt::format("{}: {}", Name(status), reason);
}

double Limit::flops() const { return work.total_matrix_flops() + work.total_vector_flops(); }

Limit FindLimit(const workload::Workload& workload, const Machine& machine,
                const std::optional<Execution>& execution, double balance) {
  Limit limit;
  limit.machine = machine.name;
  limit.work = workload.Total();
  limit.prediction = model::Predict(limit.work, machine, balance);
  if (const double most = workload.MostHbmBytes();
      most > limit.work.hbm_bytes && limit.work.hbm_bytes > 0) {
    limit.most_memory_s = limit.prediction.memory_s * most / limit.work.hbm_bytes;
  }
  if (workload.operations.size() > 1) {
    for (const workload::Operation& operation : workload.operations) {
      OperationLimit one{
          .name = operation.name, .count = operation.count, .work = {}, .prediction = {}};
      Add(one.work, operation.work, operation.count);
      one.prediction = model::Predict(one.work, machine, balance);
      limit.operations.push_back(std::move(one));
    }
    std::ranges::stable_sort(limit.operations, std::greater(), [](const OperationLimit& one) {
      return one.prediction.bound.lower_s;
    });
  }
  if (execution && execution->seconds) {
    const Bound& bound = limit.prediction.bound;
    limit.measured = {*execution->seconds, execution->status, execution->Doubt(),
                      model::Confirm(bound.lower_s, bound.upper_s, *execution->seconds)};
  } else if (execution) {
    limit.not_measured = execution->Doubt();
  }
  limit.lower_bound = !workload.uncounted.empty() ||
                      std::ranges::any_of(limit.prediction.missing, [](const model::Missing& one) {
                        return one.share >= kWorthMentioning;
                      });
  limit.sentence = Sentence(workload.name, machine.name, limit.prediction);
  if (limit.measured) {
    limit.sentence += "; " + Explain(*limit.measured, limit.prediction);
  }
  if (!limit.not_measured.empty()) limit.remarks.push_back("not measured: " + limit.not_measured);
  if (limit.measured && !execution->labels.empty()) {
    limit.remarks.push_back(
        fmt::format("of the measured time: {}", fmt::join(execution->labels, "; ")));
  }
  std::vector<std::string> small;
  for (const model::Missing& one : limit.prediction.missing) {
    if (one.share < kWorthMentioning) {
      AddOnce(small, one.what);
      continue;
    }
    AddOnce(limit.remarks, fmt::format("{} on this machine ({} of that work): the times are lower "
                                       "bounds",
                                       one.what, FormatShare(one.share)));
  }
  if (!small.empty()) {
    AddOnce(limit.remarks, fmt::format("{} on this machine: left out, each under {} of that work",
                                       fmt::join(small, ", "), FormatShare(kWorthMentioning)));
  }
  if (const MemoryLevel* hbm = machine.Level("hbm"); hbm != nullptr && !hbm->note.empty()) {
    AddOnce(limit.remarks, "hbm: " + hbm->note + "; `ridgeline run hbm` measures more sizes");
  }
  for (const std::string& remark : MeshRemarks(workload, machine)) limit.remarks.push_back(remark);
  for (const std::string& note : limit.prediction.notes) AddOnce(limit.remarks, note);
  for (const std::string& what : workload.uncounted) AddOnce(limit.remarks, "not counted: " + what);
  // Traffic that may be more than fused could turn the verdict.
  if (limit.most_memory_s && *limit.most_memory_s > limit.prediction.bound.lower_s &&
      limit.prediction.bound.first != Name(Roof::kMemory)) {
    limit.remarks.push_back(fmt::format("with nothing fused, memory would take {} and be the bound",
                                        FormatSeconds(*limit.most_memory_s)));
  }
  if (workload.memory_bytes) {
    const MemoryLevel* hbm = machine.Level("hbm");
    const bool known = hbm != nullptr && hbm->capacity_bytes;
    if (known && *workload.memory_bytes > machine.PerDevice(*hbm->capacity_bytes)) {
      limit.remarks.push_back(
          fmt::format("does not fit: needs {} of {} on each device",
                      FormatBytes(static_cast<int64_t>(*workload.memory_bytes)),
                      FormatBytes(static_cast<int64_t>(machine.PerDevice(*hbm->capacity_bytes)))));
    }
  }
  return limit;
}

Json ToJson(const workload::Workload& workload, const Limit& limit) {
  const auto roofs = [](const Prediction& p) {
    return Json{{"compute_s", Number(p.compute_s)},
                {"memory_s", Number(p.memory_s)},
                {"network_s", Number(p.network_s)},
                {"host_s", Number(p.host_s)}};
  };
  const auto intensity = [](const Prediction& p) {
    return Json{{"hbm", Number(p.hbm_intensity)}, {"network", Number(p.network_intensity)}};
  };
  const auto name = [](const Bound& b) {
    return Json(b.balanced ? "balanced" : b.first.empty() ? "none" : b.first);
  };
  const Bound& bound = limit.prediction.bound;
  Json missing = Json::array();
  for (const model::Missing& one : limit.prediction.missing) missing.push_back(one.what);
  Json ops = Json::array();
  for (const OperationLimit& one : limit.operations) {
    ops.push_back({{"name", one.name},
                   {"count", Number(one.count)},
                   {"bound", name(one.prediction.bound)},
                   {"roofs", roofs(one.prediction)},
                   {"intensity", intensity(one.prediction)},
                   {"work", ToJson(one.work)}});
  }
  Json json = {
      {"name", workload.name},
      {"source", workload.source},
      {"machine", limit.machine},
      {"devices", workload.devices},
      {"bound", name(bound)},
      {"label", bound.label},
      {"margin", Number(bound.margin)},
      {"confidence", Number(bound.confidence)},
      {"intensity", intensity(limit.prediction)},
      {"roofs", roofs(limit.prediction)},
      {"time_s", {{"lower", Number(bound.lower_s)}, {"upper", Number(bound.upper_s)}}},
      {"most_memory_s", limit.most_memory_s ? Number(*limit.most_memory_s) : Json()},
      {"measured_s", limit.measured ? Number(limit.measured->seconds) : Json()},
      {"measured_status", limit.measured ? Json(Name(limit.measured->status)) : Json()},
      {"measured_doubt",
       limit.measured && !limit.measured->doubt.empty() ? Json(limit.measured->doubt) : Json()},
      {"not_measured", limit.not_measured.empty() ? Json() : Json(limit.not_measured)},
      {"share_of_roof", limit.measured ? Number(limit.measured->confirmed.efficiency) : Json()},
      {"work", ToJson(limit.work)},
      {"memory_bytes", workload.memory_bytes ? Number(*workload.memory_bytes) : Json()},
      {"counted", limit.lower_bound ? "lower_bound" : "exact"},
      {"uncounted", workload.uncounted},
      {"missing", std::move(missing)},
      {"sentence", limit.sentence},
      {"remarks", limit.remarks},
      {"notes", workload.notes},
      {"predicted", true},
      {"ops", std::move(ops)}};
  return json;
}

}  // namespace ridgeline::verdict
