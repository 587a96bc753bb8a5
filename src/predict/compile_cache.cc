#include "predict/compile_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <variant>

#include "base/hash.h"
#include "base/json.h"

namespace ridgeline::predict {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ridgeline compile 1 ";
constexpr std::string_view kExtension = ".compile";
constexpr std::string_view kPartial = ".partial-";
// A file that was begun so long ago belongs to no process that still writes it.
constexpr std::chrono::hours kAbandoned{24};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

template <typename Values>
Json ValuesToJson(const Values& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) {
    std::visit([&json, &key = name](const auto& one) { json[key] = one; }, value);
  }
  return json;
}

// A plugin is known by its file, not by what its package says.
Json FileIdentity(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return path;
  return {fs::path(path).filename().string(), info.st_size, info.st_mtim.tv_sec,
          info.st_mtim.tv_nsec};
}

std::string Digest(std::string_view text) { return fmt::format("{:016x}", Fnv1a(text)); }

std::optional<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

CompileCache::CompileCache(std::string folder, std::string version, int64_t most_bytes)
    : folder_(std::move(folder)), version_(std::move(version)), most_bytes_(most_bytes) {}

CompileCache::Question CompileCache::Ask(const pjrt::TopologyRequest& topology,
                                         const device::CompileRequest& request) const {
  const Json head = {{"ridgeline", version_},
                     {"plugin", FileIdentity(topology.plugin_path)},
                     {"topology", topology.name},
                     {"topology_options", ValuesToJson(topology.options)},
                     {"program_bytes", request.program.size()},
                     {"partitions", request.partitions},
                     {"devices", request.devices},
                     {"xla_options", ValuesToJson(request.xla_options)},
                     {"shardy", request.shardy},
                     {"XLA_FLAGS", Variable("XLA_FLAGS")},
                     {"LIBTPU_INIT_ARGS", Variable("LIBTPU_INIT_ARGS")}};
  Question question;
  question.content = DumpLine(head) + "\n" + request.program + "\n";
  question.file =
      (fs::path(folder_) / (Digest(question.content) + std::string(kExtension))).string();
  return question;
}

std::optional<std::string> CompileCache::Find(const Question& question) {
  const std::optional<std::string> entry = ReadWhole(question.file);
  if (!entry) return std::nullopt;
  const size_t line = entry->find('\n');
  const std::string_view body =
      line == std::string::npos ? "" : std::string_view(*entry).substr(line + 1);
  if (std::string_view(*entry).substr(0, line) != std::string(kMagic) + Digest(body)) {
    Warn(fmt::format("{} is damaged: compiled anew", question.file));
    return std::nullopt;
  }
  // Another question with the same digest.
  if (!body.starts_with(question.content)) return std::nullopt;
  utimensat(AT_FDCWD, question.file.c_str(), nullptr, 0);
  ++found_;
  return std::string(body.substr(question.content.size()));
}

void CompileCache::Keep(const Question& question, const std::string& answer) {
  const std::string body = question.content + answer;
  if (static_cast<int64_t>(body.size()) > most_bytes_ / 4) return;
  std::error_code failed;
  fs::create_directories(folder_, failed);
  std::string partial = (fs::path(folder_) / (std::string(kPartial) + "XXXXXX")).string();
  const int file = mkstemp(partial.data());
  if (file < 0) {
    return Warn(fmt::format("{} cannot be written to ({}): compiles are not kept", folder_,
                            std::strerror(errno)));
  }
  const bool written =
      WriteAll(file, std::string(kMagic) + Digest(body) + "\n") && WriteAll(file, body);
  int problem = written ? 0 : errno;
  if (close(file) != 0 && problem == 0) problem = errno;
  if (problem == 0 && rename(partial.c_str(), question.file.c_str()) != 0) problem = errno;
  if (problem != 0) {
    unlink(partial.c_str());
    return Warn(fmt::format("{}: {}: the compile is not kept", folder_, std::strerror(problem)));
  }
  MakeRoom();
}

void CompileCache::MakeRoom() {
  struct Entry {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  const auto now = fs::file_time_type::clock::now();
  std::error_code failed;
  for (fs::directory_iterator at(folder_, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code gone;
    const Entry entry{at->last_write_time(gone), static_cast<int64_t>(at->file_size(gone)),
                      at->path()};
    if (gone) continue;
    if (entry.path.filename().string().starts_with(kPartial)) {
      if (now - entry.used > kAbandoned) fs::remove(entry.path, gone);
    } else if (entry.path.extension() == kExtension) {
      entries.push_back(entry);
      total += entry.bytes;
    }
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& oldest : entries) {
    if (total <= most_bytes_) return;
    std::error_code gone;
    fs::remove(oldest.path, gone);
    total -= oldest.bytes;
  }
}

void CompileCache::Warn(std::string text) {
  if (std::ranges::find(warnings_, text) == warnings_.end()) warnings_.push_back(std::move(text));
}

std::string CompileCacheFolder() {
  for (const auto& [variable, below] :
       {std::pair("RIDGELINE_CACHE", ""), std::pair("XDG_CACHE_HOME", "ridgeline"),
        std::pair("HOME", ".cache/ridgeline")}) {
    const std::string folder = Variable(variable);
    if (!folder.empty()) return (fs::path(folder) / below / "compiles").lexically_normal().string();
  }
  return "";
}

}  // namespace ridgeline::predict
