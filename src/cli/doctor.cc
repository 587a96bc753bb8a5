// `ridgeline doctor`: what is here and ready, and what to do about the rest.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/environment.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string plugin;
  bool json = false;
};

DoctorLine PluginLine(const pjrt::PluginInfo& plugin) {
  const std::string what = fmt::format("plugin {}", plugin.name);
  const std::string from =
      plugin.package.empty() ? plugin.library : plugin.package + " " + plugin.version;
  if (plugin.name == "tpu" && !HasTpuNodes({})) {
    return {what, "ok", from + " (not opened: no TPU here; ahead-of-time compiles work)", ""};
  }
  const int devices = plugin.name == "cpu" ? 2 : 0;
  Result<Json> description = DescribeDevices(plugin, devices);
  if (!description) {
    return {what, "warning", Printable(from + ": " + description.error().message),
            description.error().next};
  }
  const Json& list = (*description)["devices"];
  const std::string kind = list.empty() ? "no device" : StringOr(list[0], "kind");
  return {
      what, list.empty() ? "warning" : "ok",
      fmt::format("{}, PJRT API {}, {} x {}{}", Printable(from),
                  StringOr((*description)["plugin"], "api_version"), list.size(), Printable(kind),
                  plugin.name == "cpu" ? " (virtual, as many as --devices asks for)" : ""),
      ""};
}

std::vector<DoctorLine> Examine(const Options& options) {
  std::vector<DoctorLine> lines;
  const pjrt::SearchEnv env = pjrt::SearchEnv::FromProcess();
  std::vector<pjrt::PluginInfo> plugins = pjrt::ListPlugins(env);
  const Result<pjrt::PluginInfo> chosen = pjrt::FindPlugin(options.plugin, env);
  if (!chosen) {
    lines.push_back({"plugin", "missing", chosen.error().message, chosen.error().next});
  } else if (std::ranges::none_of(plugins, [&](const pjrt::PluginInfo& p) {
               return p.library == chosen->library;
             })) {
    plugins.insert(plugins.begin(), *chosen);
  }
  for (const pjrt::PluginInfo& plugin : plugins) lines.push_back(PluginLine(plugin));
  const bool libtpu =
      std::ranges::any_of(plugins, [](const pjrt::PluginInfo& p) { return p.name == "tpu"; });
  const auto append = [&lines](std::vector<DoctorLine> more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  append(TpuLines({}, libtpu));
  append(GpuLines({}));
  append(HostLines({}));
  return lines;
}

int Run(const Options& options) {
  const std::vector<DoctorLine> lines = Examine(options);
  const bool usable = std::ranges::any_of(lines, [](const DoctorLine& line) {
    return line.what.starts_with("plugin ") && line.state == "ok";
  });
  if (options.json) {
    Json list = Json::array();
    for (const DoctorLine& line : lines) {
      list.push_back({{"what", line.what},
                      {"state", line.state},
                      {"detail", line.detail},
                      {"next", line.next}});
    }
    Out(DumpPretty({{"schema", "ridgeline.doctor/1"}, {"lines", list}}) + "\n");
  } else {
    std::string text;
    for (const DoctorLine& line : lines) {
      text += fmt::format("{:<8} {:<22} {}\n", line.state, line.what, line.detail);
      if (!line.next.empty()) text += fmt::format("{:<31} next: {}\n", "", line.next);
    }
    Out(text);
  }
  return usable ? kExitOk : kExitNoDevice;
}

}  // namespace

void Add_doctor(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "doctor", "What is here and ready: plugins, devices, drivers, host; each with the next step");
  command->add_option("--plugin", options->plugin, "look at this plugin too (name or path)");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Examples:\n  ridgeline doctor\n  ridgeline doctor --plugin ./my_plugin.so --json");
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace ridgeline::cli
