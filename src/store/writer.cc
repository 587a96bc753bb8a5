#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "store/line.h"
#include "store/results.h"

namespace ridgeline::store {
namespace {

Code CodeOf(int error) {
  switch (error) {
    case EEXIST:
      return Code::kAlreadyExists;
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Code::kResourceExhausted;
    default:
      return Code::kUnavailable;
  }
}

tl::unexpected<Error> SystemError(const std::string& path, std::string_view doing, int error,
                                  std::string next = "") {
  return Fail(CodeOf(error), fmt::format("cannot {}: {}", doing, std::strerror(error)), path,
              std::move(next));
}

// A new name is on disk once its directory is.
Status SyncDirectoryOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return SystemError(path, "open the directory", errno);
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  // Some file systems cannot sync a directory.
  if (error != 0 && error != EINVAL) return SystemError(path, "sync the directory", error);
  return {};
}

Status Lock(int fd, const std::string& path) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
  if (errno == EWOULDBLOCK) {
    return Fail(Code::kUnavailable, "another run is writing this file", path,
                "wait for it, or choose another file");
  }
  return SystemError(path, "lock", errno);
}

// A file that has no whole line: its run ended while it was made.
bool LacksHeader(int fd) {
  std::string start(size_t{1} << 20, '\0');
  const ssize_t n = pread(fd, start.data(), start.size(), 0);
  return n >= 0 && start.find('\n') == std::string::npos && static_cast<size_t>(n) < start.size();
}

}  // namespace

ResultWriter::ResultWriter(ResultWriter&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      regular_(other.regular_),
      header_crc_(other.header_crc_) {}

ResultWriter& ResultWriter::operator=(ResultWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(regular_, other.regular_);
  std::swap(header_crc_, other.header_crc_);
  return *this;
}

ResultWriter::~ResultWriter() {
  if (fd_ >= 0) close(fd_);
}

Result<ResultWriter> ResultWriter::Create(const std::string& path, const Json& header) {
  struct stat info {};
  const bool device = stat(path.c_str(), &info) == 0 && S_ISCHR(info.st_mode);
  const int flags = O_WRONLY | O_CLOEXEC | O_APPEND | (device ? 0 : O_CREAT | O_EXCL);
  const int fd = open(path.c_str(), flags, 0644);
  if (fd < 0) {
    return SystemError(path, "create the result file", errno,
                       errno == EEXIST ? "go on with it (--resume), or choose another name" : "");
  }
  ResultWriter writer(path, fd, !device);
  if (!device) RL_CHECK_OK(Lock(fd, path));
  SealedLine sealed = SealLine(MakeHeader(header));
  writer.header_crc_ = sealed.crc;
  const Status written = writer.WriteLine(std::move(sealed.text));
  if (!written) {
    if (!device) unlink(path.c_str());
    return tl::unexpected(written.error());
  }
  if (!device) RL_CHECK_OK(SyncDirectoryOf(path));
  return writer;
}

Status ResultWriter::WriteLine(std::string line) {
  if (fd_ < 0) return Fail(Code::kFailedPrecondition, "the result file is closed", path_);
  line += '\n';
  const off_t start = regular_ ? lseek(fd_, 0, SEEK_END) : 0;
  if (start < 0) return SystemError(path_, "find the end of the file", errno);
  size_t done = 0;
  int error = 0;
  while (done < line.size() && error == 0) {
    const ssize_t n = write(fd_, line.data() + done, line.size() - done);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && regular_ && fsync(fd_) != 0) error = errno;
  if (error == 0) return {};
  // Half a line before a whole one would make the file unreadable.
  if (regular_ && ftruncate(fd_, start) != 0) {
    close(std::exchange(fd_, -1));
    return SystemError(path_, "write a record, nor cut off its half,", error);
  }
  return SystemError(path_, "write a record", error);
}

Status ResultWriter::Append(const Measurement& measurement) {
  return WriteLine(SealLine(ToJson(measurement), header_crc_).text);
}

Status ResultWriter::Close() {
  if (fd_ < 0) return {};
  if (close(std::exchange(fd_, -1)) != 0) return SystemError(path_, "close", errno);
  return {};
}

Result<ResumedFile> ResumeWriter(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_APPEND);
  if (fd < 0) return SystemError(path, "open the result file", errno);
  ResultWriter writer(path, fd, true);
  // Read under the lock, so that what is read is what is gone on with.
  RL_CHECK_OK(Lock(fd, path));
  Result<ResultFile> loaded = LoadResults(path);
  if (!loaded && LacksHeader(fd)) {
    return Fail(Code::kFailedPrecondition,
                "holds no whole header: the run was stopped before it measured anything", path,
                "remove the file and start the run anew");
  }
  RL_ASSIGN(ResultFile file, std::move(loaded));
  writer.header_crc_ = file.header_crc;
  if (ftruncate(fd, static_cast<off_t>(file.whole_bytes)) != 0) {
    return SystemError(path, "cut off half a line", errno);
  }
  if (!file.ends_in_newline && write(fd, "\n", 1) != 1) {
    return SystemError(path, "end the last line", errno);
  }
  return ResumedFile{std::move(writer), std::move(file)};
}

}  // namespace ridgeline::store
