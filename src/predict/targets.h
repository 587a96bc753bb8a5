// Systems that programs are predicted for: a spec, a slice of it, and what its compiler is asked.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/machine.h"
#include "core/mesh.h"
#include "pjrt/aot.h"
#include "predict/gpu_target.h"
#include "spec/shape.h"
#include "spec/spec.h"

namespace ridgeline::predict {

// libtpu's compiler for one generation (data/targets/tpu.yaml).
struct TpuCompiler {
  std::string spec;                            // name of the spec
  std::string topology;                        // libtpu's name: "v5e" of "v5e:4x4"
  std::map<std::string, std::string> options;  // of the topology: chip_config_name
  double clock_hz = 0;                         // of the estimated cycles
  std::string clock_source;
  // Real time of a matrix product as a share of estimated cycles / clock_hz.
  double cycles_least = 1, cycles_most = 1;
  std::string cycles_basis;
  double hbm_share = 1;  // of the nominal bandwidth that can be counted on
  std::string hbm_basis;
  double link_share = 1;  // the same of one link
  std::string link_basis;
  std::string tried_with;             // the compiler of `verified`
  std::vector<std::string> verified;  // what was tried with the pinned compiler, in words
};

// Errors name file:line:column.
Result<std::vector<TpuCompiler>> ReadTpuCompilers(std::string_view text,
                                                  std::string_view file_name);
Result<std::span<const TpuCompiler>> TpuCompilers();

// Name of the plugin that compiles for the spec's vendor: "tpu", "cuda", "rocm"; "" when there is
// none.
std::string_view PluginFor(const spec::Spec& spec);

// Every slice that exists, smallest first, the extents of each in ascending order; empty when the
// spec has no torus.
std::vector<spec::Shape> Slices(const spec::Spec& spec);

struct Target {
  std::string name;  // "tpu-v5e:4x4"
  spec::Spec spec;
  spec::Shape shape;  // of one slice
  int64_t slices = 1;
  Machine machine;
  const TpuCompiler* compiler = nullptr;  // libtpu's
  const GpuCompiler* gpu = nullptr;       // XLA's for CUDA
  // Whether estimated cycles are corrected by what published measurements took of them.
  bool calibrated = true;

  int64_t chips() const { return slices * spec::Chips(shape); }
  bool compiles() const { return compiler != nullptr || gpu != nullptr; }  // else: by roofs
};

// `shape` empty: one chip, or of a torus the smallest slice.
Result<Target> MakeTarget(const spec::Spec& spec, spec::Shape shape, int64_t slices = 1);

// What the plugin is asked for. `target.compiles()`.
pjrt::TopologyRequest TopologyOf(const Target& target, const std::string& plugin_path);

// The mesh over the devices of that topology; its axes are the machine's.
Result<Mesh> MeshOf(const Target& target, const std::vector<DevicePlace>& places);

}  // namespace ridgeline::predict
