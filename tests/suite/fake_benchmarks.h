// Benchmarks for tests of the suite reader, so that those depend on no real one.
#pragma once

#include <utility>
#include <vector>

#include "benchmarks/benchmark.h"
#include "suite/suite.h"

namespace ridgeline::suite {

inline ParamSpec FakeParam(std::string name, ParamType type, ParamValue fallback,
                           std::vector<std::string> allowed = {}) {
  ParamSpec spec;
  spec.name = std::move(name);
  spec.type = type;
  spec.fallback = std::move(fallback);
  spec.allowed = std::move(allowed);
  return spec;
}

inline benchmarks::Benchmark FakeBenchmark(std::string name, Component component, bool uses_mesh,
                                           std::vector<ParamSpec> params) {
  benchmarks::Benchmark benchmark;
  benchmark.name = std::move(name);
  benchmark.component = component;
  benchmark.uses_mesh = uses_mesh;
  benchmark.min_devices = uses_mesh ? 2 : 1;
  benchmark.params = std::move(params);
  return benchmark;
}

inline std::vector<benchmarks::Benchmark> MakeFakeBenchmarks() {
  const std::string f32 = "f32";
  const auto integer = [](const std::string& name) {
    return FakeParam(name, ParamType::kInteger, int64_t{16});
  };
  const ParamSpec bytes = FakeParam("bytes", ParamType::kBytes, int64_t{1024});
  const ParamSpec dtype = FakeParam("dtype", ParamType::kDType, f32, {"f32", "bf16", "s8"});
  const ParamSpec group = FakeParam("group", ParamType::kText, std::string("all"));
  const ParamSpec precision = FakeParam("precision_config", ParamType::kText,
                                        std::string("default"), {"default", "highest"});
  ParamSpec source = FakeParam("source", ParamType::kInteger, int64_t{0});
  ParamSpec target = FakeParam("target", ParamType::kInteger, int64_t{1});
  source.min = target.min = 0;
  ParamSpec size = integer("size");
  size.required = true;
  size.help = "extent, no default";
  return {FakeBenchmark("matmul", Component::kCompute, false,
                        {integer("m"), integer("n"), integer("k"), dtype, precision}),
          FakeBenchmark("sum", Component::kNetwork, true, {bytes, dtype, group}),
          FakeBenchmark("pair", Component::kNetwork, true, {bytes, source, target}),
          FakeBenchmark("stream", Component::kHbm, false, {bytes}),
          FakeBenchmark("attend", Component::kAttention, false,
                        {size, FakeParam("causal", ParamType::kBool, false)})};
}

inline const std::vector<benchmarks::Benchmark>& FakeBenchmarks() {
  static const std::vector<benchmarks::Benchmark> kAll = MakeFakeBenchmarks();
  return kAll;
}

inline ShapeTable FakeShapes() {
  return {{"tiny",
           {{"qkv", {{"m", std::string("1")}, {"n", std::string("2")}, {"k", std::string("3")}}},
            {"up", {{"m", std::string("4")}, {"n", std::string("5")}, {"k", std::string("6")}}}}},
          {"wide", {{"odd", {{"batch", std::string("1")}}}}}};
}

}  // namespace ridgeline::suite
