// Device memory to host memory, back-to-back transfers of distinct arrays.
#include "benchmarks/transfer.h"

namespace ridgeline::benchmarks {
namespace {

Result<programs::Program> Build(const Params& params, const Target& target) {
  return BuildTransfer(programs::TransferDirection::kFromDevice, params, target);
}

}  // namespace

Benchmark device_to_host_benchmark() {
  return {.name = "device_to_host",
          .component = Component::kHost,
          .summary = "device memory to host memory",
          .params = TransferParams(false),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
