// Workloads: what a user's computation needs, as operations with their Work. They come from numbers
// on the command line, from a YAML file (docs/formats/workload.md) or from a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/mesh.h"
#include "core/work.h"

namespace ridgeline::workload {

struct Operation {
  std::string name = {};
  double count = 1;  // times in one step
  Work work = {};    // of one time, per device
  // Memory traffic when nothing is fused; work.hbm_bytes is that when all is fused that can be.
  // Absent: the traffic is known.
  std::optional<double> most_hbm_bytes = {};
};

struct Workload {
  std::string name = {};
  std::string source = {};  // the file, or "command line"
  int64_t devices = 1;
  std::vector<MeshAxis> mesh = {};  // of the devices, where the workload names axes
  std::vector<Operation> operations = {};
  // Of a program, of which only the largest operations are listed: all of it, and its memory
  // traffic when nothing is fused. Absent: the sum of the operations.
  std::optional<Work> whole = {};
  std::optional<double> most_hbm_bytes = {};
  std::optional<double> memory_bytes = {};  // that one device has to hold
  std::vector<std::string> uncounted = {};  // what is in the program but in no figure
  std::vector<std::string> notes = {};      // conventions and assumptions, for people

  // One step, per device.
  Work Total() const;
  // The same with nothing fused.
  double MostHbmBytes() const;
  // The dtype with the most matrix FLOP (else vector); nullopt without either.
  std::optional<DType> MainDType() const;
};

// What a user knows on the command line; absent is zero. `intensity` (FLOP per byte of memory)
// stands for flops or bytes, whichever is absent; alone it is taken with 1e9 B.
struct Numbers {
  std::optional<double> flops = {};
  std::optional<double> vector_flops = {};
  std::optional<double> bytes = {};
  std::optional<double> wire_bytes = {};
  std::optional<double> host_bytes = {};
  std::optional<double> intensity = {};
  DType dtype = DType::kBF16;
  Pattern pattern = Pattern::kSequential;
};
Result<Workload> FromNumbers(const Numbers& numbers);

// Text of a workload file. Errors are file:line:column with what is allowed.
Result<Workload> ReadWorkload(std::string_view text, std::string_view source);

// The workloads of the program (data/workloads), by name.
std::vector<std::string_view> ListEmbeddedWorkloads();
Result<std::string_view> FindEmbeddedWorkload(std::string_view name);

}  // namespace ridgeline::workload
