#include "spec/spec.h"

namespace ridgeline::spec {
namespace {

Json FigureJson(const SpecFigure& figure) {
  Json json = ToJson(figure.figure);
  json["confidence"] = figure.confidence;
  if (!figure.emulated_as.empty()) json["emulated_as"] = figure.emulated_as;
  if (!figure.hosts.empty()) json["hosts"] = figure.hosts;
  for (const SpecFigure& other : figure.alternatives) {
    json["alternatives"].push_back(FigureJson(other));
  }
  return json;
}

Json OptionalJson(const std::optional<SpecFigure>& figure) {
  return figure ? FigureJson(*figure) : Json(nullptr);
}

Json NetworkJson(const SpecNetwork& network) {
  Json shapes = Json::array();
  for (const Shape& shape : network.shapes) shapes.push_back(ToString(shape));
  return {{"fabric", Name(network.fabric)},
          {"axes", network.axes},
          {"links_per_chip", OrNull(network.links_per_chip)},
          {"link_bytes_per_s", FigureJson(network.link)},
          {"core_link_bytes_per_s", OptionalJson(network.core_link)},
          {"hop_s", OptionalJson(network.hop)},
          {"wrap", Name(network.wrap)},
          {"pod", network.pod.empty() ? Json(nullptr) : Json(ToString(network.pod))},
          {"shapes", shapes},
          {"max_chips", OrNull(network.max_chips)}};
}

Json PriceJson(const SpecPrice& price) {
  return {{"value", price.price.value}, {"currency", price.price.currency},
          {"per", price.price.per},     {"includes", price.price.includes},
          {"terms", price.terms},       {"region", price.region},
          {"as_of", price.price.as_of}, {"source", price.price.source},
          {"note", price.note}};
}

Json ReachedJson(const Reached& reached) {
  return {{"what", reached.what},           {"value", Number(reached.value)},
          {"share", Number(reached.share)}, {"of", reached.of},
          {"source", reached.source},       {"note", reached.note}};
}

}  // namespace

Json ToJson(const Spec& spec) {
  Json json = {{"name", spec.name},
               {"title", spec.title},
               {"vendor", spec.vendor},
               {"status", spec.status},
               {"aliases", spec.aliases},
               {"device_kinds", spec.device_kinds},
               {"devices_per_chip", spec.devices_per_chip}};
  json["compute"] = Json::object();
  for (const auto& [unit, rates] : spec.compute) {
    for (const auto& [dtype, rate] : rates) {
      json["compute"][std::string(Name(unit))][dtype] = FigureJson(rate);
    }
  }
  json["memory"] = Json::object();
  for (const SpecLevel& level : spec.memory) {
    json["memory"][level.name] = {{"capacity_bytes", OptionalJson(level.capacity_bytes)},
                                  {"runtime_bytes", OptionalJson(level.runtime_bytes)},
                                  {"bytes_per_s", OptionalJson(level.bytes_per_s)}};
  }
  json["network"] = spec.network ? NetworkJson(*spec.network) : Json(nullptr);
  json["dcn"] = Json::array();
  for (const SpecFigure& figure : spec.dcn) json["dcn"].push_back(FigureJson(figure));
  json["chips_per_host"] = OrNull(spec.chips_per_host);
  json["host_link"] = {{"type", spec.host_link_type},
                       {"bytes_per_s", OptionalJson(spec.host_link)}};
  json["power_w"] = OptionalJson(spec.power_w);
  json["prices"] = Json::array();
  for (const SpecPrice& price : spec.prices) json["prices"].push_back(PriceJson(price));
  json["reached"] = Json::array();
  for (const Reached& reached : spec.reached) json["reached"].push_back(ReachedJson(reached));
  json["notes"] = spec.notes;
  return json;
}

}  // namespace ridgeline::spec
