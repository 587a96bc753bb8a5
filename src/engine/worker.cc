#include "engine/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>

#include "base/text.h"
#include "engine/batch.h"
#include "engine/host_state.h"
#include "engine/protocol.h"
#include "pjrt/client.h"

namespace ridgeline::engine {
namespace {

constexpr double kHostMemoryShare = 0.8;  // of what is free
constexpr double kDeviceMemoryShare = 0.9;

std::string ReadLine(int fd) {
  std::string line;
  char buffer[65536];
  while (true) {
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return line;
    line.append(buffer, static_cast<size_t>(n));
    if (line.back() == '\n') return line;
  }
}

void WriteLine(int fd, const Json& json) {
  const std::string line = DumpLine(json) + "\n";
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = write(fd, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);  // the parent is gone
    done += static_cast<size_t>(n);
  }
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Code::kNotFound, "cannot be read", path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<std::vector<DevicePlace>> UsedPlaces(const device::Client& client, int asked) {
  std::vector<DevicePlace> places;
  for (const device::DeviceInfo& device : client.devices()) {
    if (device.addressable) places.push_back({device.coords, device.core});
  }
  if (places.empty()) return Fail(Code::kUnavailable, "the plugin sees no device");
  if (asked > static_cast<int>(places.size())) {
    return Fail(Code::kUnavailable,
                fmt::format("asked for {} devices, the plugin sees {}", asked, places.size()), "",
                "set --devices to what `ridgeline devices` lists");
  }
  if (asked > 0) places.resize(static_cast<size_t>(asked));
  return places;
}

int64_t FreeBytes(device::Client& client, const Mesh& mesh, int devices) {
  // A CPU's device memory is the host's.
  const auto host = static_cast<int64_t>(kHostMemoryShare * static_cast<double>(FreeHostMemory()));
  if (client.platform().name == "cpu") return host;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int device : mesh.order) {
    const std::optional<device::MemoryUse> use = client.MemoryInUse(device);
    if (use && use->limit) least = std::min(least, *use->limit - use->in_use);
  }
  if (least == std::numeric_limits<int64_t>::max()) return host;
  return static_cast<int64_t>(kDeviceMemoryShare * static_cast<double>(least)) * devices;
}

Status Work(const std::string& job_line, int out) {
  RL_ASSIGN(const Json json, ParseJson(job_line));
  RL_ASSIGN(Job job, JobFromJson(json));
  pjrt::ClientOptions options{.plugin_path = job.plugin_path, .create_options = {}};
  if (job.plugin_name == "cpu" && job.devices > 0) {
    options.create_options["cpu_device_count"] = int64_t{job.devices};
  }
  RL_ASSIGN(const std::unique_ptr<device::Client> client, pjrt::CreateClient(options));
  RL_ASSIGN(const std::vector<DevicePlace> places, UsedPlaces(*client, job.devices));
  RL_ASSIGN(const Mesh mesh, MakeMesh(places, job.axes));
  WriteLine(out, ReadyEvent(client->platform(), client->devices(), mesh));

  RunContext context;
  context.client = client.get();
  context.mesh = &mesh;
  context.seed = job.seed;
  context.read_file = ReadFile;
  context.free_bytes = [&](int devices) { return FreeBytes(*client, mesh, devices); };
  context.phase = [out](const std::string& id, Phase phase, double expected_s) {
    WriteLine(out, {{"event", "phase"},
                    {"id", id},
                    {"phase", Name(phase)},
                    {"expected_s", Number(expected_s)}});
  };
  context.rest = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  context.earlier = std::move(job.earlier);
  RunCases(
      context, std::move(job.cases),
      {.done =
           [out](const Measurement& measurement) {
             WriteLine(out, {{"event", "done"}, {"measurement", ridgeline::ToJson(measurement)}});
           },
       .passed =
           [out](const EarlierPasses& earlier) {
             WriteLine(out, {{"event", "passed"},
                             {"id", earlier.measurement.id},
                             {"earlier", ToJson(earlier)}});
           }});
  WriteLine(out, {{"event", "end"}});
  return {};
}

}  // namespace

int RunWorker(int in, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  KeepFreedMemory();
  // Where nothing that the plugin writes or starts will find it.
  constexpr int kOutOfTheWay = 100;
  const int events = fcntl(out, F_DUPFD_CLOEXEC, kOutOfTheWay);
  close(out);
  const Status status = Work(ReadLine(in), events);
  if (!status) WriteLine(events, FailedEvent(status.error()));
  // Plugins keep threads; their destructors at exit are of no use to anyone.
  _exit(status ? 0 : 1);
}

}  // namespace ridgeline::engine
