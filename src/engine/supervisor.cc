#include "engine/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>

#include "base/text.h"

namespace ridgeline::engine {
namespace {

constexpr size_t kLastWords = 2000;    // bytes of the worker's stderr kept for a reason
constexpr double kStartTimeout = 120;  // until `ready`
constexpr double kCompileFactor = 3;   // compiles may be silent for longer
constexpr double kExpectedFactor = 20;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> MakePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return Fail(Code::kInternal, std::strerror(errno), "pipe2");
  return Pipe{Descriptor(fds[0]), Descriptor(fds[1])};
}

class WorkerProcess {
 public:
  static Result<WorkerProcess> Start(const std::vector<std::string>& command,
                                     const std::string& job_line) {
    RL_ASSIGN(Pipe in, MakePipe());
    RL_ASSIGN(Pipe events, MakePipe());
    RL_ASSIGN(Pipe errors, MakePipe());
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t pid = fork();
    if (pid < 0) return Fail(Code::kInternal, std::strerror(errno), "fork");
    if (pid == 0) {
      setpgid(0, 0);  // a group of its own: what the plugin starts dies with it
      // Above the numbers that dup2 writes to, so that none of them is closed on the way.
      const int from_parent = fcntl(in.read.get(), F_DUPFD, 10);
      const int to_parent = fcntl(events.write.get(), F_DUPFD, 10);
      const int words = fcntl(errors.write.get(), F_DUPFD, 10);
      dup2(from_parent, 0);
      dup2(words, 1);
      dup2(words, 2);
      dup2(to_parent, 3);
      for (int fd = 4; fd < 64; ++fd) close(fd);
      execv(argv[0], argv.data());
      _exit(127);
    }
    WorkerProcess worker;
    worker.pid_ = pid;
    worker.events_ = std::move(events.read);
    worker.errors_ = std::move(errors.read);
    worker.in_ = std::move(in.write);
    worker.pending_job_ = job_line;
    fcntl(worker.in_.get(), F_SETFL, O_NONBLOCK);
    // A process that the plugin left behind may hold the other end open for ever.
    fcntl(worker.errors_.get(), F_SETFL, O_NONBLOCK);
    return worker;
  }

  WorkerProcess(WorkerProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        events_(std::move(other.events_)),
        errors_(std::move(other.errors_)),
        in_(std::move(other.in_)),
        pending_job_(std::move(other.pending_job_)),
        line_(std::move(other.line_)),
        last_words_(std::move(other.last_words_)) {}
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess() {
    if (pid_ > 0) Kill();
  }

  // Waits at most `seconds`; appends whole lines to `lines`. False when the worker closed its end.
  bool Poll(double seconds, std::vector<std::string>& lines) {
    pollfd fds[3] = {{events_.get(), POLLIN, 0},
                     {errors_.get(), POLLIN, 0},
                     {pending_job_.empty() ? -1 : in_.get(), POLLOUT, 0}};
    if (poll(fds, 3, static_cast<int>(seconds * 1000)) <= 0) return true;
    char buffer[65536];
    if (fds[1].revents & POLLIN) {
      const ssize_t n = read(errors_.get(), buffer, sizeof(buffer));
      if (n > 0) last_words_.append(buffer, static_cast<size_t>(n));
      if (last_words_.size() > 2 * kLastWords)
        last_words_.erase(0, last_words_.size() - kLastWords);
    } else if (fds[1].revents & (POLLHUP | POLLERR)) {
      errors_.Close();
    }
    if (fds[2].revents & (POLLOUT | POLLERR)) SendJob();
    if (fds[0].revents & (POLLIN | POLLHUP)) {
      const ssize_t n = read(events_.get(), buffer, sizeof(buffer));
      if (n <= 0) return n < 0 && errno == EINTR;
      line_.append(buffer, static_cast<size_t>(n));
      size_t start = 0;
      for (size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n', start)) {
        lines.push_back(line_.substr(start, end - start));
        start = end + 1;
      }
      line_.erase(0, start);
    }
    return true;
  }

  void Kill() {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    Reap();
  }

  // "signal 11 (Segmentation fault)", "exit code 3", with the last words it wrote.
  std::string Reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    std::string how = WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status),
                                                        strsignal(WTERMSIG(status)))
                                          : fmt::format("exit code {}", WEXITSTATUS(status));
    char buffer[4096];
    ssize_t n = 0;
    while (errors_.get() >= 0 && (n = read(errors_.get(), buffer, sizeof(buffer))) > 0) {
      last_words_.append(buffer, static_cast<size_t>(n));
    }
    if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
    while (!last_words_.empty() && last_words_.back() == '\n') last_words_.pop_back();
    if (!last_words_.empty()) how += "; its last words: " + Printable(last_words_);
    return how;
  }

 private:
  WorkerProcess() = default;

  void SendJob() {
    const ssize_t n = write(in_.get(), pending_job_.data(), pending_job_.size());
    if (n > 0) pending_job_.erase(0, static_cast<size_t>(n));
    const bool broken = n < 0 && errno != EAGAIN && errno != EINTR;
    if (broken) pending_job_.clear();
    if (pending_job_.empty()) in_.Close();
  }

  pid_t pid_ = -1;
  Descriptor events_;
  Descriptor errors_;
  Descriptor in_;
  std::string pending_job_;
  std::string line_;
  std::string last_words_;
};

class Supervisor {
 public:
  Supervisor(Job job, const SuperviseOptions& options, const SuperviseCallbacks& callbacks)
      : job_(std::move(job)), options_(options), callbacks_(callbacks), left_(job_.cases) {
    if (options_.time_limit_s > 0) deadline_ = Now() + options_.time_limit_s;
  }

  Result<SuperviseResult> Run() {
    int barren = 0;  // workers in a row that died without ending a case
    while (true) {
      const size_t before = left_.size();
      RL_ASSIGN(const bool finished, RunOneWorker());
      if (finished) break;
      ++result_.restarts;
      barren = left_.size() < before ? 0 : barren + 1;
      if (barren >= 2) {
        return Fail(Code::kUnavailable, "the worker process dies at once: " + last_death_, "",
                    "see `ridgeline doctor`");
      }
      if (left_.empty()) break;
    }
    result_.not_run = left_;
    return result_;
  }

 private:
  // True when the run is over, false when the worker died and another one has to go on.
  Result<bool> RunOneWorker() {
    job_.cases = left_;
    RL_ASSIGN(WorkerProcess worker,
              WorkerProcess::Start(options_.worker_command, DumpLine(ToJson(job_)) + "\n"));
    active_.clear();
    phase_ = "start";
    phase_deadline_ = Now() + options_.start_timeout_s;
    while (true) {
      std::vector<std::string> lines;
      const bool open = worker.Poll(0.1, lines);
      for (const std::string& line : lines) {
        RL_ASSIGN(const bool end, Handle(line));
        if (end) {
          worker.Kill();
          return true;
        }
      }
      if (callbacks_.tick) callbacks_.tick();
      if (options_.interrupted && options_.interrupted->load()) {
        worker.Kill();
        result_.interrupted = true;
        return true;
      }
      if (deadline_ > 0 && Now() > deadline_) {
        worker.Kill();
        return true;
      }
      if (!open) {
        last_death_ = worker.Reap();
        RL_CHECK_OK(Lose(fmt::format("the worker died in phase '{}': {}", phase_, last_death_)));
        return false;
      }
      if (Now() > phase_deadline_) {
        worker.Kill();
        last_death_ = fmt::format("no sign of life in phase '{}'", phase_);
        if (!announced_) {
          return Fail(Code::kUnavailable,
                      fmt::format("the plugin did not open its devices within {}",
                                  FormatSeconds(options_.start_timeout_s)),
                      job_.plugin_path, "see `ridgeline doctor`");
        }
        RL_CHECK_OK(Lose(fmt::format("{} beyond the limit; killed (--hang-timeout {:g})",
                                     last_death_, options_.hang_timeout_s)));
        return false;
      }
    }
  }

  Result<bool> Handle(const std::string& line) {
    const Result<Json> parsed = ParseJson(line);
    if (!parsed) return false;  // the plugin wrote to our descriptor: not ours to read
    const Json& event = *parsed;
    const std::string kind = StringOr(event, "event");
    if (kind == "ready") {
      if (!announced_ && callbacks_.ready) RL_CHECK_OK(callbacks_.ready(event));
      announced_ = true;
      phase_deadline_ = Now() + options_.hang_timeout_s;
      phase_ = "between cases";
    } else if (kind == "phase") {
      active_ = StringOr(event, "id");
      phase_ = StringOr(event, "phase");
      const double expected = OptionalNumber(event, "expected_s").value_or(0);
      const double factor = phase_ == "compile" ? kCompileFactor : 1;
      phase_deadline_ = Now() + factor * options_.hang_timeout_s + kExpectedFactor * expected;
      if (callbacks_.phase) callbacks_.phase(active_, phase_);
    } else if (kind == "done") {
      RL_ASSIGN(Measurement measurement, MeasurementFromJson(ObjectOr(event, "measurement")));
      RL_CHECK_OK(Finish(std::move(measurement)));
    } else if (kind == "failed") {
      Error error = ErrorFromEvent(event);
      // Whatever kept the plugin from opening, it cannot be used here.
      if (!announced_) error.code = Code::kUnavailable;
      return tl::unexpected(std::move(error));
    } else if (kind == "end") {
      return true;
    }
    return false;
  }

  Status Finish(Measurement measurement) {
    std::erase_if(left_, [&measurement](const Case& c) { return c.id() == measurement.id; });
    active_.clear();
    phase_ = "between cases";
    return callbacks_.done(std::move(measurement));
  }

  // The active case is lost to a dead worker; the others of its batch run again.
  Status Lose(std::string reason) {
    const auto it =
        std::ranges::find_if(left_, [this](const Case& c) { return c.id() == active_; });
    if (it == left_.end()) return {};
    Measurement measurement;
    measurement.id = active_;
    measurement.component = it->component;
    measurement.bench = it->bench;
    measurement.params = it->params;
    measurement.data_mode = it->data_mode;
    measurement.status = CaseStatus::kFailed;
    measurement.reason = std::move(reason);
    return Finish(std::move(measurement));
  }

  Job job_;
  const SuperviseOptions& options_;
  const SuperviseCallbacks& callbacks_;
  std::vector<Case> left_;
  SuperviseResult result_;
  bool announced_ = false;
  std::string active_;
  std::string phase_;
  std::string last_death_;
  double phase_deadline_ = 0;
  double deadline_ = 0;
};

}  // namespace

Result<SuperviseResult> Supervise(Job job, const SuperviseOptions& options,
                                  const SuperviseCallbacks& callbacks) {
  return Supervisor(std::move(job), options, callbacks).Run();
}

}  // namespace ridgeline::engine
