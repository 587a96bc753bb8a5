#include "core/machine.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"

namespace ridgeline {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"nominal", "practical", "measured"};
constexpr std::array<std::string_view, 2> kDirections = {"one_way", "both"};
constexpr std::array<std::string_view, 3> kUnits = {"matrix", "vector", "transcendental"};
constexpr std::array<std::string_view, 3> kFabrics = {"torus", "switch", "dcn"};

template <typename T>
Result<T> ParseName(std::string_view what, std::string_view text,
                    std::span<const std::string_view> names) {
  const auto it = std::ranges::find(names, text);
  if (it == names.end()) return Fail(Code::kInvalidArgument, UnknownName(what, text, names));
  return static_cast<T>(it - names.begin());
}

Json FigureOrNull(const std::optional<Figure>& figure) {
  return figure ? ToJson(*figure) : Json(nullptr);
}

Json LevelToJson(const MemoryLevel& level) {
  Json rates = Json::object();
  for (const auto& [pattern, figure] : level.bytes_per_s) {
    rates[std::string(Name(pattern))] = ToJson(figure);
  }
  return {{"name", level.name},
          {"capacity_bytes", FigureOrNull(level.capacity_bytes)},
          {"bytes_per_s", rates},
          {"note", level.note}};
}

Json AxisToJson(const Machine& machine, const NetworkAxis& axis) {
  Json laws = Json::object();
  for (const auto& [collective, law] : axis.laws) {
    laws[collective] = {{"alpha_s", ToJson(law.alpha_s)},
                        {"payload_bytes_per_s", ToJson(law.payload_bytes_per_s)}};
  }
  return {{"name", axis.name},
          {"size", OrNull(axis.size)},
          {"fabric", Name(axis.fabric)},
          {"wrap", axis.wrap},
          {"link_bytes_per_s", FigureOrNull(axis.link_bytes_per_s)},
          {"hop_s", FigureOrNull(axis.hop_s)},
          {"egress_bytes_per_s", Number(machine.Egress(axis))},
          {"laws", laws}};
}

}  // namespace

std::string_view Name(FigureKind kind) { return kKinds[static_cast<size_t>(kind)]; }
Result<FigureKind> ParseFigureKind(std::string_view text) {
  return ParseName<FigureKind>("kind of figure", text, kKinds);
}

std::string_view Name(Direction direction) { return kDirections[static_cast<size_t>(direction)]; }
Result<Direction> ParseDirection(std::string_view text) {
  return ParseName<Direction>("direction", text, kDirections);
}

std::string_view Name(ComputeUnit unit) { return kUnits[static_cast<size_t>(unit)]; }
Result<ComputeUnit> ParseComputeUnit(std::string_view text) {
  return ParseName<ComputeUnit>("unit", text, kUnits);
}

std::string_view Name(Fabric fabric) { return kFabrics[static_cast<size_t>(fabric)]; }
Result<Fabric> ParseFabric(std::string_view text) {
  return ParseName<Fabric>("fabric", text, kFabrics);
}

double OneWay(const Figure& figure) {
  return figure.direction == Direction::kBoth ? figure.value / 2 : figure.value;
}

const Figure* Machine::Peak(ComputeUnit unit, std::string_view dtype) const {
  const auto of_unit = peaks.find(unit);
  if (of_unit == peaks.end()) return nullptr;
  const auto it = of_unit->second.find(dtype);
  return it == of_unit->second.end() ? nullptr : &it->second;
}

const MemoryLevel* Machine::Level(std::string_view level) const {
  const auto it = std::ranges::find(memory, level, &MemoryLevel::name);
  return it == memory.end() ? nullptr : &*it;
}

const NetworkAxis* Machine::Axis(std::string_view axis) const {
  const auto it = std::ranges::find(axes, axis, &NetworkAxis::name);
  return it == axes.end() ? nullptr : &*it;
}

double Machine::PerDevice(const Figure& figure) const {
  return figure.scope == Scope::kChip ? figure.value / devices_per_chip : figure.value;
}

std::optional<double> Machine::LinkRate(const NetworkAxis& axis) const {
  if (!axis.link_bytes_per_s) return std::nullopt;
  Figure one_way = *axis.link_bytes_per_s;
  one_way.value = OneWay(one_way);
  return PerDevice(one_way);
}

std::optional<double> Machine::Egress(const NetworkAxis& axis) const {
  const std::optional<double> link = LinkRate(axis);
  const bool ring = axis.fabric == Fabric::kTorus && axis.wrap && axis.size != 2;
  return link && ring ? std::optional(2 * *link) : link;
}

Json ToJson(const Figure& figure) {
  Json json = {{"value", Number(figure.value)},
               {"kind", Name(figure.kind)},
               {"source", figure.source},
               {"as_of", figure.as_of},
               {"scope", Name(figure.scope)}};
  if (figure.direction) json["direction"] = Name(*figure.direction);
  if (!figure.note.empty()) json["note"] = figure.note;
  return json;
}

Json ToJson(const Machine& machine) {
  Json json = {{"name", machine.name},
               {"title", machine.title},
               {"devices_per_chip", machine.devices_per_chip},
               {"devices", OrNull(machine.devices)}};
  json["peaks"] = Json::object();
  for (const auto& [unit, peaks] : machine.peaks) {
    Json& of_unit = json["peaks"][std::string(Name(unit))] = Json::object();
    for (const auto& [dtype, figure] : peaks) of_unit[dtype] = ToJson(figure);
  }
  json["memory"] = Json::array();
  for (const MemoryLevel& level : machine.memory) json["memory"].push_back(LevelToJson(level));
  json["axes"] = Json::array();
  for (const NetworkAxis& axis : machine.axes) json["axes"].push_back(AxisToJson(machine, axis));
  json["host_to_device"] = FigureOrNull(machine.host_to_device);
  json["device_to_host"] = FigureOrNull(machine.device_to_host);
  json["launch_s"] = FigureOrNull(machine.launch_s);
  json["price"] = nullptr;
  if (const auto& price = machine.price) {
    json["price"] = {
        {"value", Number(price->value)}, {"currency", price->currency}, {"per", price->per},
        {"includes", price->includes},   {"source", price->source},     {"as_of", price->as_of}};
  }
  json["notes"] = machine.notes;
  return json;
}

}  // namespace ridgeline
