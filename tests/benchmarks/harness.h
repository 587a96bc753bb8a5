// Builds benchmarks' programs for tests, holds what a device gave back, and checks that a known
// answer is told from a wrong one.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/benchmark.h"
#include "programs/program.h"

namespace ridgeline::benchmarks {

using Given = std::map<std::string, ParamValue>;
using Outputs = std::vector<std::vector<HostTensor>>;  // [partition][output]

constexpr uint64_t kTestSeed = 12345;

inline Mesh TestMesh(int devices) {
  return MakeMesh(std::vector<DevicePlace>(static_cast<size_t>(devices)), {}).value();
}

struct BuildOptions {
  int devices = 1;
  bool all = false;
  std::string platform = "cpu";
  std::string text = {};  // imported programs
};

inline Result<programs::Program> TryBuild(const std::string& bench, const Given& given,
                                          const BuildOptions& options = {}) {
  RL_ASSIGN(const Benchmark* benchmark, FindBenchmark(bench));
  RL_ASSIGN(const Params params, ResolveParams(benchmark->params, given));
  const Mesh mesh = TestMesh(options.devices);
  return benchmark->build(params, {.mesh = &mesh,
                                   .placement = {.all = options.all, .device = 0},
                                   .platform = options.platform,
                                   .program_text = options.text});
}

inline programs::Program MustBuild(const std::string& bench, const Given& given,
                                   const BuildOptions& options = {}) {
  Result<programs::Program> program = TryBuild(bench, given, options);
  EXPECT_TRUE(program.has_value()) << bench << ": " << program.error().ToString();
  return program ? std::move(*program) : programs::Program{};
}

// A program's inputs as functions and its outputs as arrays.
class HostRun : public programs::CheckInput {
 public:
  HostRun(const programs::Program& program, Outputs outputs)
      : program_(program), outputs_(std::move(outputs)) {}
  programs::InputSource Input(int partition, int input) const override {
    return {program_.inputs.at(static_cast<size_t>(input)), input, partition, kTestSeed, "normal"};
  }
  const HostTensor& Output(int partition, int output) const override {
    return outputs_.at(static_cast<size_t>(partition)).at(static_cast<size_t>(output));
  }
  int partitions() const override { return static_cast<int>(outputs_.size()); }
  const Outputs& outputs() const { return outputs_; }

 private:
  const programs::Program& program_;
  Outputs outputs_;
};

inline programs::CheckResult CheckOutputs(const programs::Program& program, Outputs outputs) {
  return program.check(HostRun(program, std::move(outputs)));
}

// The carried arrays before the first round: what is left when the op never ran.
inline Outputs InitialOutputs(const programs::Program& program, int partitions) {
  Outputs outputs(static_cast<size_t>(partitions));
  for (size_t p = 0; p < outputs.size(); ++p) {
    for (size_t i = 0; i < program.carried.size(); ++i) {
      const programs::InputSource source(program.carried[i],
                                         static_cast<int>(program.inputs.size() + i),
                                         static_cast<int>(p), kTestSeed, "normal");
      outputs[p].push_back(source.Materialize());
    }
  }
  return outputs;
}

// Moves element `index` towards zero, or through it, by the size of the larger elements.
inline void Spoil(HostTensor& tensor, int64_t index) {
  const int64_t n = tensor.shape.elements();
  double size = 0;
  for (int64_t i = 0; i < n; i += n / 64 + 1) size = std::max(size, std::fabs(tensor.at(i)));
  const double value = tensor.at(index);
  tensor.set(index, value > 0 ? value - size : value + size);
  ASSERT_NE(tensor.at(index), value);
}

// The outputs pass; with one wrong element (first, middle, last; of every partition and output),
// two partitions swapped, or the op never run, they fail.
inline void ExpectCheckCatches(const programs::Program& program, const Outputs& right) {
  const programs::CheckResult passed = CheckOutputs(program, right);
  ASSERT_TRUE(passed.passed) << passed.detail;
  for (size_t p = 0; p < right.size(); ++p) {
    for (size_t o = 0; o < right[p].size(); ++o) {
      const int64_t n = right[p][o].shape.elements();
      for (const int64_t index : {int64_t{0}, int64_t{1} % n, n / 2, n / 2 + n / 7, n - 1}) {
        Outputs wrong = right;
        Spoil(wrong[p][o], index);
        EXPECT_FALSE(CheckOutputs(program, wrong).passed)
            << "partition " << p << " output " << o << " element " << index << " of " << n;
      }
    }
  }
  if (right.size() > 1) {
    Outputs swapped = right;
    std::swap(swapped.front(), swapped.back());
    EXPECT_FALSE(CheckOutputs(program, swapped).passed) << "partitions swapped";
  }
  EXPECT_FALSE(
      CheckOutputs(program, InitialOutputs(program, static_cast<int>(right.size()))).passed)
      << "the op never ran";
}

}  // namespace ridgeline::benchmarks
