// Compares a program's outputs with the host's own f64 computation.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "programs/program.h"

namespace ridgeline::programs {

// c of the bound |error| <= c * eps * sqrt(K) * |a| * |b| (design.md section 3.7).
inline constexpr double kErrorFactor = 8;

// Allowed error of a sum of `terms` products a_k * b_k that is accumulated in `accumulate` and
// stored as `result`: kErrorFactor * (eps_accumulate + eps_result) * sqrt(terms) * rms(a) * rms(b).
// 0 for integers, which are exact.
double DotBound(DType accumulate, DType result, int64_t terms, double rms_a, double rms_b);

class Comparison {
 public:
  // `what` names the rule in the detail line: "rows 0, 17 of C".
  explicit Comparison(std::string what) : what_(std::move(what)) {}

  // One element. NaN never passes.
  void Expect(double expected, double actual, double bound, std::string_view where, int64_t index);
  void ExpectEqual(double expected, double actual, std::string_view where, int64_t index) {
    Expect(expected, actual, 0, where, index);
  }
  // Elements compared so far.
  int64_t compared() const { return compared_; }
  // Failed when nothing was compared.
  CheckResult Finish() const;

 private:
  std::string what_;
  int64_t compared_ = 0;
  int64_t wrong_ = 0;
  double worst_ = 0;  // |error| / bound
  std::string first_wrong_;
};

}  // namespace ridgeline::programs
