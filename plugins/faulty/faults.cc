#include "faults.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <new>
#include <thread>

namespace ridgeline::faulty {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::string> ScriptText() {
  std::string text = Variable("RIDGELINE_FAULTY_SCRIPT");
  if (!text.starts_with("@")) return text;
  const std::string path = text.substr(1);
  std::ifstream file(path);
  if (!file) return Fail(Code::kNotFound, "cannot read the faulty script", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Zeros, or what earlier processes of the run have counted.
Result<std::atomic<int64_t>*> SharedCounts(size_t count) {
  const std::string path = Variable("RIDGELINE_FAULTY_COUNTS");
  const size_t bytes = count * sizeof(std::atomic<int64_t>);
  int fd = -1;
  if (!path.empty()) {
    fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
      return Fail(Code::kUnavailable, std::strerror(errno), path);
    }
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return Fail(Code::kUnavailable, std::strerror(errno), "mmap");
  return static_cast<std::atomic<int64_t>*>(memory);
}

void LeaveChild(double seconds) {
  if (fork() != 0) return;
  sleep(static_cast<unsigned>(seconds));
  _exit(0);
}

void Say(int fd, std::string_view text) {
  // Nobody is there to be told that it failed.
  (void)!write(fd, text.data(), text.size());
}

}  // namespace

Status Faults::LoadFromEnvironment(std::span<const std::string_view> entries) {
  RL_ASSIGN(const std::string text, ScriptText());
  RL_ASSIGN(Script script, ParseScript(text, entries));
  RL_ASSIGN(counts_, SharedCounts(script.rules.size() + 1));
  process_ = ++counts_[script.rules.size()];
  script_ = std::move(script);
  return {};
}

bool Faults::Lets(const Rule& rule, const Subject& subject) const {
  const std::string_view program = rule.Text("program");
  if (!program.empty() && subject.program.find(program) == std::string_view::npos) return false;
  if (rule.Number("min_bytes", -1) > subject.bytes) return false;
  if (static_cast<int64_t>(rule.Number("process", static_cast<double>(process_))) != process_) {
    return false;
  }
  const double device = rule.Number("device", -1);
  return device < 0 || subject.device < 0 || static_cast<int>(device) == subject.device;
}

std::vector<Hit> Faults::Match(std::string_view entry, const Subject& subject) {
  std::vector<Hit> hits;
  for (size_t i = 0; i < script_.rules.size(); ++i) {
    const Rule& rule = script_.rules[i];
    if (rule.entry != entry || rule.action == Action::kMissing || !Lets(rule, subject)) continue;
    const int64_t number = ++counts_[i];
    if (number >= rule.first && number <= rule.last) hits.push_back({&rule, number});
  }
  return hits;
}

double Faults::Delay(const Hit& hit, double rounds) {
  static std::mutex mutex;
  std::normal_distribution<double> normal;
  const Rule& rule = *hit.rule;
  const double seconds = rule.Number("ms") * 1e-3 + rounds * rule.Number("round_us") * 1e-6;
  const double drift = 1 + rule.Number("drift") * static_cast<double>(hit.number - rule.first);
  const std::lock_guard lock(mutex);
  return seconds * drift * std::max(0.0, 1 + rule.Number("noise") * normal(random_));
}

void DoToProcess(const Hit& hit) {
  const Rule& rule = *hit.rule;
  switch (rule.action) {
    case Action::kHang:
      while (true) pause();
    case Action::kAbort:
      std::abort();
    case Action::kSegfault:
      std::raise(SIGSEGV);
      return;
    case Action::kKill:
      std::raise(SIGKILL);
      return;
    case Action::kExit:
      _exit(static_cast<int>(rule.Number("status")));
    case Action::kLeaveChild:
      return LeaveChild(rule.Number("s"));
    case Action::kSay:
      return Say(static_cast<int>(rule.Number("fd")), rule.Text("text"));
    case Action::kSleep:
      return std::this_thread::sleep_for(
          std::chrono::duration<double, std::milli>(rule.Number("ms")));
    default:
      return;
  }
}

}  // namespace ridgeline::faulty
