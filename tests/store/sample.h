// Measurements for tests.
#pragma once

#include "core/measurement.h"

namespace ridgeline {

// One with every optional part present.
inline Measurement FullMeasurement(const std::string& id = "gemm/dtype=bf16,k=4@device0") {
  Measurement m;
  m.id = id;
  m.component = Component::kCompute;
  m.bench = "gemm";
  m.params.Set("dtype", std::string("bf16"));
  m.params.Set("k", int64_t{4});
  m.params.Set("transpose_a", true);
  m.params.Set("scale", 0.5);
  m.devices = 2;
  m.mesh = {{"axes", {{"x", 2}}}, {"order", {0, 1}}, {"note", "n"}, {"group", "all"}};
  m.dtype = "bf16";
  m.executed_as = "f32";
  m.status = CaseStatus::kEmulated;
  m.reason = "bf16 is computed as f32";
  m.memory_kind = "device";
  m.scope = Scope::kAll;
  m.labels = {"shared cores"};
  m.time_s = Interval{2e-3, 1.9e-3, 2.1e-3};
  m.fit = Fit{{1, 2, 4}, {0.1, 0.2, 0.4}, 0.999, 3, 1e-6, {1.9e-3, 2.1e-3}};
  m.launch_s = Interval{1e-5, 1e-6, 2e-5};
  m.launch_resolved = true;
  m.compile_s = 0.25;
  m.rates = {{"flops", "FLOP/s", {1e12, 0.9e12, 1.1e12}, 0.5}};
  m.alpha_beta = AlphaBeta{1e-6, 1e9, 1e3};
  m.work.matrix_flops[DType::kBF16] = 128;
  m.work.vector_flops[DType::kF32] = 16;
  m.work.transcendentals = 4;
  m.work.useful_flops = UsefulFlops{64, "causal half"};
  m.work.hbm_bytes = 1024;
  m.work.wire_bytes = 512;
  m.work.host_bytes = 256;
  m.working_set_bytes = 1536;
  m.check_status = "passed";
  m.check_detail = "16 elements";
  m.audit = {{"note", "n"}};
  m.state = {{"drift", 0.01}};
  m.program_hash = "00ff";
  m.seed = 7;
  m.simulated = true;
  m.predicted = true;
  m.wall_s = 3;
  m.timed_s = 1;
  return m;
}

}  // namespace ridgeline
