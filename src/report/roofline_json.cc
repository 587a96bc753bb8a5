// The roofline as JSON: what the page draws from.
#include <cmath>

#include "base/text.h"
#include "report/roofline_view.h"

namespace ridgeline::report {
namespace {

Json ChoiceJson(const PlotChoice& choice) {
  Json json = Json::object();
  for (const RoofKind kind : kRoofKinds) json[std::string(Name(kind))] = CleanName(choice.Of(kind));
  return json;
}

Json GroupsJson(const RooflinePlot& plot) {
  Json json = Json::object();
  for (const RoofKind kind : kRoofKinds) {
    Json names = Json::array();
    for (const std::string& group : Groups(plot, kind)) names.push_back(CleanName(group));
    json[std::string(Name(kind))] = std::move(names);
  }
  return json;
}

Json RoofJson(const RooflinePlot& plot, const PlotRoof& roof) {
  return {
      {"kind", Name(roof.kind)},          {"origin", Name(roof.origin)},
      {"group", CleanName(roof.group)},   {"variant", CleanName(roof.variant)},
      {"name", RoofName(roof)},           {"rate", IsDrawable(roof) ? Json(*roof.rate) : Json()},
      {"unit", RoofUnit(roof)},           {"text", RoofFigure(roof)},
      {"source", CleanName(roof.source)}, {"main", IsMain(plot, roof)}};
}

// `edge`: where a mark without a finite intensity is drawn; "none": nowhere.
Json IntensityJson(const PlotIntensity& intensity) {
  const double value = intensity.flop_per_byte;
  const bool inside = std::isfinite(value) && value > 0;
  return {{"kind", Name(intensity.kind)},
          {"group", CleanName(intensity.group)},
          {"variant", CleanName(intensity.variant)},
          {"flop_per_byte", inside || value == 0 ? Json(value) : Json()},
          {"edge", inside       ? "inside"
                   : value == 0 ? "low"
                   : value > 0  ? "high"
                                : "none"},
          {"text", IntensityText(intensity)}};
}

Json PointJson(const PlotPoint& point) {
  Json intensities = Json::array();
  for (const PlotIntensity& intensity : point.intensities) {
    intensities.push_back(IntensityJson(intensity));
  }
  Json parts = Json::array();
  for (const PlotPoint& part : point.parts) parts.push_back(PointJson(part));
  const bool has_share = point.time_share && std::isfinite(*point.time_share);
  return {{"name", CleanName(point.name)},
          {"origin", Name(point.origin)},
          {"dtype", CleanName(point.dtype)},
          {"rate", HasRate(point) ? Json(*point.rate) : Json()},
          {"rate_text", PointRate(point)},
          {"time_s", Number(point.time_s)},
          {"time_text", point.time_s ? FormatSeconds(*point.time_s) : "-"},
          {"time_share", Number(point.time_share)},
          {"share_text", has_share ? FormatShare(*point.time_share) : "-"},
          {"bound", CleanName(point.bound)},
          {"note", CleanName(point.note)},
          {"intensities", std::move(intensities)},
          {"parts", std::move(parts)}};
}

// The axes of every choice, so that the page need not know how they are found.
Json ViewsJson(const RooflinePlot& plot) {
  const auto groups = [&plot](RoofKind kind) {
    std::vector<std::string> names = Groups(plot, kind);
    if (names.empty()) names.emplace_back();
    return names;
  };
  Json views = Json::array();
  for (const std::string& dtype : groups(RoofKind::kCompute)) {
    for (const std::string& level : groups(RoofKind::kMemory)) {
      for (const std::string& axis : groups(RoofKind::kNetwork)) {
        for (const std::string& link : groups(RoofKind::kHost)) {
          const RooflineView view = MakeView(plot, {dtype, level, axis, link});
          Json one = ChoiceJson(view.choice);
          one["x"] = {view.x.lo, view.x.hi};
          one["y"] = {view.y.lo, view.y.hi};
          views.push_back(std::move(one));
        }
      }
    }
  }
  return views;
}

}  // namespace

Json RooflineJson(const RooflinePlot& plot) {
  Json conditions = Json::array();
  for (const std::string& line : plot.conditions) conditions.push_back(CleanName(line));
  Json roofs = Json::array();
  for (const PlotRoof& roof : plot.roofs) roofs.push_back(RoofJson(plot, roof));
  Json points = Json::array();
  for (const PlotPoint& point : plot.points) points.push_back(PointJson(point));
  return {{"schema", "ridgeline.roofline_plot/1"},
          {"title", CleanName(plot.title)},
          {"conditions", std::move(conditions)},
          {"units", {{"rate", kRateUnit}, {"intensity", kIntensityUnit}}},
          {"chosen", ChoiceJson(ChosenOrFirst(plot))},
          {"groups", GroupsJson(plot)},
          {"roofs", std::move(roofs)},
          {"points", std::move(points)},
          {"views", ViewsJson(plot)}};
}

}  // namespace ridgeline::report
