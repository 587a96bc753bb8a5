#include "engine/host_state.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace ridgeline::engine {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string result = text.str();
  while (!result.empty() && (result.back() == '\n' || result.back() == ' ')) result.pop_back();
  return result;
}

std::optional<int64_t> LeadingInteger(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// The text after "KEY:" on its line in a /proc file.
std::optional<std::string> ProcField(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return std::nullopt;
}

std::optional<int64_t> ProcKibibytes(const std::string& path, std::string_view key) {
  const std::optional<std::string> text = ProcField(path, key);
  const std::optional<int64_t> value = text ? LeadingInteger(*text) : std::nullopt;
  return value ? std::optional(*value * 1024) : std::nullopt;
}

// Limit and use of the memory cgroup, v2 or v1; absent when there is no limit.
struct CgroupMemory {
  int64_t limit;
  int64_t used;
};
std::optional<CgroupMemory> ReadCgroupMemory() {
  static constexpr std::pair<const char*, const char*> kFiles[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
       "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [limit_file, used_file] : kFiles) {
    const std::optional<int64_t> limit = LeadingInteger(ReadText(limit_file));
    const std::optional<int64_t> used = LeadingInteger(ReadText(used_file));
    // v1 writes a huge number for "no limit".
    if (limit && used && *limit < (int64_t{1} << 60)) return CgroupMemory{*limit, *used};
  }
  return std::nullopt;
}

}  // namespace

int64_t FreeHostMemory() {
  int64_t free = ProcKibibytes("/proc/meminfo", "MemAvailable").value_or(0);
  if (const auto cgroup = ReadCgroupMemory()) free = std::min(free, cgroup->limit - cgroup->used);
  return std::max<int64_t>(free, 0);
}

void KeepFreedMemory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_ARENA_MAX, 1);        // other arenas unmap what is wholly free, whatever else is asked
  mallopt(M_TRIM_THRESHOLD, -1);  // never
}

void ReturnFreedMemory() { malloc_trim(0); }

CpuTimes ReadCpuTimes() {
  CpuTimes times;
  std::ifstream stat("/proc/stat");
  std::string label;
  stat >> label;
  // user nice system idle iowait irq softirq steal
  double fields[8] = {};
  for (double& field : fields) {
    int64_t ticks = 0;
    stat >> ticks;
    field = static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  times.busy = fields[0] + fields[1] + fields[2] + fields[5] + fields[6];
  times.stolen = fields[7];
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  times.own = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  times.wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return times;
}

Json LoadSince(const CpuTimes& start) {
  const CpuTimes now = ReadCpuTimes();
  const double wall = std::max(now.wall - start.wall, 1e-9);
  const double own = (now.own - start.own) / wall;
  // The kernel counts whole ticks of each CPU: in a short window one tick is many CPUs.
  const auto cpus = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const double tick_s = cpus / static_cast<double>(sysconf(_SC_CLK_TCK));
  const double busy = now.busy - start.busy - (now.own - start.own);
  const double other = std::clamp((busy - tick_s) / wall, 0.0, cpus);
  return {{"other_cpus", Number(other)},
          {"stolen_cpus", Number((now.stolen - start.stolen) / wall)},
          {"own_cpus", Number(own)},
          {"cpus", std::thread::hardware_concurrency()}};
}

std::vector<int64_t> DataCacheBytes() {
  std::vector<std::pair<int64_t, int64_t>> levels;
  for (int index = 0; index < 8; ++index) {
    const std::string base = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string type = ReadText(base + "type");
    if (type != "Data" && type != "Unified") continue;
    const std::optional<int64_t> level = LeadingInteger(ReadText(base + "level"));
    const std::string size_text = ReadText(base + "size");
    const std::optional<int64_t> size = LeadingInteger(size_text);
    if (!level || !size) continue;
    const int64_t scale = size_text.ends_with("K") ? 1024 : size_text.ends_with("M") ? 1048576 : 1;
    levels.emplace_back(*level, *size * scale);
  }
  std::ranges::sort(levels);
  std::vector<int64_t> bytes;
  for (const auto& [level, size] : levels) bytes.push_back(size);
  return bytes;
}

std::optional<double> CpuMegahertz() {
  const std::optional<int64_t> khz =
      LeadingInteger(ReadText("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"));
  if (khz) return static_cast<double>(*khz) / 1000;
  if (const auto text = ProcField("/proc/cpuinfo", "cpu MHz")) {
    double value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc()) return value;
  }
  return std::nullopt;
}

Json DescribeHost() {
  Json host;
  utsname name{};
  uname(&name);
  host["system"] = fmt::format("{} {}", name.sysname, name.release);
  host["machine"] = name.machine;
  host["cpu"] = ProcField("/proc/cpuinfo", "model name").value_or("unknown");
  host["cpus"] = std::thread::hardware_concurrency();
  // Where this process may run and take memory: a wrong NUMA node halves a host link.
  host["cpu_set"] = ProcField("/proc/self/status", "Cpus_allowed_list").value_or("unknown");
  host["memory_nodes"] = ProcField("/proc/self/status", "Mems_allowed_list").value_or("unknown");
  host["memory_bytes"] = OrNull(ProcKibibytes("/proc/meminfo", "MemTotal"));
  host["cgroup_memory_limit_bytes"] = nullptr;
  if (const auto cgroup = ReadCgroupMemory()) host["cgroup_memory_limit_bytes"] = cgroup->limit;
  host["data_cache_bytes"] = DataCacheBytes();
  const std::string governor = ReadText("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  host["governor"] = governor.empty() ? Json(nullptr) : Json(governor);
  const std::string hugepages = ReadText("/sys/kernel/mm/transparent_hugepage/enabled");
  host["transparent_hugepages"] = hugepages.empty() ? Json(nullptr) : Json(hugepages);
  return host;
}

}  // namespace ridgeline::engine
