#include "programs/product_check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace ridgeline::programs {
namespace {

// Multiply-adds that all comparisons of one program may cost together, about 0.2 s.
constexpr double kBudget = 4e8;
// Doubles that B·v may take.
constexpr double kMaxCombined = 0x1p24;
// Rows that share one pass over B·v, interleaved so that the compiler uses vector instructions.
constexpr size_t kLanes = 8;

// Weights of v: ±64 … ±127. Integers keep integer products exact; no two neighbours cancel out, so
// that swapped columns show.
constexpr double kLeastWeight = 64;
constexpr double kRmsWeight = 97.3;
double Weight(const RandomStream& stream, int64_t column) {
  const uint64_t bits = stream.Bits(column);
  const double magnitude = kLeastWeight + static_cast<double>(bits & 63);
  return bits & 64 ? magnitude : -magnitude;
}

double AccumulateEpsilon(DType operand) {
  if (!IsFloat(operand)) return 0;
  if (operand == DType::kF64) return Epsilon(DType::kF64);
  // Matrix units keep as little as 13 fraction bits of the running sum of 8-bit floats.
  return Info(operand).bits == 8 ? 0x1p-13 : Epsilon(DType::kF32);
}

// Error of a block of `width` columns over that of one element; its columns err independently.
// Independent roundings have 40 times their standard deviation to spare in SumError, the running
// sum 28: the first may be cut to a quarter for wide blocks.
double BlockError(const SumError& error, int64_t width) {
  const auto w = static_cast<double>(width);
  return kRmsWeight *
         (error.independent * std::sqrt(w + 16) / 4 + error.accumulated * std::sqrt(w));
}

// As narrow as the budget allows; never so wide that half of one typical element could hide in the
// error of the block.
int64_t BlockWidth(const Product& product, const SumError& error, double budget) {
  const double of_b = static_cast<double>(product.k) * static_cast<double>(product.n);
  const double wanted =
      std::ceil(std::max(static_cast<double>(product.rows) * of_b / budget, of_b / kMaxCombined));
  const double element = kLeastWeight / 2 * std::sqrt(static_cast<double>(product.k));
  const double each = kRmsWeight * (error.independent / 4 + error.accumulated);
  const double widest = each > 0 ? std::pow(element / each, 2) : wanted;
  return static_cast<int64_t>(
      std::clamp(std::min(wanted, widest), 1.0, static_cast<double>(product.n)));
}

double SumOfSquares(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return sum;
}

class OneProduct {
 public:
  OneProduct(const Product& product, const SumError& error, double budget)
      : p_(product),
        error_(error),
        k_(static_cast<size_t>(product.k)),
        n_(static_cast<size_t>(product.n)),
        width_(BlockWidth(product, error, budget)),
        blocks_(static_cast<size_t>((product.n + width_ - 1) / width_)),
        combined_(blocks_ * k_) {
    const RandomStream stream(0x5eed, 0);
    for (int64_t j = 0; j < p_.n; ++j) weights_.push_back(width_ == 1 ? 1 : Weight(stream, j));
    if (width_ > 1) {
      for (const int64_t row : std::set<int64_t>{0, p_.rows / 2, p_.rows - 1}) {
        samples_.push_back({row, std::vector<double>(k_), std::vector<double>(n_)});
        p_.read_a(row, samples_.back().a);
      }
    }
    ReadB();
  }

  void CompareSamples(Comparison& comparison) const {
    for (const Sample& sample : samples_) {
      const double bound = error_.total() * RmsOf(SumOfSquares(sample.a), p_.k) * rms_b_;
      for (size_t j = 0; j < n_; ++j) {
        const int64_t index = Flat(sample.row, static_cast<int64_t>(j));
        comparison.Expect(sample.expected[j], p_.c->at(index), bound, "C", index);
      }
    }
  }

  void CompareBlocks(Comparison& comparison) const {
    std::vector<double> row(k_);
    std::vector<double> lanes(k_ * kLanes);
    std::vector<double> c(n_);
    for (int64_t first = 0; first < p_.rows; first += kLanes) {
      const auto count = static_cast<size_t>(std::min<int64_t>(kLanes, p_.rows - first));
      std::vector<double> rms(count);
      for (size_t r = 0; r < count; ++r) {
        p_.read_a(first + static_cast<int64_t>(r), row);
        rms[r] = RmsOf(SumOfSquares(row), p_.k);
        for (size_t x = 0; x < k_; ++x) lanes[x * kLanes + r] = row[x];
      }
      const std::vector<double> expected = TimesCombined(lanes);
      for (size_t r = 0; r < count; ++r) {
        const int64_t start = Flat(first + static_cast<int64_t>(r), 0);
        LoadElements(p_.c->shape.dtype, p_.c->bytes.data(), start, c);
        for (size_t block = 0; block < blocks_; ++block) {
          const int64_t from = static_cast<int64_t>(block) * width_;
          const int64_t width = std::min(width_, p_.n - from);
          double actual = 0;
          for (auto j = static_cast<size_t>(from); j < static_cast<size_t>(from + width); ++j) {
            actual += weights_[j] * c[j];
          }
          const double bound =
              (width_ == 1 ? error_.total() : BlockError(error_, width)) * rms[r] * rms_b_;
          comparison.Expect(expected[block * kLanes + r], actual, bound, "C", start + from);
        }
      }
    }
  }

 private:
  struct Sample {
    int64_t row;
    std::vector<double> a;
    std::vector<double> expected;
  };

  static double RmsOf(double squares, int64_t count) {
    return std::sqrt(squares / static_cast<double>(count));
  }
  int64_t Flat(int64_t row, int64_t column) const { return p_.c_start + row * p_.n + column; }
  size_t BlockOf(size_t column) const { return column / static_cast<size_t>(width_); }

  // One pass over B: combined_[block][x] = sum over the block's columns of v[j] * B[x,j], the
  // sampled rows of C, and the size of B's elements.
  void ReadB() {
    double squares = 0;
    std::vector<double> line(p_.b_by_columns ? k_ : n_);
    const int64_t lines = p_.b_by_columns ? p_.n : p_.k;
    for (int64_t number = 0; number < lines; ++number) {
      p_.read_b(number, line);
      squares += SumOfSquares(line);
      const auto at = static_cast<size_t>(number);
      p_.b_by_columns ? AddColumn(at, line) : AddRow(at, line);
    }
    rms_b_ = RmsOf(squares, p_.k * p_.n);
  }

  void AddColumn(size_t j, std::span<const double> column) {
    double* const combined = combined_.data() + BlockOf(j) * k_;
    for (size_t x = 0; x < k_; ++x) combined[x] += weights_[j] * column[x];
    for (Sample& sample : samples_) {
      for (size_t x = 0; x < k_; ++x) sample.expected[j] += sample.a[x] * column[x];
    }
  }

  void AddRow(size_t x, std::span<const double> row) {
    for (size_t block = 0; block < blocks_; ++block) {
      const size_t from = block * static_cast<size_t>(width_);
      const size_t to = std::min(from + static_cast<size_t>(width_), n_);
      double sum = 0;
      for (size_t j = from; j < to; ++j) sum += weights_[j] * row[j];
      combined_[block * k_ + x] = sum;
    }
    for (Sample& sample : samples_) {
      for (size_t j = 0; j < n_; ++j) sample.expected[j] += sample.a[x] * row[j];
    }
  }

  // kLanes rows of A times every block of B·v: [block][lane].
  std::vector<double> TimesCombined(const std::vector<double>& lanes) const {
    std::vector<double> products(blocks_ * kLanes);
    for (size_t block = 0; block < blocks_; ++block) {
      const double* const combined = combined_.data() + block * k_;
      double sum[kLanes] = {};
      for (size_t x = 0; x < k_; ++x) {
        for (size_t r = 0; r < kLanes; ++r) sum[r] += lanes[x * kLanes + r] * combined[x];
      }
      std::copy(std::begin(sum), std::end(sum),
                products.begin() + static_cast<std::ptrdiff_t>(block * kLanes));
    }
    return products;
  }

  const Product& p_;
  SumError error_;
  size_t k_;
  size_t n_;
  int64_t width_;  // columns to a block; 1: v is all ones
  size_t blocks_;
  std::vector<double> combined_;  // [block][k]
  std::vector<double> weights_;
  std::vector<Sample> samples_;
  double rms_b_ = 0;
};

}  // namespace

ProductComparison::ProductComparison(const ProductTypes& types, int64_t products)
    : types_(types),
      budget_(kBudget / static_cast<double>(products)),
      rows_("sampled rows in f64"),
      blocks_("all of C in f64, single elements or random combinations of columns (Freivalds)") {}

void ProductComparison::Add(const Product& product) {
  const SumError error = ErrorOfSum(AccumulateEpsilon(types_.operand), Epsilon(types_.result),
                                    types_.multiply_epsilon, product.k);
  const OneProduct one(product, error, budget_);
  one.CompareSamples(rows_);
  one.CompareBlocks(blocks_);
}

CheckResult ProductComparison::Finish() const {
  CheckResult result = blocks_.Finish();
  if (rows_.compared() > 0) {
    const CheckResult sampled = rows_.Finish();
    result.passed = result.passed && sampled.passed;
    result.detail += "; " + sampled.detail;
  }
  return result;
}

CheckResult CheckMatmul(const MatmulCheck& check, const CheckInput& input) {
  const int64_t m = check.m;
  const int64_t n = check.n;
  const int64_t k = check.k;
  ProductComparison comparison(check.types, check.batch * input.partitions());
  for (int partition = 0; partition < input.partitions(); ++partition) {
    const InputSource a = input.Input(partition, 0);
    const InputSource b = input.Input(partition, 1);
    for (int64_t batch = 0; batch < check.batch; ++batch) {
      Product product{.rows = m,
                      .n = n,
                      .k = k,
                      .read_a = {},
                      .read_b = {},
                      .b_by_columns = check.transpose_b,
                      .c = &input.Output(partition, 0),
                      .c_start = batch * m * n};
      product.read_a = [&, start = batch * m * k](int64_t row, std::span<double> out) {
        if (!check.transpose_a) return a.Read(start + row * k, out);
        for (size_t x = 0; x < out.size(); ++x)
          out[x] = a(start + static_cast<int64_t>(x) * m + row);
      };
      product.read_b = [&, start = batch * k * n](int64_t line, std::span<double> out) {
        b.Read(start + line * static_cast<int64_t>(out.size()), out);
      };
      comparison.Add(product);
    }
  }
  return comparison.Finish();
}

}  // namespace ridgeline::programs
