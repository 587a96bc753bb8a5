#include "workload/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/embedded.h"

namespace ridgeline::workload {

Work Workload::Total() const {
  if (whole) return *whole;
  Work total;
  for (const Operation& operation : operations) Add(total, operation.work, operation.count);
  return total;
}

double Workload::MostHbmBytes() const {
  if (most_hbm_bytes) return *most_hbm_bytes;
  if (whole) return whole->hbm_bytes;
  double bytes = 0;
  for (const Operation& operation : operations) {
    bytes += operation.count * operation.most_hbm_bytes.value_or(operation.work.hbm_bytes);
  }
  return bytes;
}

std::optional<DType> Workload::MainDType() const {
  const Work total = Total();
  const auto& flops = total.matrix_flops.empty() ? total.vector_flops : total.matrix_flops;
  if (flops.empty()) return std::nullopt;
  return std::ranges::max_element(flops, {}, [](const auto& entry) { return entry.second; })->first;
}

std::vector<std::string_view> ListEmbeddedWorkloads() { return EmbeddedNames("workloads"); }

Result<std::string_view> FindEmbeddedWorkload(std::string_view name) {
  return FindEmbedded("workload", "workloads", name);
}

Result<Workload> FromNumbers(const Numbers& numbers) {
  constexpr double kIntensityBytes = 1e9;
  std::optional<double> flops = numbers.flops;
  std::optional<double> bytes = numbers.bytes;
  Workload workload{.name = "numbers", .source = "command line"};
  if (numbers.intensity) {
    if (flops && bytes) {
      return Fail(Code::kInvalidArgument, "--intensity follows from --flops and --bytes", "",
                  "give two of the three");
    }
    if (!flops && !bytes) {
      bytes = kIntensityBytes;
      workload.notes.push_back("only the intensity is given: times are for 1 GB of memory traffic");
    }
    if (!flops) flops = *numbers.intensity * *bytes;
    if (!bytes) bytes = *numbers.intensity > 0 ? *flops / *numbers.intensity : 0;
    if (*numbers.intensity == 0 && *flops > 0) {
      return Fail(Code::kInvalidArgument, "--intensity 0 does not go with --flops above 0");
    }
  }
  Work work;
  if (flops.value_or(0) > 0) work.matrix_flops[numbers.dtype] = *flops;
  if (numbers.vector_flops.value_or(0) > 0) {
    work.vector_flops[numbers.dtype] = *numbers.vector_flops;
  }
  work.hbm_bytes = bytes.value_or(0);
  if (numbers.pattern != Pattern::kSequential) {
    work.hbm_pattern_bytes[numbers.pattern] = work.hbm_bytes;
  }
  work.wire_bytes = numbers.wire_bytes.value_or(0);
  work.host_bytes = numbers.host_bytes.value_or(0);
  if (work == Work{}) {
    return Fail(Code::kInvalidArgument, "the workload needs nothing: every figure is 0", "",
                "give --flops and --bytes, or --workload FILE");
  }
  workload.operations.push_back({.name = "all", .work = std::move(work)});
  return workload;
}

}  // namespace ridgeline::workload
