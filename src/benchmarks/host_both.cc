// Both directions at once: as many arrays one way as the other.
#include "benchmarks/transfer.h"

namespace ridgeline::benchmarks {
namespace {

Result<programs::Program> Build(const Params& params, const Target& target) {
  return BuildTransfer(programs::TransferDirection::kBoth, params, target);
}

}  // namespace

Benchmark host_both_benchmark() {
  return {.name = "host_both",
          .component = Component::kHost,
          .summary = "host to device and device to host at once",
          .params = TransferParams(true),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
