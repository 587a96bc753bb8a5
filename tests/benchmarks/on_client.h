// Runs a benchmark's program on a real plugin, as the engine does but untimed.
#pragma once

#include <numeric>

#include "benchmarks/harness.h"
#include "hlo/audit.h"
#include "hlo/reader.h"
#include "pjrt/cpu_plugin.h"

namespace ridgeline::benchmarks {

class OnClient {
 public:
  OnClient(device::Client& client, const programs::Program& program)
      : client_(client), program_(program) {}

  Status Compile() {
    device::CompileRequest request{.program = program_.stablehlo,
                                   .partitions = program_.partitions,
                                   .devices = {},
                                   .xla_options = {},
                                   .shardy = program_.shardy};
    request.devices.resize(static_cast<size_t>(program_.partitions));
    std::iota(request.devices.begin(), request.devices.end(), 0);
    RL_ASSIGN(executable_, client_.Compile(request));
    return {};
  }

  Result<hlo::Module> Optimized() {
    RL_ASSIGN(const device::ProgramText text, executable_->OptimizedProgram());
    return hlo::ReadModule(text.bytes);
  }

  Result<hlo::AuditResult> Audit() {
    RL_ASSIGN(const hlo::Module module, Optimized());
    return hlo::Audit(module, program_.expected);
  }

  // `trips` rounds from fresh inputs; for called programs, one call.
  Result<Outputs> Run(int64_t trips) {
    device::BufferGrid owned(static_cast<size_t>(program_.partitions));
    device::ArgumentGrid arguments(owned.size());
    for (int p = 0; p < program_.partitions; ++p) {
      auto& mine = owned[static_cast<size_t>(p)];
      if (program_.repeat == programs::Repeat::kLoop) {
        HostTensor count(Shape{DType::kS32, {}});
        count.set(0, static_cast<double>(trips));
        mine.push_back(pjrt::Put(client_, count, p));
      }
      int stream = 0;
      for (const auto* specs : {&program_.inputs, &program_.carried}) {
        for (const programs::TensorSpec& spec : *specs) {
          const programs::InputSource source(spec, stream++, p, kTestSeed, "normal");
          mine.push_back(pjrt::Put(client_, source.Materialize(), p));
        }
      }
      for (const auto& buffer : mine) arguments[static_cast<size_t>(p)].push_back(buffer.get());
    }
    RL_ASSIGN(const device::BufferGrid results, executable_->Run(arguments));
    Outputs outputs(results.size());
    for (size_t p = 0; p < results.size(); ++p) {
      for (const auto& buffer : results[p]) outputs[p].push_back(pjrt::Read(*buffer));
    }
    return outputs;
  }

 private:
  device::Client& client_;
  const programs::Program& program_;
  std::unique_ptr<device::Executable> executable_;
};

// A transfer there and back, which is what the host benchmarks check.
inline Outputs Transferred(device::Client& client, const programs::Program& program) {
  Outputs outputs(static_cast<size_t>(program.partitions));
  for (size_t p = 0; p < outputs.size(); ++p) {
    const programs::InputSource source(program.inputs[0], 0, static_cast<int>(p), kTestSeed,
                                       "normal");
    const auto buffer =
        pjrt::Put(client, source.Materialize(), static_cast<int>(p), program.transfer.memory_kind);
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      outputs[p].push_back(pjrt::Read(*buffer));
    }
  }
  return outputs;
}

}  // namespace ridgeline::benchmarks
