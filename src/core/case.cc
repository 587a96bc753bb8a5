#include "core/case.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace ridgeline {
namespace {

constexpr std::array<std::string_view, 6> kComponents = {"network", "compute",   "hbm",
                                                         "host",    "attention", "imported"};
constexpr std::array<std::string_view, 3> kScopes = {"device", "chip", "all"};

}  // namespace

std::string_view Name(Component component) { return kComponents[static_cast<size_t>(component)]; }

Result<Component> ParseComponent(std::string_view text) {
  for (size_t i = 0; i < kComponents.size(); ++i) {
    if (kComponents[i] == text) return static_cast<Component>(i);
  }
  return Fail(Code::kInvalidArgument, UnknownName("component", text, kComponents));
}

std::string_view Name(Scope scope) { return kScopes[static_cast<size_t>(scope)]; }

std::string Case::id() const {
  std::string text = bench + "/" + params.Canonical();
  text += placement.all ? "@all" : fmt::format("@device{}", placement.device);
  if (data_mode != "normal") text += ":" + data_mode;
  return text;
}

Json ToJson(const Case& c) {
  return {{"component", Name(c.component)},
          {"bench", c.bench},
          {"params", ToJson(c.params)},
          {"all", c.placement.all},
          {"device", c.placement.device},
          {"relative_half_width", c.precision.relative_half_width},
          {"min_blocks", c.precision.min_blocks},
          {"max_blocks", c.precision.max_blocks},
          {"passes", c.precision.passes},
          {"block_seconds", c.precision.block_seconds},
          {"time_limit_s", c.precision.time_limit_s},
          {"data_mode", c.data_mode},
          {"named", c.named}};
}

Result<Case> CaseFromJson(const Json& json) {
  Case c;
  RL_ASSIGN(c.component, ParseComponent(StringOr(json, "component")));
  c.bench = StringOr(json, "bench");
  RL_ASSIGN(c.params, ParamsFromJson(ObjectOr(json, "params")));
  c.placement.all = BoolOr(json, "all");
  c.placement.device = static_cast<int>(IntegerOr(json, "device"));
  Precision& p = c.precision;
  p.relative_half_width =
      OptionalNumber(json, "relative_half_width").value_or(p.relative_half_width);
  p.min_blocks = static_cast<int>(IntegerOr(json, "min_blocks", p.min_blocks));
  p.max_blocks = static_cast<int>(IntegerOr(json, "max_blocks", p.max_blocks));
  p.passes = static_cast<int>(IntegerOr(json, "passes", p.passes));
  p.block_seconds = OptionalNumber(json, "block_seconds").value_or(p.block_seconds);
  p.time_limit_s = OptionalNumber(json, "time_limit_s").value_or(p.time_limit_s);
  c.data_mode = StringOr(json, "data_mode", c.data_mode);
  c.named = BoolOr(json, "named");
  return c;
}

}  // namespace ridgeline
