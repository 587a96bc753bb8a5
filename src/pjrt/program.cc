#include "pjrt/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"
#include "hlo/reader.h"
#include "pjrt/lower.h"

namespace ridgeline::pjrt {
namespace {

constexpr std::string_view kBytecodeMagic = "ML\xefR";
// The newest major version of StableHLO that this program was tried with.
constexpr int kStableHloMajor = 1;
constexpr size_t kHead = 4096;  // bytes that are looked at to tell text from data

struct Impostor {
  std::string_view start;
  std::string_view what;
  std::string_view next;
};

// Files that carry a program's name and are none.
constexpr Impostor kImpostors[] = {
    {"\x1f\x8b", "gzip data", "gunzip it first"},
    {"PK\x03\x04", "a zip archive", "unpack it first"},
    {"\xff\xfe", "UTF-16 text", "save it as UTF-8"},
    {"\xfe\xff", "UTF-16 text", "save it as UTF-8"},
    {"<!", "an HTML page", "download the file itself"},
    {"<html", "an HTML page", "download the file itself"},
    {"<?xml", "an XML page", "download the file itself"},
};

Status CheckImpostor(std::string_view bytes) {
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == bytes.npos) {
    return Fail(Code::kInvalidArgument,
                bytes.empty() ? "the file is empty" : "the file holds only white space", "",
                "expected StableHLO, a jax.export artifact or HLO");
  }
  for (const Impostor& one : kImpostors) {
    if (bytes.substr(start).starts_with(one.start)) {
      return Fail(Code::kInvalidArgument, fmt::format("it is {}", one.what), "",
                  std::string(one.next));
    }
  }
  if (bytes.substr(start).starts_with("version ") &&
      bytes.substr(0, kHead).find("\noid sha256:") != bytes.npos) {
    return Fail(Code::kInvalidArgument, "it is a Git LFS pointer, not the file itself", "",
                "run `git lfs pull`");
  }
  return {};
}

bool IsText(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kHead);
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
}

// Text that was meant as MLIR, though it holds bytes that no text has.
bool MeantAsMlir(std::string_view bytes) {
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != bytes.npos &&
         (bytes.substr(start).starts_with("module") || bytes.substr(start).starts_with("func") ||
          bytes.substr(start).starts_with("\"builtin"));
}

Status CheckNul(std::string_view text) {
  const size_t nul = text.find('\0');
  if (nul == text.npos) return {};
  const std::string_view before = text.substr(0, nul);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  return Fail(Code::kInvalidArgument, "the text holds a NUL byte",
              fmt::format("{}:{}", line, nul - start + 1), "is the file damaged?");
}

// "StableHLO_v1.15.0": bytecode names its writer right after the magic and a version.
std::string Producer(std::string_view bytecode) {
  const std::string_view head = bytecode.substr(std::min<size_t>(5, bytecode.size()), 64);
  const std::string_view name = head.substr(0, std::min(head.find('\0'), head.size()));
  return IsText(name) && name.size() < head.size() ? Printable(name) : "";
}

void NoteProducer(std::string_view bytecode, std::vector<std::string>& notes) {
  constexpr std::string_view kStableHlo = "StableHLO_v";
  const std::string producer = Producer(bytecode);
  if (!producer.starts_with(kStableHlo)) return;
  int major = 0;
  std::from_chars(producer.data() + kStableHlo.size(), producer.data() + producer.size(), major);
  notes.push_back(major > kStableHloMajor
                      ? fmt::format("written by {}, which is newer than StableHLO {}: read all the "
                                    "same, but what is new in it may be missing",
                                    producer, kStableHloMajor)
                      : "written by " + producer);
}

// Words of XLA that users need not know.
Error Clearer(Error error) {
  if (error.message.find("requires module with `main` function") != error.message.npos) {
    error.message = "it has no function @main with a body";
    error.next = "export it with jax.jit(f).lower().as_text() or name the entry function 'main'";
  }
  return error;
}

Result<hlo::Analysis> AnalyseBytes(std::string_view hlo, const hlo::AnalysisOptions& options) {
  RL_ASSIGN(const hlo::Module module, hlo::ReadModule(hlo));
  return hlo::Analyse(module, options);
}

Result<AnalysedProgram> ReadHlo(std::string_view bytes, std::string form,
                                const ProgramOptions& options) {
  RL_ASSIGN(const hlo::Module module, hlo::ReadModule(bytes));
  AnalysedProgram program;
  program.form = std::move(form);
  const int64_t stated =
      std::max<int64_t>(1, module.partitions) * std::max<int64_t>(1, module.replicas);
  program.devices = options.partitions > 0 ? options.partitions
                                           : static_cast<int>(std::min<int64_t>(stated, 1 << 24));
  RL_ASSIGN(program.device, hlo::Analyse(module, {.devices = program.devices,
                                                  .all_devices = false,
                                                  .unknown_trips = options.unknown_trips}));
  return program;
}

Result<AnalysedProgram> ReadMlir(std::string_view bytes, std::string form,
                                 const ProgramOptions& options) {
  Result<Lowered> result = Lower({.plugin_path = options.plugin_path,
                                  .program = bytes,
                                  .partitions = options.partitions,
                                  .limit_s = options.limit_s,
                                  .memory_bytes = options.memory_bytes});
  if (!result) return tl::unexpected(Clearer(std::move(result).error()));
  const Lowered& lowered = *result;
  AnalysedProgram program;
  program.form = std::move(form);
  program.devices = lowered.partitions * lowered.replicas;
  if (lowered.replicas > 1) {
    program.notes.push_back(
        fmt::format("asks for {} partitions x {} replicas: it needs {} devices; counted for one "
                    "replica",
                    lowered.partitions, lowered.replicas, program.devices));
  }
  const hlo::AnalysisOptions one = {
      .devices = lowered.partitions, .all_devices = false, .unknown_trips = options.unknown_trips};
  hlo::AnalysisOptions all = one;
  all.all_devices = true;
  if (lowered.partitions == 1) {
    RL_ASSIGN(program.device, AnalyseBytes(lowered.before, one));
    return program;
  }
  RL_ASSIGN(program.all, AnalyseBytes(lowered.before, all));
  if (lowered.partitioned.empty()) {
    program.notes.push_back(lowered.note);
    program.notes.push_back(
        "the figures of one device are those of all devices: nothing shows how it is split");
    RL_ASSIGN(program.device, AnalyseBytes(lowered.before, one));
    return program;
  }
  RL_ASSIGN(program.device, AnalyseBytes(lowered.partitioned, one));
  return program;
}

}  // namespace

Result<AnalysedProgram> ReadProgram(std::string_view bytes, const ProgramOptions& options) {
  RL_CHECK_OK(CheckImpostor(bytes));
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  if (bytes.substr(start).starts_with("HloModule")) return ReadHlo(bytes, "HLO text", options);
  const size_t bytecode = bytes.find(kBytecodeMagic);
  if (bytecode != bytes.npos && !IsText(bytes)) {
    Result<AnalysedProgram> program =
        ReadMlir(bytes, bytecode == 0 ? "StableHLO bytecode" : "jax.export artifact", options);
    if (program) NoteProducer(bytes.substr(bytecode), program->notes);
    return program;
  }
  if (MeantAsMlir(bytes) || IsText(bytes)) {
    RL_CHECK_OK(CheckNul(bytes));
    return ReadMlir(bytes, "StableHLO text", options);
  }
  return ReadHlo(bytes, "HLO proto", options);
}

}  // namespace ridgeline::pjrt
