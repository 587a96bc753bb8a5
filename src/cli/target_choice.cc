#include "cli/target_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common.h"
#include "cli/spec_choice.h"

namespace ridgeline::cli {

Result<predict::Target> ChooseTarget(const std::string& text) {
  RL_ASSIGN(const ChosenSpec chosen, ChooseSpec(text));
  Result<predict::Target> target = predict::MakeTarget(chosen.spec, chosen.shape, chosen.slices);
  if (!target && target.error().next.empty()) {
    target.error().next = fmt::format("`ridgeline targets {}` lists its slices", chosen.spec.name);
  }
  return target;
}

Result<std::vector<predict::Target>> ChooseTargets(const std::vector<std::string>& texts) {
  std::vector<predict::Target> targets;
  for (const std::string& text : texts) {
    RL_ASSIGN(predict::Target target, ChooseTarget(text));
    if (std::ranges::find(targets, target.name, &predict::Target::name) != targets.end()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("target {} is named twice", Printable(target.name)));
    }
    targets.push_back(std::move(target));
  }
  return targets;
}

Result<pjrt::PluginInfo> CompilerPlugin(const predict::Target& target,
                                        const std::string& requested) {
  if (!requested.empty()) return ChoosePlugin(requested);
  return ChoosePlugin(predict::PluginFor(target.spec));
}

}  // namespace ridgeline::cli
