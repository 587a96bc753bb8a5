#include "report/figures.h"
#include "report/report.h"

namespace ridgeline::report {
namespace {

Json IdOrNull(const Measurement* m) { return m ? Json(m->id) : Json(nullptr); }

Json SummaryJson(const ComponentSummary& summary, const store::ResultFile* baseline) {
  Json json = {{"best", IdOrNull(summary.best)}, {"figure", nullptr}};
  if (summary.figure != nullptr) {
    json["figure"] = {{"name", summary.figure->name},
                      {"unit", summary.figure->unit},
                      {"value", Number(summary.figure->value.value)},
                      {"lo", Number(summary.figure->value.lo)},
                      {"hi", Number(summary.figure->value.hi)}};
  }
  json["score"] = Number(summary.score);
  json["score_case"] = IdOrNull(summary.score_case);
  json["above_spec"] = baseline == nullptr && summary.score.value_or(0) > 1;
  json["reference"] = ReferenceName(summary, baseline);
  json["expected"] = Expectation(summary, baseline);
  json["note"] = summary.note;
  json["cases"] = summary.cases;
  json["statuses"] = Json::object();
  for (const auto& [status, count] : summary.statuses) {
    json["statuses"][std::string(Name(status))] = count;
  }
  json["checks"] = {{"passed", summary.checks_passed}, {"failed", summary.checks_failed}};
  return json;
}

}  // namespace

Json RunJson(const Json& header, std::span<const Measurement> measurements,
             const store::ResultFile* baseline) {
  Json components = Json::object();
  for (const ComponentSummary& summary : Summarise(header, measurements)) {
    components[std::string(Name(summary.component))] = SummaryJson(summary, baseline);
  }
  Json records = Json::array();
  for (const Measurement& m : measurements) records.push_back(ToJson(m));
  return {{"schema", "ridgeline.run/1"},
          {"header", header},
          {"components", components},
          {"measurements", records}};
}

}  // namespace ridgeline::report
