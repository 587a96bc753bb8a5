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

constexpr size_t kLastWords = 2000;   // bytes of the worker's stderr kept for a reason
constexpr double kCompileFactor = 3;  // compiles may be silent for longer
constexpr double kExpectedFactor = 20;
// Cases whose passes alternate: enough for time to go by between two passes of one case, few enough
// that an interruption costs little.
constexpr size_t kTogether = 40;

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

  // Moved before it is waited for only.
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
      TakeLines(lines);
    }
    return true;
  }

  bool HasEnded() {
    if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
    return ended_;
  }

  // What a worker that has ended wrote before.
  void Drain(std::vector<std::string>& lines) {
    fcntl(events_.get(), F_SETFL, O_NONBLOCK);
    char buffer[65536];
    ssize_t n = 0;
    while ((n = read(events_.get(), buffer, sizeof(buffer))) > 0) {
      line_.append(buffer, static_cast<size_t>(n));
    }
    TakeLines(lines);
  }

  void Kill() {
    kill(-pid_, SIGKILL);
    if (!ended_) kill(pid_, SIGKILL);
    Reap();
  }

  // "signal 11 (Segmentation fault)", "exit code 3", with the last words it wrote.
  std::string Reap() {
    while (!ended_ && waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    kill(-pid_, SIGKILL);  // what the plugin started and left
    pid_ = -1;
    std::string how = WIFSIGNALED(status_) ? fmt::format("signal {} ({})", WTERMSIG(status_),
                                                         strsignal(WTERMSIG(status_)))
                                           : fmt::format("exit code {}", WEXITSTATUS(status_));
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

  void TakeLines(std::vector<std::string>& lines) {
    size_t start = 0;
    for (size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n', start)) {
      lines.push_back(line_.substr(start, end - start));
      start = end + 1;
    }
    line_.erase(0, start);
  }

  void SendJob() {
    const ssize_t n = write(in_.get(), pending_job_.data(), pending_job_.size());
    if (n > 0) pending_job_.erase(0, static_cast<size_t>(n));
    const bool broken = n < 0 && errno != EAGAIN && errno != EINTR;
    if (broken) pending_job_.clear();
    if (pending_job_.empty()) in_.Close();
  }

  pid_t pid_ = -1;
  bool ended_ = false;  // and waited for, with status_
  int status_ = 0;
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
      : job_(std::move(job)),
        options_(options),
        callbacks_(callbacks),
        left_(std::move(job_.cases)) {
    std::ranges::stable_sort(left_, {}, [](const Case& c) { return c.component; });
    if (options_.time_limit_s > 0) deadline_ = Now() + options_.time_limit_s;
  }

  Result<SuperviseResult> Run() {
    int barren = 0;  // workers in a row that died without ending a case
    StartGroup();
    while (true) {
      ended_ = 0;
      RL_ASSIGN(const WorkerEnd end, RunOneWorker());
      if (end == WorkerEnd::kRunIsOver) break;
      if (end == WorkerEnd::kDied) {
        ++result_.restarts;
        barren = ended_ > 0 ? 0 : barren + 1;
        if (barren >= 2) {
          RL_CHECK_OK(Stop({Code::kUnavailable, "the worker process dies at once: " + last_death_,
                            "", "see `ridgeline doctor`"}));
          break;
        }
        if (!now_.empty() || !announced_) continue;
      }
      Move(now_, result_.not_run);  // that the worker left out
      now_ = std::exchange(waiting_, {});
      if (now_.empty()) StartGroup();
      if (now_.empty()) break;
    }
    Move(now_, result_.not_run);
    Move(waiting_, result_.not_run);
    Move(left_, result_.not_run);
    if (!result_.interrupted) RL_CHECK_OK(EndHalfDone());
    return result_;
  }

 private:
  enum class WorkerEnd { kFinished, kDied, kRunIsOver };

  static void Move(std::vector<Case>& from, std::vector<Case>& to) {
    std::ranges::move(from, std::back_inserter(to));
    from.clear();
  }

  // The next cases: all of one pass, or a group whose passes alternate.
  void StartGroup() {
    const bool several = !left_.empty() && left_.front().precision.passes > 1;
    size_t count = 0;
    while (count < left_.size() && (left_[count].precision.passes > 1) == several &&
           (!several || count < kTogether)) {
      ++count;
    }
    const auto end = left_.begin() + static_cast<std::ptrdiff_t>(count);
    now_.assign(std::move_iterator(left_.begin()), std::move_iterator(end));
    left_.erase(left_.begin(), end);
  }

  // Cases that some passes have measured.
  Status EndHalfDone() {
    const std::vector<Case> not_run = std::exchange(result_.not_run, {});
    for (const Case& c : not_run) {
      const auto it = job_.earlier.find(c.id());
      if (it == job_.earlier.end()) {
        result_.not_run.push_back(c);
        continue;
      }
      Measurement measurement = it->second.measurement;
      const std::string before = measurement.reason.empty() ? "" : "; " + measurement.reason;
      measurement.reason = fmt::format("the run ended after {} of {} passes{}", it->second.done,
                                       c.precision.passes, before);
      if (measurement.status == CaseStatus::kOk) measurement.status = CaseStatus::kUnconverged;
      RL_CHECK_OK(callbacks_.done(std::move(measurement)));
    }
    return {};
  }

  Result<WorkerEnd> RunOneWorker() {
    job_.cases = now_;
    RL_ASSIGN(WorkerProcess worker,
              WorkerProcess::Start(options_.worker_command, DumpLine(ToJson(job_)) + "\n"));
    active_.clear();
    phase_ = "start";
    phase_deadline_ = Now() + options_.start_timeout_s;
    while (true) {
      std::vector<std::string> lines;
      bool open = worker.Poll(0.1, lines);
      if (open && worker.HasEnded()) {
        // A process that the plugin left behind may hold the pipe open for ever.
        worker.Drain(lines);
        open = false;
      }
      for (const std::string& line : lines) {
        RL_ASSIGN(const std::optional<WorkerEnd> end, Handle(line));
        if (end) {
          worker.Kill();
          return *end;
        }
      }
      if (callbacks_.tick) callbacks_.tick();
      if (options_.interrupted && options_.interrupted->load()) {
        worker.Kill();
        result_.interrupted = true;
        return WorkerEnd::kRunIsOver;
      }
      if (deadline_ > 0 && Now() > deadline_) {
        worker.Kill();
        return WorkerEnd::kRunIsOver;
      }
      if (!open) {
        last_death_ = worker.Reap();
        RL_CHECK_OK(Lose(fmt::format("the worker died in phase '{}': {}", phase_, last_death_)));
        return WorkerEnd::kDied;
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
        return WorkerEnd::kDied;
      }
    }
  }

  // The worker's end, when the line says it.
  Result<std::optional<WorkerEnd>> Handle(const std::string& line) {
    const Result<Json> parsed = ParseJson(line);
    if (!parsed) return std::nullopt;  // the plugin wrote to our descriptor: not ours to read
    const Json& event = *parsed;
    const std::string kind = StringOr(event, "event");
    if (kind == "ready") {
      const Json mesh = ObjectOr(event, "mesh");
      if (announced_ && mesh != mesh_) {
        RL_CHECK_OK(Stop({Code::kUnavailable,
                          fmt::format("the plugin's devices have changed during the run: mesh {}, "
                                      "before {}",
                                      DumpLine(mesh), DumpLine(mesh_)),
                          "", "start a new run with the devices that are there"}));
        return WorkerEnd::kRunIsOver;
      }
      mesh_ = mesh;
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
    } else if (kind == "passed") {
      RL_ASSIGN(EarlierPasses earlier, EarlierPassesFromJson(ObjectOr(event, "earlier")));
      Pass(StringOr(event, "id"), std::move(earlier));
    } else if (kind == "failed") {
      Error error = ErrorFromEvent(event);
      // Whatever kept the plugin from opening, it cannot be used here.
      error.code = Code::kUnavailable;
      RL_CHECK_OK(Stop(std::move(error)));
      return WorkerEnd::kRunIsOver;
    } else if (kind == "end") {
      return WorkerEnd::kFinished;
    }
    return std::nullopt;
  }

  // No worker can go on. Before anything was announced that is an error, later the end of the run.
  Status Stop(Error error) {
    if (!announced_) return tl::unexpected(std::move(error));
    result_.stopped = std::move(error);
    return {};
  }

  Status Finish(Measurement measurement) {
    std::erase_if(now_, [&measurement](const Case& c) { return c.id() == measurement.id; });
    job_.earlier.erase(measurement.id);
    NoteEnd();
    return callbacks_.done(std::move(measurement));
  }

  void Pass(const std::string& id, EarlierPasses earlier) {
    const auto it = std::ranges::find_if(now_, [&id](const Case& c) { return c.id() == id; });
    if (it == now_.end()) return;
    waiting_.push_back(std::move(*it));
    now_.erase(it);
    job_.earlier.insert_or_assign(id, std::move(earlier));
    NoteEnd();
    if (callbacks_.passed) callbacks_.passed(waiting_.back());
  }

  void NoteEnd() {
    ++ended_;
    active_.clear();
    phase_ = "between cases";
  }

  // The active case is lost to a dead worker; the others of its batch run again.
  Status Lose(const std::string& reason) {
    const auto it = std::ranges::find_if(now_, [this](const Case& c) { return c.id() == active_; });
    if (it == now_.end()) return {};
    Measurement measurement;
    measurement.id = active_;
    measurement.component = it->component;
    measurement.bench = it->bench;
    measurement.params = it->params;
    measurement.data_mode = it->data_mode;
    measurement.status = CaseStatus::kFailed;
    const auto earlier = job_.earlier.find(active_);
    const int done = earlier == job_.earlier.end() ? 0 : earlier->second.done;
    measurement.reason = InPass(done, it->precision.passes) + reason;
    return Finish(std::move(measurement));
  }

  Job job_;
  const SuperviseOptions& options_;
  const SuperviseCallbacks& callbacks_;
  std::vector<Case> now_;      // of the worker at hand
  std::vector<Case> waiting_;  // for their next pass
  std::vector<Case> left_;     // of later groups
  int ended_ = 0;              // cases and passes that the worker at hand brought to an end
  SuperviseResult result_;
  bool announced_ = false;
  Json mesh_;
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
