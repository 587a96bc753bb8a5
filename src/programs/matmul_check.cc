#include "programs/matmul_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "programs/check.h"

namespace ridgeline::programs {
namespace {

constexpr int64_t kSampledRows = 3;

// Columns of C that share one random combination. The roundings of `width` elements add up as
// sqrt(width) * 2 * eps of one element's size (6 sigma); they stay under half an element, so that
// one wrong element stands out.
int64_t BlockWidth(const MatmulCheck& check) {
  const double eps = Epsilon(check.result);
  if (eps == 0) return check.n;
  const double width = std::pow(0.5 / (2 * eps), 2);
  return std::clamp(static_cast<int64_t>(std::min(width, 1e9)), int64_t{1}, check.n);
}

double Rms(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

class OneProduct {
 public:
  OneProduct(const MatmulCheck& check, const std::vector<double>& a, const std::vector<double>& b,
             const HostTensor& c, int64_t batch)
      : check_(check), a_(a), b_(b), c_(c), batch_(batch) {}

  void CompareRows(double bound, Comparison& rows) const {
    std::vector<int64_t> sampled = {0, check_.m / 2, check_.m - 1};
    sampled.resize(static_cast<size_t>(std::min<int64_t>(kSampledRows, check_.m)));
    for (const int64_t i : sampled) {
      std::vector<double> expected(static_cast<size_t>(check_.n));
      for (int64_t x = 0; x < check_.k; ++x) {
        const double a = A(i, x);
        for (int64_t j = 0; j < check_.n; ++j) expected[static_cast<size_t>(j)] += a * B(x, j);
      }
      for (int64_t j = 0; j < check_.n; ++j) {
        rows.Expect(expected[static_cast<size_t>(j)], C(i, j), bound, "C", Flat(i, j));
      }
    }
  }

  // C·v = A·(B·v) for each block of columns, v = ±1.
  void CompareCombinations(double bound, const RandomStream& signs, Comparison& blocks) const {
    const int64_t block = BlockWidth(check_);
    for (int64_t start = 0; start < check_.n; start += block) {
      const int64_t width = std::min(block, check_.n - start);
      std::vector<double> sign(static_cast<size_t>(width));
      for (int64_t j = 0; j < width; ++j) {
        sign[static_cast<size_t>(j)] = signs.Bits(start + j) & 1 ? 1 : -1;
      }
      std::vector<double> bv(static_cast<size_t>(check_.k));
      for (int64_t x = 0; x < check_.k; ++x) {
        double sum = 0;
        for (int64_t j = 0; j < width; ++j) sum += B(x, start + j) * sign[static_cast<size_t>(j)];
        bv[static_cast<size_t>(x)] = sum;
      }
      for (int64_t i = 0; i < check_.m; ++i) {
        double expected = 0;
        double actual = 0;
        for (int64_t x = 0; x < check_.k; ++x) expected += A(i, x) * bv[static_cast<size_t>(x)];
        for (int64_t j = 0; j < width; ++j) {
          actual += C(i, start + j) * sign[static_cast<size_t>(j)];
        }
        // `width` independent roundings add up as their square root; a single element may err by
        // four times its 6 sigma.
        blocks.Expect(expected, actual, bound / 4 * std::sqrt(static_cast<double>(width) + 16),
                      "block of C", Flat(i, start));
      }
    }
  }

 private:
  double A(int64_t i, int64_t x) const {
    return a_[static_cast<size_t>(check_.transpose_a ? x * check_.m + i : i * check_.k + x)];
  }
  double B(int64_t x, int64_t j) const {
    return b_[static_cast<size_t>(check_.transpose_b ? j * check_.k + x : x * check_.n + j)];
  }
  int64_t Flat(int64_t i, int64_t j) const { return (batch_ * check_.m + i) * check_.n + j; }
  double C(int64_t i, int64_t j) const { return c_.at(Flat(i, j)); }

  const MatmulCheck& check_;
  const std::vector<double>& a_;
  const std::vector<double>& b_;
  const HostTensor& c_;
  int64_t batch_;
};

std::vector<double> BatchOf(const InputSource& source, int64_t batch, int64_t elements) {
  std::vector<double> values(static_cast<size_t>(elements));
  for (int64_t i = 0; i < elements; ++i)
    values[static_cast<size_t>(i)] = source(batch * elements + i);
  return values;
}

}  // namespace

CheckResult CheckMatmul(const MatmulCheck& check, const CheckInput& input) {
  Comparison rows(fmt::format("{} sampled rows in f64", std::min(kSampledRows, check.m)));
  Comparison blocks("all of C by random combinations of columns (Freivalds)");
  const DType accumulate = IsFloat(check.operand)
                               ? (check.operand == DType::kF64 ? DType::kF64 : DType::kF32)
                               : check.operand;
  const RandomStream signs(0x5eed, 0);
  for (int partition = 0; partition < input.partitions(); ++partition) {
    const InputSource source_a = input.Input(partition, 0);
    const InputSource source_b = input.Input(partition, 1);
    const HostTensor& c = input.Output(partition, 0);
    for (int64_t batch = 0; batch < check.batch; ++batch) {
      const std::vector<double> a = BatchOf(source_a, batch, check.m * check.k);
      const std::vector<double> b = BatchOf(source_b, batch, check.k * check.n);
      const double bound = DotBound(accumulate, check.result, check.k, Rms(a), Rms(b));
      const OneProduct product(check, a, b, c, batch);
      product.CompareRows(bound, rows);
      product.CompareCombinations(bound, signs, blocks);
    }
  }
  const CheckResult by_rows = rows.Finish();
  const CheckResult by_blocks = blocks.Finish();
  return {by_rows.passed && by_blocks.passed, by_rows.detail + "; " + by_blocks.detail};
}

}  // namespace ridgeline::programs
