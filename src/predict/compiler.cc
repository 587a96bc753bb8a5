#include "predict/compiler.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/json.h"
#include "pjrt/child.h"
#include "predict/compile_cache.h"

namespace ridgeline::predict {
namespace {

constexpr double kListLimitS = 60;
constexpr std::string_view kProcess = "the compiler's process";

// What libtpu needs away from a TPU VM: no metadata server, no lock, no log files.
void SetEnvironment() {
  constexpr std::pair<const char*, const char*> kValues[] = {
      {"TPU_SKIP_MDS_QUERY", "1"},  {"TPU_WORKER_HOSTNAMES", "localhost"},
      {"TPU_WORKER_ID", "0"},       {"ALLOW_MULTIPLE_LIBTPU_LOAD", "1"},
      {"TPU_LOG_DIR", "disabled"},  {"TPU_ACCELERATOR_TYPE", "v5litepod-4"},
      {"TF_CPP_MIN_LOG_LEVEL", "2"}};
  for (const auto& [name, value] : kValues) setenv(name, value, /*overwrite=*/0);
}

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Make() {
    std::error_code failed;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(failed);
    std::string name = (parent / "ridgeline-dump-XXXXXX").string();
    if (failed || mkdtemp(name.data()) == nullptr) {
      return Fail(Code::kUnavailable,
                  fmt::format("cannot be made: {}", failed ? failed.message() : strerror(errno)),
                  name, "set TMPDIR to a folder that can be written to");
    }
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

Json ToJson(const Error& error) {
  return {{"code", static_cast<int>(error.code)},
          {"message", error.message},
          {"where", error.where},
          {"next", error.next}};
}

Error ErrorFromJson(const Json& json) {
  return {static_cast<Code>(IntegerOr(json, "code", static_cast<int>(Code::kUnknown))),
          StringOr(json, "message"), StringOr(json, "where"), StringOr(json, "next")};
}

Json ToJson(const pjrt::CompiledMemory& memory) {
  Json largest = Json::array();
  for (const pjrt::NamedBytes& one : memory.largest) largest.push_back({one.name, one.bytes});
  return {{"arguments", memory.arguments}, {"outputs", memory.outputs},
          {"aliased", memory.aliased},     {"temporaries", memory.temporaries},
          {"code", memory.code},           {"peak", memory.peak},
          {"host", memory.host},           {"largest", std::move(largest)}};
}

pjrt::CompiledMemory MemoryFromJson(const Json& json) {
  pjrt::CompiledMemory memory{.arguments = IntegerOr(json, "arguments"),
                              .outputs = IntegerOr(json, "outputs"),
                              .aliased = IntegerOr(json, "aliased"),
                              .temporaries = IntegerOr(json, "temporaries"),
                              .code = IntegerOr(json, "code"),
                              .peak = IntegerOr(json, "peak"),
                              .host = IntegerOr(json, "host")};
  if (const Json* largest = Member(json, "largest")) {
    for (const Json& one : *largest) {
      memory.largest.push_back({one.at(0).get<std::string>(), one.at(1).get<int64_t>()});
    }
  }
  return memory;
}

// A line of JSON, then the program's bytes as they are.
std::string Pack(const Result<pjrt::AotProgram>& program) {
  if (!program) return DumpLine({{"error", ToJson(program.error())}}) + "\n";
  Json head = {{"format", program->text.format},
               {"compiler", program->compiler},
               {"stopped", program->stopped}};
  if (program->memory) head["memory"] = ToJson(*program->memory);
  return DumpLine(head) + "\n" + program->text.bytes;
}

Result<pjrt::AotProgram> Unpack(std::string packed) {
  const size_t line = packed.find('\n');
  RL_ASSIGN(const Json head, ParseJson(std::string_view(packed).substr(0, line)));
  if (const Json* error = Member(head, "error")) return tl::unexpected(ErrorFromJson(*error));
  pjrt::AotProgram program;
  program.text.format = StringOr(head, "format");
  program.compiler = StringOr(head, "compiler");
  program.stopped = StringOr(head, "stopped");
  if (const Json* memory = Member(head, "memory")) program.memory = MemoryFromJson(*memory);
  packed.erase(0, line == std::string::npos ? packed.size() : line + 1);
  program.text.bytes = std::move(packed);
  return program;
}

// What an aborting compiler said last, without the stack.
std::string CheckFailure(const std::string& log) {
  constexpr std::string_view kMark = "Check failed:";
  const size_t start = log.find(kMark);
  if (start == std::string::npos) return "";
  return "; " + log.substr(start, log.find('\n', start) - start);
}

Error Explain(const pjrt::ChildResult& child) {
  const bool late = child.problem.starts_with("no answer");
  const bool full = child.log.find("bad_alloc") != std::string::npos ||
                    child.log.find("out of memory") != std::string::npos;
  Error error;
  error.code = late ? Code::kDeadlineExceeded : Code::kAborted;
  error.where = kProcess;
  error.message = child.problem + CheckFailure(child.log);
  if (full) error.message += "; it ran out of this machine's memory";
  error.next = late   ? "give it more time with --time-limit"
               : full ? "compile on a machine with more memory"
                      : "";
  return error;
}

// A plugin that cannot describe the devices is of no use here, whatever its words.
Error Unusable(Error error) {
  error.code = Code::kUnavailable;
  return error;
}

// What the same compiler answers to the same question again; a full disk or a crash is not of it.
bool IsAnswer(const Result<pjrt::AotProgram>& program) {
  if (program) return true;
  const Code code = program.error().code;
  return code == Code::kResourceExhausted || code == Code::kInvalidArgument ||
         code == Code::kUnimplemented;
}

Result<pjrt::AotProgram> Compile(const pjrt::TopologyRequest& topology,
                                 const device::CompileRequest& request,
                                 const CompileLimits& limits) {
  std::optional<TemporaryFolder> dump;
  if (topology.dumps) {
    RL_ASSIGN(TemporaryFolder made, TemporaryFolder::Make());
    dump.emplace(std::move(made));
  }
  pjrt::ChildResult child = pjrt::RunInChild(
      [&] {
        SetEnvironment();
        return Pack(pjrt::CompileForTopology(topology, request, dump ? dump->path().string() : ""));
      },
      {.seconds = limits.seconds,
       .memory_bytes = limits.memory_bytes > 0 ? limits.memory_bytes : pjrt::MemoryForChild()});
  if (!child.finished) return tl::unexpected(Explain(child));
  return Unpack(std::move(child.output));
}

}  // namespace

Result<pjrt::AotProgram> CompileInChild(const pjrt::TopologyRequest& topology,
                                        const device::CompileRequest& request,
                                        const CompileLimits& limits, CompileCache* cache) {
  if (cache == nullptr) return Compile(topology, request, limits);
  const CompileCache::Question question = cache->Ask(topology, request);
  if (std::optional<std::string> kept = cache->Find(question)) {
    Result<pjrt::AotProgram> program = Unpack(std::move(*kept));
    if (program) program->cached = true;
    return program;
  }
  Result<pjrt::AotProgram> program = Compile(topology, request, limits);
  if (IsAnswer(program)) cache->Keep(question, Pack(program));
  return program;
}

bool IsCrash(const Error& error) { return error.where == kProcess; }

Result<std::vector<DevicePlace>> ListPlaces(const pjrt::TopologyRequest& topology) {
  const pjrt::ChildResult child = pjrt::RunInChild(
      [&]() -> std::string {
        SetEnvironment();
        const Result<std::vector<device::DeviceInfo>> devices = pjrt::ListTopologyDevices(topology);
        if (!devices) return DumpLine({{"error", ToJson(devices.error())}});
        Json places = Json::array();
        for (const device::DeviceInfo& device : *devices) {
          const auto slice = device.attributes.find("slice_index");
          places.push_back(
              {{"coords", device.coords},
               {"core", device.core},
               {"slice", slice == device.attributes.end() ? 0 : std::atoi(slice->second.c_str())}});
        }
        return DumpLine({{"places", places}});
      },
      {.seconds = kListLimitS});
  if (!child.finished) return tl::unexpected(Unusable(Explain(child)));
  RL_ASSIGN(const Json answer, ParseJson(child.output));
  if (const Json* error = Member(answer, "error")) {
    return tl::unexpected(Unusable(ErrorFromJson(*error)));
  }
  std::vector<DevicePlace> places;
  for (const Json& place : answer.at("places")) {
    places.push_back({.coords = place.at("coords").get<std::vector<int64_t>>(),
                      .core = place.at("core").get<int>(),
                      .slice = place.at("slice").get<int>()});
  }
  return places;
}

}  // namespace ridgeline::predict
