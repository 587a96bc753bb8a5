#include "pjrt/lower.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "pjrt/child.h"
#include "pjrt/client.h"
#include "pjrt/sharding.h"

namespace ridgeline::pjrt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBytecodeMagic = "ML\xefR";
constexpr size_t kLastWords = 600;  // bytes of the compiler's log that an error repeats
// Written by XLA's dumps into their file names.
constexpr std::string_view kBefore = "before_optimizations";
constexpr std::string_view kPartitioned = "after_spmd-partitioning";

// A folder that only this user sees, removed with all that is in it.
class PrivateFolder {
 public:
  static Result<PrivateFolder> Make() {
    std::error_code problem;
    const fs::path base = fs::temp_directory_path(problem);
    std::string name = (problem ? fs::path("/tmp") : base) / "ridgeline-lower-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      return Fail(Code::kUnavailable, "no temporary folder can be made", name,
                  "set TMPDIR to a folder that can be written");
    }
    PrivateFolder folder;
    folder.path_ = name;
    return folder;
  }
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  PrivateFolder() = default;
  fs::path path_;
};

// An HloProto is one length-delimited module and little else, so a file that is still being written
// shows by its own first bytes.
bool IsWhole(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != '\x0a') return false;
  uint64_t length = 0;
  for (size_t i = 1; i < std::min<size_t>(bytes.size(), 10); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    length |= static_cast<uint64_t>(byte & 0x7f) << (7 * (i - 1));
    if ((byte & 0x80) == 0) return bytes.size() - i - 1 >= length;
  }
  return false;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The whole dump of that stage of the first module (later ones are XLA's own helpers), or empty.
std::string FindDump(const fs::path& folder, std::string_view stage) {
  std::vector<fs::path> found;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename();
    if (name.find(stage) != name.npos && name.ends_with(".hlo.pb")) found.push_back(entry.path());
  }
  if (found.empty()) return "";
  std::string bytes = ReadFile(*std::min_element(found.begin(), found.end()));
  return IsWhole(bytes) ? bytes : "";
}

// The integer after `key` in "key = 16 : i32", where the text has it.
std::optional<int> IntegerAttribute(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == text.npos) return std::nullopt;
  const size_t digits = text.find_first_not_of(" =", at + key.size());
  int value = 0;
  if (digits == text.npos) return std::nullopt;
  const auto [end, problem] =
      std::from_chars(text.data() + digits, text.data() + text.size(), value);
  return problem == std::errc() ? std::optional(value) : std::nullopt;
}

struct Job {
  const std::string& plugin_path;
  const std::string& module;
  int partitions = 1;
  bool shardy = false;
  fs::path dump;
};

// Runs in the child; the compiler's error, or nothing.
std::string Compile(const Job& job) {
  setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);
  const auto client =
      CreateClient({.plugin_path = job.plugin_path,
                    .create_options = {{"cpu_device_count", int64_t{job.partitions}}}});
  if (!client) return DumpLine({{"plugin", client.error().ToString()}});
  device::CompileRequest request;
  request.program = job.module;
  request.partitions = job.partitions;
  request.shardy = job.shardy;
  request.devices.resize(static_cast<size_t>(job.partitions));
  std::iota(request.devices.begin(), request.devices.end(), 0);
  request.xla_options = {{"xla_dump_to", job.dump.string()},
                         {"xla_dump_hlo_as_proto", true},
                         {"xla_dump_hlo_pass_re", std::string("spmd-partitioning")}};
  const auto executable = (*client)->Compile(request);
  if (!executable) return DumpLine({{"refused", executable.error().message}});
  return "{}";
}

std::string LastWords(std::string_view log) {
  if (log.size() > kLastWords) log.remove_prefix(log.size() - kLastWords);
  while (!log.empty() && log.back() == '\n') log.remove_suffix(1);
  return log.empty() ? "" : "; its last words: " + Printable(log);
}

// The first sentence is the one that helps: behind it XLA prints the operation again and how to
// report a bug of its own.
std::string CompilerWords(std::string words) {
  for (const std::string_view tail :
       {"<unknown>:0: error: Failed to parse using StableHLO", "note: see current operation",
        "note: in bytecode version", "Failed after pipeline"}) {
    const size_t at = words.find(tail);
    if (at == words.npos || at == 0) continue;
    const size_t line = words.rfind('\n', at);
    words.resize(line == words.npos || line == 0 ? at : line);
  }
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  std::string one_line;
  for (const char c : words) one_line += c == '\n' ? "; " : std::string(1, c);
  return Printable(one_line);
}

class Lowering {
 public:
  Lowering(const LowerRequest& request, std::string module)
      : request_(request), module_(std::move(module)) {}

  Result<Lowered> Run() {
    const bool bytecode = module_.starts_with(kBytecodeMagic);
    Lowered lowered;
    lowered.shardy = UsesShardy(module_);
    lowered.replicas = std::max(1, Attribute(bytecode, "mhlo.num_replicas").value_or(1));
    const int stated = Attribute(bytecode, "mhlo.num_partitions").value_or(1);
    lowered.partitions = request_.partitions > 0 ? request_.partitions : stated;
    RL_CHECK_OK(CheckPartitions(lowered.partitions));
    RL_CHECK_OK(Compile(lowered));
    if (bytecode && request_.partitions == 0) {
      // Bytecode hides the number; its shardings and the HLO's mesh show it.
      const int devices = std::max(DevicesOfShardings(module_), DevicesOfShardings(lowered.before));
      RL_CHECK_OK(CheckPartitions(devices));
      if (devices > 1) {
        lowered.partitions = devices;
        RL_CHECK_OK(Compile(lowered));
      }
    }
    return lowered;
  }

 private:
  std::optional<int> Attribute(bool bytecode, std::string_view key) const {
    return bytecode ? std::nullopt : IntegerAttribute(module_, key);
  }

  static Status CheckPartitions(int partitions) {
    if (partitions >= 1 && partitions <= kMaxPartitions) return {};
    return Fail(Code::kInvalidArgument,
                fmt::format("the program asks for {} partitions; 1 to {} can be lowered",
                            partitions, kMaxPartitions));
  }

  Status Compile(Lowered& lowered) {
    RL_ASSIGN(const PrivateFolder folder, PrivateFolder::Make());
    const Job job{request_.plugin_path, module_, lowered.partitions, lowered.shardy, folder.path()};
    const bool both = lowered.partitions > 1;
    const auto look = [&] {
      if (lowered.before.empty()) lowered.before = FindDump(folder.path(), kBefore);
      if (both && lowered.partitioned.empty()) {
        lowered.partitioned = FindDump(folder.path(), kPartitioned);
      }
      return !lowered.before.empty() && (!both || !lowered.partitioned.empty());
    };
    lowered.before.clear();
    const ChildResult child = RunInChild(
        [&job] { return pjrt::Compile(job); },
        {.seconds = request_.limit_s,
         .memory_bytes = request_.memory_bytes > 0 ? request_.memory_bytes : MemoryForChild(),
         .enough = look});
    if (look()) return {};
    const Error error = Explain(child);
    if (lowered.before.empty()) return tl::unexpected(error);
    lowered.note = "it was not partitioned: " + error.message;
    return {};
  }

  Error Explain(const ChildResult& child) const {
    if (!child.finished) {
      const bool late = child.problem.find("no answer") != child.problem.npos;
      const bool full = child.log.find("bad_alloc") != child.log.npos ||
                        child.log.find("out of memory") != child.log.npos;
      const Code code =
          late ? Code::kDeadlineExceeded : (full ? Code::kResourceExhausted : Code::kAborted);
      return {code,
              fmt::format("the compiler did not survive this program: {}{}", child.problem,
                          LastWords(child.log)),
              "",
              "check that every function has a body, none calls itself, and arrays fit 64 bits; it "
              "was read by " +
                  request_.plugin_path};
    }
    const Result<Json> answer = ParseJson(child.output);
    if (!answer) return answer.error();
    if (const std::string plugin = StringOr(*answer, "plugin"); !plugin.empty()) {
      return {Code::kUnavailable, plugin, "", "see `ridgeline doctor`"};
    }
    if (const std::string refused = StringOr(*answer, "refused"); !refused.empty()) {
      return {Code::kInvalidArgument, "the compiler refuses the program: " + CompilerWords(refused),
              "", "it has to be StableHLO, as jax.jit(f).lower().as_text() or jax.export write it"};
    }
    return {Code::kUnimplemented,
            "the plugin compiles the program, but writes no HLO (xla_dump_to has no effect)",
            request_.plugin_path, "use XLA's CPU plugin"};
  }

  const LowerRequest& request_;
  std::string module_;
};

}  // namespace

Result<std::string> MlirModule(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  if (bytes.starts_with(kBytecodeMagic)) return std::string(bytes);
  const size_t at = bytes.find(kBytecodeMagic);
  const bool text = bytes.substr(0, at).find('\0') == bytes.npos;
  if (at == bytes.npos || text) return std::string(bytes);
  // A flatbuffer writes the length of a vector of bytes, little endian, right before it.
  uint64_t length = 0;
  for (size_t i = 0; at >= 4 && i < 4; ++i) {
    length |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at - 4 + i])) << (8 * i);
  }
  if (length < kBytecodeMagic.size() || length > bytes.size() - at) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("holds MLIR bytecode at byte {} of a length that does not fit the file", at),
        "", "expected a jax.export artifact (Exported.serialize())");
  }
  return std::string(bytes.substr(at, length));
}

bool UsesShardy(std::string_view module) { return module.find("sdy.") != module.npos; }

Result<Lowered> Lower(const LowerRequest& request) {
  RL_ASSIGN(std::string module, MlirModule(request.program));
  return Lowering(request, std::move(module)).Run();
}

}  // namespace ridgeline::pjrt
