// GPUs that XLA's CUDA compiler makes programs for with none here (data/targets/gpu.yaml): what the
// compiler is told about them, made from that file and the spec.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/mesh.h"
#include "pjrt/aot.h"
#include "spec/spec.h"

namespace ridgeline::predict {

// Facts of one compute capability; bytes and threads of one multiprocessor.
struct GpuGeneration {
  std::string capability;  // "9.0"
  int major = 0;
  int minor = 0;
  bool accelerated = false;  // code for exactly this generation: sm_90a
  int64_t f32_lanes = 0;
  int64_t threads = 0;
  int64_t shared_bytes = 0;
  int64_t shared_per_block = 0;
  std::string source;
};

struct Share {
  double value = 1;
  std::string basis;
};

struct GpuCompiler {
  std::string spec;  // name of the spec
  GpuGeneration generation;
  int64_t multiprocessors = 0;
  double clock_hz = 0;
  std::string source;
  std::string cudnn;  // version that the compiler may count on
  // Of the peak that large products reach.
  double matrix_least = 1, matrix_most = 1;
  std::string matrix_basis;
  Share hbm;                          // of the nominal bandwidth that can be counted on
  Share link;                         // the same of a device's links
  std::string tried_with;             // the compiler of `verified`
  std::vector<std::string> verified;  // what was tried with it, in words
};

// Errors name file:line:column.
Result<std::vector<GpuCompiler>> ReadGpuCompilers(std::string_view text,
                                                  std::string_view file_name);
Result<std::span<const GpuCompiler>> GpuCompilers();

// The target's description in protobuf's text form, as the plugin's option `target_config` takes
// it (xla/stream_executor/device_description.proto).
std::string TargetConfig(const GpuCompiler& gpu, const spec::Spec& spec);

// `chips` devices on as few hosts as hold them.
pjrt::TopologyRequest GpuTopology(const GpuCompiler& gpu, const spec::Spec& spec, int64_t chips,
                                  const std::string& plugin_path);

// The axes of `machine`, the hosts outermost: devices of one host are neighbours.
Result<Mesh> GpuMesh(const std::vector<DevicePlace>& places, const Machine& machine);

}  // namespace ridgeline::predict
