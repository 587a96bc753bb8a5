#include "pjrt/child.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>

namespace ridgeline::pjrt {
namespace {

// The sanitizers' shadow memory is larger than any limit that makes sense.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanLimitMemory = false;
#else
constexpr bool kCanLimitMemory = true;
#endif

using Clock = std::chrono::steady_clock;

constexpr size_t kStackBytes = size_t{1} << 30;  // address space; pages are taken as they are used
constexpr std::chrono::milliseconds kLook{10};
constexpr double kMemoryShare = 0.8;

struct Task {
  const std::function<std::string()>& work;
  std::string text;
};

std::string OnLargeStack(const std::function<std::string()>& work) {
  Task task{work, ""};
  const auto body = [](void* argument) -> void* {
    auto& own = *static_cast<Task*>(argument);
    own.text = own.work();
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  if (pthread_create(&thread, &attributes, body, &task) != 0) return work();
  pthread_join(thread, nullptr);
  return task.text;
}

[[noreturn]] void Serve(int out, int log, const std::function<std::string()>& work,
                        int64_t memory_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(log, STDERR_FILENO);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (memory_bytes > 0 && kCanLimitMemory) {
    // The stack above is address space of the same kind.
    const auto bytes = static_cast<rlim_t>(memory_bytes) + kStackBytes;
    const rlimit memory = {bytes, bytes};
    setrlimit(RLIMIT_DATA, &memory);
  }
  const std::string text = OnLargeStack(work);
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(out, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    done += static_cast<size_t>(n);
  }
  // Without the destructors of the plugin, which keeps threads.
  _exit(0);
}

enum class Ending { kClosed, kLate, kEnough };

Ending ReadUntil(int in, Clock::time_point end, const std::function<bool()>& enough,
                 std::string& text) {
  char buffer[65536];
  while (true) {
    if (enough && enough()) return Ending::kEnough;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return Ending::kLate;
    if (enough) left = std::min(left, kLook);
    pollfd wait = {in, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t n = read(in, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Ending::kClosed;
    text.append(buffer, static_cast<size_t>(n));
  }
}

std::string ReadAll(int file) {
  std::string text;
  char buffer[65536];
  ssize_t n = 0;
  while ((n = pread(file, buffer, sizeof(buffer), static_cast<off_t>(text.size()))) > 0) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

int64_t MemoryForChild() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  int64_t kib = 0;
  while (info >> word) {
    if (word == "MemAvailable:" && info >> kib) {
      return static_cast<int64_t>(kMemoryShare * 1024 * static_cast<double>(kib));
    }
  }
  return 0;
}

ChildResult RunInChild(const std::function<std::string()>& work, const ChildLimits& limits) {
  ChildResult result;
  int ends[2];
  if (pipe(ends) != 0) {
    result.problem = fmt::format("no pipe: {}", std::strerror(errno));
    return result;
  }
  const int log = memfd_create("child-log", 0);
  const pid_t child = log < 0 ? -1 : fork();
  if (child < 0) {
    result.problem = fmt::format("no process: {}", std::strerror(errno));
    for (const int file : {ends[0], ends[1], log}) close(file);
    return result;
  }
  if (child == 0) {
    close(ends[0]);
    Serve(ends[1], log, work, limits.memory_bytes);
  }
  close(ends[1]);
  const auto limit =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.seconds));
  const Ending ending = ReadUntil(ends[0], Clock::now() + limit, limits.enough, result.output);
  close(ends[0]);
  if (ending != Ending::kClosed) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.log = ReadAll(log);
  close(log);
  if (ending == Ending::kEnough) {
    result.stopped = true;
  } else if (ending == Ending::kLate) {
    result.problem = fmt::format("no answer within {} s", limits.seconds);
  } else if (WIFSIGNALED(status)) {
    result.problem =
        fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 0) {
    result.problem = fmt::format("left with code {}", WEXITSTATUS(status));
  } else {
    result.finished = true;
  }
  return result;
}

}  // namespace ridgeline::pjrt
