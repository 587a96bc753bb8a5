#include "child.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace ridgeline::tools {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void Serve(int out, int log, const std::function<std::string()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(log, STDERR_FILENO);
  const std::string text = work();
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(out, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    done += static_cast<size_t>(n);
  }
  // Without the destructors of the plugin, which keeps threads.
  _exit(0);
}

// False when the time is over before the child has closed its end.
bool ReadUntil(int in, Clock::time_point end, std::string& text) {
  char buffer[65536];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd wait = {in, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t n = read(in, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
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

ChildResult RunInChild(const std::function<std::string()>& work, double limit_s) {
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
    Serve(ends[1], log, work);
  }
  close(ends[1]);
  const auto limit =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  const bool in_time = ReadUntil(ends[0], Clock::now() + limit, result.output);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.log = ReadAll(log);
  close(log);
  if (!in_time) {
    result.problem = fmt::format("no answer within {} s", limit_s);
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

}  // namespace ridgeline::tools
