#include "pjrt/dump.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "hlo/allocations.h"
#include "hlo/reader.h"

namespace ridgeline::pjrt {
namespace {

constexpr size_t kLargestShown = 8;
// XLA's number for host memory; the other spaces lie on the device.
constexpr int64_t kHostSpace = 5;

// Names of what takes most: each instruction once.
std::vector<NamedBytes> Largest(const std::vector<hlo::Allocation>& allocations,
                                const std::string& hlo_proto) {
  std::map<int64_t, int64_t> bytes;  // by instruction
  for (const hlo::Allocation& one : allocations) {
    if (one.space == kHostSpace || one.thread_local_) continue;
    for (const hlo::AssignedValue& value : one.values) {
      int64_t& most = bytes[value.instruction];
      most = std::max(most, value.bytes);
    }
  }
  const Result<hlo::Module> module = hlo::ReadModule(hlo_proto);
  if (!module) return {};
  std::vector<NamedBytes> largest;
  for (const hlo::Computation& computation : module->computations) {
    for (const hlo::Instruction& at : computation.instructions) {
      const auto found = bytes.find(at.id);
      if (found == bytes.end()) continue;
      const std::string name = at.op_name.empty() ? at.name : at.op_name + " (" + at.name + ")";
      largest.push_back({name + " " + at.shape.ToString(), found->second});
      bytes.erase(found);
    }
  }
  std::ranges::stable_sort(largest, std::greater(), &NamedBytes::bytes);
  if (largest.size() > kLargestShown) largest.resize(kLargestShown);
  return largest;
}

}  // namespace

void RequestDump(const std::string& folder, device::CompileRequest& request) {
  request.xla_options.emplace("xla_dump_to", folder);
  request.xla_options.emplace("xla_dump_hlo_as_proto", true);
}

std::optional<std::string> ReadDump(const std::string& folder) {
  if (folder.empty()) return std::nullopt;
  std::error_code failed;
  std::filesystem::path found;
  uintmax_t most = 0;  // kernels may leave small modules of their own
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (!entry.path().string().ends_with("after_optimizations.hlo.pb")) continue;
    const uintmax_t size = entry.file_size(failed);
    if (failed || size <= most) continue;
    most = size;
    found = entry.path();
  }
  if (most == 0) return std::nullopt;
  std::ifstream file(found, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool WantsToolkit(const Error& error) {
  return error.message.find("PTX compilation provider") != std::string::npos ||
         error.message.find("libdevice") != std::string::npos ||
         error.message.find("ptxas") != std::string::npos ||
         error.message.find("NVJITLINK") != std::string::npos;
}

std::optional<CompiledMemory> MemoryOfDump(const std::string& hlo_proto) {
  const Result<std::vector<hlo::Allocation>> allocations = hlo::ReadAllocations(hlo_proto);
  if (!allocations || allocations->empty()) return std::nullopt;
  CompiledMemory memory;
  for (const hlo::Allocation& one : *allocations) {
    if (one.thread_local_) continue;
    if (one.space == kHostSpace) {
      memory.host += one.bytes;
      continue;
    }
    if (one.parameter) memory.arguments += one.bytes;
    if (one.live_out) memory.outputs += one.bytes;
    if (one.parameter && one.live_out) memory.aliased += one.bytes;
    if (one.temporary()) memory.temporaries += one.bytes;
    if (one.constant) memory.code += one.bytes;
  }
  memory.peak =
      memory.arguments + memory.outputs - memory.aliased + memory.temporaries + memory.code;
  memory.largest = Largest(*allocations, hlo_proto);
  return memory;
}

}  // namespace ridgeline::pjrt
