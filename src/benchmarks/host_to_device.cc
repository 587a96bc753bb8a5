// Host memory to device memory, back-to-back transfers of distinct arrays.
#include "benchmarks/transfer.h"

namespace ridgeline::benchmarks {
namespace {

Result<programs::Program> Build(const Params& params, const Target& target) {
  return BuildTransfer(programs::TransferDirection::kToDevice, params, target);
}

}  // namespace

Benchmark host_to_device_benchmark() {
  return {.name = "host_to_device",
          .component = Component::kHost,
          .summary = "host memory to device memory",
          .params = TransferParams(true),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
