// Compares a program's outputs with the host's own f64 computation.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "programs/program.h"

namespace ridgeline::programs {

// c of the bound |error| <= c * eps * sqrt(K) * |a| * |b| (design.md section 3.7), |a| and |b| the
// norms of the two vectors.
inline constexpr double kErrorFactor = 8;

// Allowed error of a sum of K = `terms` products, by what it comes from, for rms(a) = rms(b) = 1.
struct SumError {
  // Roundings that do not depend on each other: of the result, of the operands.
  double independent = 0;
  // Of the running sum. In the order k = 0, 1, 2 … (what matrix units do) its standard deviation is
  // about 0.14 * eps * K for normal data, as the partial sums grow with sqrt(k); it has wide tails.
  double accumulated = 0;
  double total() const { return independent + accumulated; }
};
// The epsilons are 2^-fraction_bits; `product` is that of the operands as they are multiplied, 0
// when they go in exactly.
SumError ErrorOfSum(double accumulate, double result, double product, int64_t terms);

// The same for data of the given rms, in one number. 0 for integers, which are exact.
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
  // Elements from `start` on, spans of one length.
  void ExpectEach(std::span<const double> expected, std::span<const double> actual,
                  std::span<const double> bound, std::string_view where, int64_t start);
  // Every element of `actual` is `value`, exactly.
  void ExpectAll(double value, const HostTensor& actual, std::string_view where);
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

// Output 0 of every partition is compared whole, a chunk at a time, so that the inner loops are
// plain arithmetic over spans of one length.
struct Chunk {
  int64_t start = 0;                            // index of the first element
  std::vector<std::span<const double>> inputs;  // the same elements of each named input
  std::span<double> expected;                   // to be filled
  std::span<double> bound;                      // allowed error of each; 0 when the op is called
};
// out[i] = op(input 0 [i], input 1 [i] …) over the first `inputs` inputs, all of one shape.
CheckResult CheckElementwise(const CheckInput& input, int inputs, std::string what,
                             const std::function<void(const Chunk&)>& op);

// out[i] = input 0 [origin(i)], exactly. `origins` fills the origins of the elements from `start`
// on, for one partition.
using Origins = std::function<void(int64_t start, std::span<int64_t> origins)>;
CheckResult CheckMoved(const CheckInput& input, std::string what,
                       const std::function<Origins(int partition)>& origins_of);

}  // namespace ridgeline::programs
