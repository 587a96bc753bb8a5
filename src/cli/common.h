// What the subcommands share: output, errors, files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "pjrt/discovery.h"

namespace ridgeline::cli {

// Result of a command, on stdout. A closed pipe ends the program quietly, a full disk is an error.
// On a terminal control characters other than line ends and our colours are escaped.
void Out(std::string_view text);
// Logs, on stderr; control characters other than line ends are escaped.
void Err(std::string_view text);
// What moves the cursor of stderr's terminal. Names in it have gone through Printable.
void ErrAsIs(std::string_view bytes);
// Prints the error and returns the exit code that belongs to it.
int Report(const Error& error);

bool IsTerminal(int fd);
// stdout is a terminal and NO_COLOR is not set.
bool UseColor();
// Columns of the terminal on `fd`; 100 when it is none.
int TerminalWidth(int fd);

// argv of this program with a subcommand.
std::vector<std::string> SelfCommand(std::string_view subcommand);

Result<std::string> ReadTextFile(const std::string& path);  // "-" is stdin

// FindPlugin over this process' environment; what is not found is an unusable plugin (exit code 3).
Result<pjrt::PluginInfo> ChoosePlugin(std::string_view requested);

// Plugin library and devices by starting a worker that only describes: the `ready` event of
// engine/protocol.h, with the plugin's provenance under "plugin".
Result<Json> DescribeDevices(const pjrt::PluginInfo& plugin, int devices);

Json ToJson(const pjrt::PluginInfo& plugin);

}  // namespace ridgeline::cli
