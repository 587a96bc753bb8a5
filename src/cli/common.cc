#include "cli/common.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "engine/supervisor.h"

namespace ridgeline::cli {

namespace {

// The length of a sequence at the start of `text` that only changes colours ("\x1b[1;31m"), or 0.
size_t ColourAt(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Text for a terminal: lines, and colours where they are wanted; nothing that a name of a file or a
// device may hold moves the cursor or hides what stands there.
std::string Tame(std::string_view text, bool colours) {
  std::string out;
  while (!text.empty()) {
    const size_t kept = text.front() == '\n' ? 1 : colours ? ColourAt(text) : 0;
    out += text.substr(0, kept);
    text.remove_prefix(kept);
    const size_t end = std::min(text.find_first_of("\n\x1b", kept == 0 ? 1 : 0), text.size());
    out += Printable(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace

void Out(std::string_view text) {
  // Into a file or a pipe go the bytes as they are.
  const std::string tame = IsTerminal(STDOUT_FILENO) ? Tame(text, UseColor()) : "";
  if (!tame.empty()) text = tame;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return;
  }
  if (errno == EPIPE) std::_Exit(kExitOk);  // the reader has seen enough
  Err(fmt::format("ridgeline: cannot write the result: {}\n", std::strerror(errno)));
  std::_Exit(kExitUsage);
}

void Err(std::string_view text) { ErrAsIs(Tame(text, false)); }

void ErrAsIs(std::string_view bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stderr);
  std::fflush(stderr);
}

int Report(const Error& error) {
  Err(fmt::format("ridgeline: {}\n", error.ToString()));
  switch (error.code) {
    case Code::kUnavailable:
      return kExitNoDevice;
    case Code::kInternal:
      return kExitBug;
    case Code::kCancelled:
      return kExitInterrupted;
    default:
      return kExitUsage;
  }
}

bool IsTerminal(int fd) { return isatty(fd) == 1; }

bool UseColor() {
  const char* no_color = std::getenv("NO_COLOR");
  return IsTerminal(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0');
}

int TerminalWidth(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

std::vector<std::string> SelfCommand(std::string_view subcommand) {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
  return {n > 0 ? std::string(path, static_cast<size_t>(n)) : "ridgeline", std::string(subcommand)};
}

Result<std::string> ReadTextFile(const std::string& path) {
  std::stringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Code::kNotFound, std::strerror(errno), path);
  text << file.rdbuf();
  if (file.bad() || text.fail()) return Fail(Code::kNotFound, "cannot be read as a file", path);
  return text.str();
}

Json ToJson(const pjrt::PluginInfo& plugin) {
  return {{"name", plugin.name},       {"library", plugin.library}, {"source", plugin.source},
          {"package", plugin.package}, {"version", plugin.version}, {"sha256", plugin.sha256},
          {"licence", plugin.licence}};
}

Result<pjrt::PluginInfo> ChoosePlugin(std::string_view requested) {
  Result<pjrt::PluginInfo> plugin = pjrt::FindPlugin(requested, pjrt::SearchEnv::FromProcess());
  if (!plugin) plugin.error().code = Code::kUnavailable;
  return plugin;
}

Result<Json> DescribeDevices(const pjrt::PluginInfo& plugin, int devices) {
  Json ready;
  const engine::SuperviseCallbacks callbacks{
      .ready = [&ready](const Json& event) -> Status {
        ready = event;
        return {};
      },
      .phase = {},
      .done = [](const Measurement&) -> Status { return {}; },
      .tick = {}};
  const engine::SuperviseOptions options{.worker_command = SelfCommand("worker"),
                                         .start_timeout_s = StartTimeout(plugin)};
  const Result<engine::SuperviseResult> run = engine::Supervise({.plugin_path = plugin.library,
                                                                 .plugin_name = plugin.name,
                                                                 .devices = devices,
                                                                 .axes = {},
                                                                 .seed = 1,
                                                                 .cases = {}},
                                                                options, callbacks);
  if (!run) return tl::unexpected(ExplainStart(run.error(), plugin, {}));
  ready["schema"] = "ridgeline.devices/1";
  ready.erase("event");
  ready["plugin"] = ToJson(plugin);
  ready["plugin"].update(ready["platform"]);
  ready["plugin"]["name"] = plugin.name;
  ready["plugin"]["platform"] = ready["platform"]["name"];
  ready.erase("platform");
  return ready;
}

}  // namespace ridgeline::cli
