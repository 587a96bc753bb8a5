// `ridgeline devices`: what a plugin sees.
#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/run_plan.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string plugin;
  int devices = 0;
  bool json = false;
};

std::string DevicesTable(const Json& description) {
  Table table({"id", "kind", "process", "coords", "core", "memories"}, {true});
  for (const Json& device : description["devices"]) {
    std::string memories;
    for (const Json& memory : device["memories"]) {
      if (!memories.empty()) memories += ", ";
      memories += Printable(StringOr(memory, "kind"));
      if (BoolOr(memory, "default")) memories += " (default)";
    }
    const Json& coords = device["coords"];
    table.Row({fmt::format("{}", IntegerOr(device, "id")), Printable(StringOr(device, "kind")),
               fmt::format("{}", IntegerOr(device, "process")),
               coords.empty() ? "-" : DumpLine(coords),
               fmt::format("{}", IntegerOr(device, "core")), memories});
  }
  const Json& plugin = description["plugin"];
  return fmt::format("{} plugin, PJRT API {}, {}\n{}\n{}mesh: {}\n",
                     Printable(StringOr(plugin, "platform")), StringOr(plugin, "api_version"),
                     Printable(StringOr(plugin, "version")), Printable(StringOr(plugin, "library")),
                     table.ToString(), StringOr(description["mesh"], "note"));
}

int Run(const Options& options) {
  const Result<pjrt::PluginInfo> plugin = ChoosePlugin(options.plugin);
  if (!plugin) return Report(plugin.error());
  const int devices =
      options.devices == 0 && plugin->name == "cpu" ? kDefaultCpuDevices : options.devices;
  Result<Json> description = DescribeDevices(*plugin, devices);
  if (!description) return Report(description.error());
  if (options.json) {
    Out(DumpPretty(*description) + "\n");
  } else {
    Out(DevicesTable(*description));
  }
  return kExitOk;
}

}  // namespace

void Add_devices(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("devices", "Devices that a plugin sees: kind, coordinates, memories");
  command->add_option("--plugin", options->plugin, "cpu, tpu, cuda … or the path of a PJRT plugin");
  command
      ->add_option("--devices", options->devices, "virtual devices of the CPU plugin (default 4)")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n  ridgeline devices\n  ridgeline devices --plugin tpu --json");
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace ridgeline::cli
