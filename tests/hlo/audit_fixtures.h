// What the programs in tests/hlo/data were built to do.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "fixtures.h"
#include "hlo/audit.h"

namespace ridgeline::hlo {

inline std::string Text(const AuditResult& result) {
  std::string text;
  for (const Finding& finding : result.findings) {
    text += fmt::format("{}: {}\n", Name(finding.level), finding.text);
  }
  return text;
}

inline Expectation Expect(std::vector<ExpectedOp> ops, DType dtype, double moved_bytes) {
  Expectation expected;
  expected.ops = std::move(ops);
  expected.dtype = dtype;
  expected.moved_bytes = moved_bytes;
  return expected;
}

// c[512,512] = a x b
inline Expectation Gemm(DType dtype) {
  const auto bytes = static_cast<double>(DeviceBytes(dtype, 512 * 512));
  return Expect({{{"dot", "convolution"}}}, dtype, 3 * bytes);
}

// c = a + 3 b over 2^20 f32
inline Expectation Triad() {
  return Expect({{{"multiply"}}, {{"add"}}}, DType::kF32, 3 * 4.0 * 1048576);
}

inline Expectation Copy() { return Expect({{{"copy"}}}, DType::kF32, 2 * 4.0 * 1048576); }

// 2^16 f32 on each of 4 devices
inline Expectation AllReduce(std::vector<std::vector<int64_t>> groups) {
  Expectation expected = Expect({{{"all-reduce"}}}, DType::kF32, 2 * 4.0 * 65536);
  expected.groups = std::move(groups);
  return expected;
}

inline Expectation Permute() {
  Expectation expected = Expect({{{"collective-permute"}}}, DType::kF32, 2 * 4.0 * 65536);
  expected.source_target = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
  return expected;
}

// Two dots with a softmax between them; q, k, v and the result are f32[4,256,64].
inline Expectation Attention() {
  return Expect({{{"dot"}, 2}}, DType::kF32, 4 * 4.0 * 4 * 256 * 64);
}

struct Known {
  std::string fixture;
  Expectation expected;
};

inline std::vector<Known> CleanPrograms() {
  return {
      {"cpu_gemm_f32", Gemm(DType::kF32)},
      {"cpu_gemm_bf16", Gemm(DType::kBF16)},
      {"cpu_triad", Triad()},
      {"cpu_copy", Copy()},
      {"cpu_all_reduce", AllReduce({{0, 1, 2, 3}})},
      {"cpu_all_reduce_halves", AllReduce({{0, 1}, {2, 3}})},
      {"cpu_permute", Permute()},
      {"v5e_gemm_bf16", Gemm(DType::kBF16)},
      {"v5e_triad", Triad()},
      {"v5e_all_reduce", AllReduce({{0, 1, 2, 3}})},
  };
}

}  // namespace ridgeline::hlo
