#include "cli/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "engine/host_state.h"

namespace ridgeline::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kUsualStart = 120;
constexpr double kTpuOffCloudStart = 12;
constexpr const char* kTpuVariables[] = {"TPU_SKIP_MDS_QUERY",        "TPU_WORKER_ID",
                                         "TPU_WORKER_HOSTNAMES",      "TPU_ACCELERATOR_TYPE",
                                         "TPU_CHIPS_PER_HOST_BOUNDS", "LIBTPU_INIT_ARGS",
                                         "ALLOW_MULTIPLE_LIBTPU_LOAD"};
constexpr const char* kOffCloudAdvice =
    "on a TPU VM unset TPU_SKIP_MDS_QUERY; elsewhere libtpu serves ahead-of-time compiles only, "
    "with "
    "TPU_SKIP_MDS_QUERY=1 TPU_WORKER_HOSTNAMES=localhost TPU_WORKER_ID=0";

std::string ReadTrimmed(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string result = text.str();
  while (!result.empty() && (result.back() == '\n' || result.back() == ' ')) result.pop_back();
  return result;
}

std::string FirstLine(const fs::path& path) {
  const std::string text = ReadTrimmed(path);
  return text.substr(0, text.find('\n'));
}

// Names in `folder` that start with `prefix`; empty when there is no such folder.
std::vector<std::string> Entries(const fs::path& folder, std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Process that has `file` open, by the links in proc/PID/fd.
std::optional<std::string> HolderOf(const SystemRoot& root, const fs::path& file) {
  for (const std::string& pid : Entries(fs::path(root.path) / "proc", "")) {
    if (!IsNumber(pid)) continue;
    const fs::path folder = fs::path(root.path) / "proc" / pid / "fd";
    for (const std::string& fd : Entries(folder, "")) {
      std::error_code error;
      if (fs::read_symlink(folder / fd, error) == file) return pid;
    }
  }
  return std::nullopt;
}

DoctorLine LockLine(const SystemRoot& root) {
  const fs::path lock = fs::path(root.path) / "tmp/libtpu_lockfile";
  std::error_code error;
  if (!fs::exists(lock, error)) {
    return {"libtpu lock file", "ok", "none: no other process holds the TPU", ""};
  }
  if (const auto pid = HolderOf(root, lock)) {
    const std::string name = FirstLine(fs::path(root.path) / "proc" / *pid / "comm");
    return {"libtpu lock file", "warning",
            fmt::format("{} is held by process {} ({})", lock.string(), *pid, Printable(name)),
            fmt::format("wait for process {} to end, or stop it", *pid)};
  }
  return {"libtpu lock file", "warning",
          fmt::format("{} exists and no process that this user can see holds it", lock.string()),
          fmt::format("if no other user's process runs on the TPU: rm {}", lock.string())};
}

DoctorLine MemoryLine(const SystemRoot& root) {
  const int64_t free = engine::FreeHostMemory();
  const std::string limit = ReadTrimmed(fs::path(root.path) / "sys/fs/cgroup/memory.max");
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), bytes);
  const bool limited = error == std::errc() && end == limit.data() + limit.size();
  constexpr int64_t kSmall = int64_t{2} << 30;
  return {
      "memory", free < kSmall ? "warning" : "ok",
      fmt::format("{} free, cgroup limit {}", FormatBytes(free),
                  limited ? FormatBytes(bytes) : "none"),
      free < kSmall ? "cases that need more are skipped; free memory or use a larger machine" : ""};
}

DoctorLine GovernorLine(const SystemRoot& root) {
  const std::string governor =
      ReadTrimmed(fs::path(root.path) / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) {
    return {"CPU governor", "ok", "not visible here (usual in a virtual machine)", ""};
  }
  const bool good = governor == "performance";
  return {"CPU governor", good ? "ok" : "warning", governor,
          good ? "" : "for steadier figures: cpupower frequency-set -g performance"};
}

DoctorLine LoadLine(const SystemRoot& root) {
  const std::string text = ReadTrimmed(fs::path(root.path) / "proc/loadavg");
  double load = 0;
  std::from_chars(text.data(), text.data() + text.size(), load);
  const bool busy = load > 0.5;
  return {
      "host load", busy ? "warning" : "ok", fmt::format("load average {}", FormatNumber(load, 3)),
      busy ? "other processes disturb the measurement: stop them or expect wider intervals" : ""};
}

}  // namespace

bool HasTpuNodes(const SystemRoot& root) {
  // TPU VMs show /dev/accelN, or /dev/vfio/N with Google's vendor id on the PCI bus.
  if (!Entries(fs::path(root.path) / "dev", "accel").empty()) return true;
  for (const std::string& device : Entries(fs::path(root.path) / "sys/bus/pci/devices", "")) {
    const fs::path folder = fs::path(root.path) / "sys/bus/pci/devices" / device;
    const std::string kind = ReadTrimmed(folder / "class");
    if (ReadTrimmed(folder / "vendor") == "0x1ae0" && kind.starts_with("0x1200")) return true;
  }
  return false;
}

std::vector<DoctorLine> HostLines(const SystemRoot& root) {
  std::vector<DoctorLine> lines;
  const Json host = engine::DescribeHost();
  std::vector<std::string> caches;
  for (const int64_t bytes : engine::DataCacheBytes()) caches.push_back(FormatBytes(bytes));
  lines.push_back(
      {"CPU", "ok",
       fmt::format("{}, {} cores, data caches {}", Printable(StringOr(host, "cpu")),
                   IntegerOr(host, "cpus"),
                   caches.empty() ? "unknown" : fmt::format("{}", fmt::join(caches, ", "))),
       ""});
  lines.push_back(MemoryLine(root));
  const size_t nodes = Entries(fs::path(root.path) / "sys/devices/system/node", "node").size();
  lines.push_back(
      {"NUMA", nodes > 1 ? "warning" : "ok",
       nodes == 0 ? "not visible" : fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s"),
       nodes > 1 ? "host transfers depend on the node: run under numactl --cpunodebind "
                   "--membind of the device's node"
                 : ""});
  lines.push_back(GovernorLine(root));
  const std::string pages =
      ReadTrimmed(fs::path(root.path) / "sys/kernel/mm/transparent_hugepage/enabled");
  lines.push_back({"transparent hugepages", "ok", pages.empty() ? "not visible" : pages, ""});
  lines.push_back(LoadLine(root));
  return lines;
}

std::vector<DoctorLine> TpuLines(const SystemRoot& root, bool libtpu_found) {
  const bool nodes = HasTpuNodes(root);
  std::vector<DoctorLine> lines;
  if (!nodes && !libtpu_found) {
    lines.push_back(
        {"TPU", "missing", "no TPU device nodes and no libtpu", "on a TPU VM: ./dev plugins tpu"});
    return lines;
  }
  lines.push_back({"TPU devices", nodes ? "ok" : "missing",
                   nodes ? "TPU device nodes are there" : "no TPU device nodes on this machine",
                   nodes ? "" : kOffCloudAdvice});
  if (!libtpu_found) {
    lines.push_back({"libtpu", "missing", "TPU devices but no libtpu", "./dev plugins tpu"});
  }
  std::vector<std::string> set;
  for (const char* variable : kTpuVariables) {
    if (const char* value = std::getenv(variable))
      set.push_back(fmt::format("{}={}", variable, value));
  }
  const bool hides = nodes && std::getenv("TPU_SKIP_MDS_QUERY") != nullptr;
  lines.push_back(
      {"TPU environment", hides ? "warning" : "ok",
       set.empty() ? "no TPU variable is set" : Printable(fmt::format("{}", fmt::join(set, " "))),
       hides ? "unset TPU_SKIP_MDS_QUERY: libtpu needs the metadata server for its "
               "topology"
             : ""});
  lines.push_back(LockLine(root));
  return lines;
}

std::vector<DoctorLine> GpuLines(const SystemRoot& root) {
  std::vector<DoctorLine> lines;
  const std::string nvidia = FirstLine(fs::path(root.path) / "proc/driver/nvidia/version");
  if (!nvidia.empty()) lines.push_back({"NVIDIA driver", "ok", Printable(nvidia), ""});
  const std::string amd = FirstLine(fs::path(root.path) / "sys/module/amdgpu/version");
  if (!amd.empty()) lines.push_back({"AMD driver", "ok", "amdgpu " + Printable(amd), ""});
  if (lines.empty()) lines.push_back({"GPU driver", "missing", "no NVIDIA or AMD driver", ""});
  return lines;
}

double StartTimeout(const pjrt::PluginInfo& plugin) {
  return plugin.name == "tpu" && !HasTpuNodes({}) ? kTpuOffCloudStart : kUsualStart;
}

Error ExplainStart(Error error, const pjrt::PluginInfo& plugin, const SystemRoot& root) {
  if (plugin.name != "tpu") return error;
  const DoctorLine lock = LockLine(root);
  if (!HasTpuNodes(root)) {
    error.message += "; this machine has no TPU device nodes";
    error.next = kOffCloudAdvice;
  } else if (lock.state != "ok") {
    error.message += "; " + lock.detail;
    error.next = lock.next;
  }
  return error;
}

}  // namespace ridgeline::cli
