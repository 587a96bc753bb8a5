#include "cli/spec_choice.h"

#include <algorithm>

#include "cli/common.h"

namespace ridgeline::cli {
namespace {

bool HasExtension(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

// Extents of the box that the devices' coordinates fill; empty when they give none.
spec::Shape BoxOf(const Json& devices) {
  spec::Shape low;
  spec::Shape high;
  for (const Json& device : devices) {
    const Json* coords = Member(device, "coords");
    if (coords == nullptr || !coords->is_array() || coords->empty()) return {};
    for (size_t i = 0; i < coords->size(); ++i) {
      const int64_t at = (*coords)[i].is_number_integer() ? (*coords)[i].get<int64_t>() : 0;
      if (i == low.size()) {
        low.push_back(at);
        high.push_back(at);
      }
      low[i] = std::min(low[i], at);
      high[i] = std::max(high[i], at);
    }
  }
  spec::Shape box;
  for (size_t i = 0; i < low.size(); ++i) box.push_back(high[i] - low[i] + 1);
  return box;
}

// Chips of a run: by coordinates on a torus, by number behind switches.
spec::Shape ShapeOf(const spec::Spec& spec, const Json& devices) {
  if (!spec.network || devices.empty()) return {};
  if (spec.network->fabric != Fabric::kTorus) {
    return {static_cast<int64_t>(devices.size()) / spec.devices_per_chip};
  }
  spec::Shape box = BoxOf(devices);
  const auto axes = static_cast<size_t>(spec.network->axes);
  // A plugin gives three coordinates on a torus of two axes, the last without extent.
  while (box.size() > axes && box.back() == 1) box.pop_back();
  return box.size() == axes ? box : spec::Shape{};
}

}  // namespace

Result<ChosenSpec> ChooseSpec(const std::string& text) {
  spec::Target target{text, {}};
  if (!HasExtension(text)) {
    RL_ASSIGN(target, spec::ParseTarget(text));
  }
  if (HasExtension(target.name) || target.name.find('/') != std::string::npos) {
    RL_ASSIGN(const std::string file, ReadTextFile(target.name));
    RL_ASSIGN(spec::Spec spec, spec::ReadSpec(file, target.name));
    return ChosenSpec{std::move(spec), target.shape, target.slices};
  }
  RL_ASSIGN(const std::span<const spec::Spec> specs, spec::EmbeddedSpecs());
  RL_ASSIGN(const spec::Spec* const spec, spec::FindSpec(specs, target.name));
  return ChosenSpec{*spec, target.shape, target.slices};
}

Result<std::optional<Machine>> SpecOfRun(const std::string& choice, const Json& header) {
  const Json* devices = Member(header, "devices");
  const bool known = devices != nullptr && devices->is_array() && !devices->empty();
  std::optional<ChosenSpec> chosen;
  if (!choice.empty()) {
    RL_ASSIGN(chosen, ChooseSpec(choice));
  } else if (known) {
    RL_ASSIGN(const std::span<const spec::Spec> specs, spec::EmbeddedSpecs());
    const spec::Spec* match = spec::MatchDeviceKind(specs, StringOr(devices->front(), "kind"));
    if (match != nullptr) chosen = ChosenSpec{*match, {}};
  }
  if (!chosen) return std::optional<Machine>();
  if (!chosen->shape.empty()) {
    RL_ASSIGN(Machine machine, spec::MakeMachine(chosen->spec, chosen->shape, chosen->slices));
    return std::optional(std::move(machine));
  }
  const spec::Shape shape = known ? ShapeOf(chosen->spec, *devices) : spec::Shape{};
  if (Result<Machine> machine = spec::MakeMachine(chosen->spec, shape); machine && !shape.empty()) {
    return std::optional(std::move(*machine));
  }
  // Some devices of a slice: how they are wired is not known.
  RL_ASSIGN(Machine machine, spec::MakeMachine(chosen->spec, {}));
  machine.axes.clear();
  return std::optional(std::move(machine));
}

}  // namespace ridgeline::cli
