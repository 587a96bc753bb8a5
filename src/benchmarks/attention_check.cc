#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "benchmarks/attention.h"
#include "programs/check.h"

namespace ridgeline::benchmarks {
namespace {

using programs::CheckResult;
using programs::Comparison;

// Rows of one head that are compared at least when not all are.
constexpr int64_t kLeastRows = 3;

double Norm(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

double Rms(std::span<const double> values) {
  return values.empty() ? 0 : Norm(values) / std::sqrt(static_cast<double>(values.size()));
}

// to += factor * from
void AddScaled(double factor, const double* from, std::span<double> to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

// One key head of one sequence, in both orders: [N][D] and [D][N].
struct HeadArray {
  std::vector<double> by_key;
  std::vector<double> by_dim;
};

// One row of scores and, for a backward pass, its gradient.
struct Row {
  std::vector<double> p;        // softmax
  std::vector<double> ds;       // gradient of the unscaled scores
  std::vector<double> ds_size;  // size of the terms that ds is the difference of
};

class OnePartition {
 public:
  OnePartition(const Attention& a, const programs::CheckInput& input, int partition)
      : a_(a),
        n_(static_cast<size_t>(a.kv_len)),
        d_(static_cast<size_t>(a.head_dim)),
        q_(input.Input(partition, 0).Values()),
        k_(input.Input(partition, 1).Values()),
        v_(input.Input(partition, 2).Values()),
        rms_q_(Rms(q_)),
        rms_k_(Rms(k_)),
        rms_v_(Rms(v_)) {
    if (a.backward()) do_ = input.Input(partition, 3).Values();
    rms_do_ = Rms(do_);
    int output = 0;
    if (a.forward()) o_ = input.Output(partition, output++);
    if (a.backward()) {
      dq_ = input.Output(partition, output++);
      dk_ = input.Output(partition, output++);
      dv_ = input.Output(partition, output++);
    }
    // Roundings of the operands of the products and of the results; of f32 sums, exponentials and
    // divisions for f32.
    tiny_ = a.dtype == DType::kF16 ? 0x1p-24 : 0;
    eps_ = Epsilon(a.dtype) + (a.dtype == DType::kF32 ? 4 * Epsilon(DType::kF32) : 0);
  }

  void CompareAll(Comparison& comparison) {
    ForEachKeyHead([&](int64_t batch, int64_t head) { CompareKeyHead(batch, head, comparison); });
  }

  void CompareSampled(int64_t rows, Comparison& sampled, Comparison& rest) {
    ForEachKeyHead([&](int64_t batch, int64_t head) {
      LoadHead(batch, head);
      for (int64_t g = 0; g < a_.group(); ++g) {
        for (int64_t s = 0; s < rows; ++s) {
          // The first and the last query, and others in between.
          const int64_t query = rows < 2 ? 0 : s * (a_.q_len - 1) / (rows - 1);
          CompareRow(batch, head * a_.group() + g, query, sampled);
        }
      }
      if (o_) CompareRange(batch, head, rest);
      if (dv_) CompareSums(batch, head, rest);
    });
  }

 private:
  template <typename F>
  void ForEachKeyHead(const F& visit) {
    for (int64_t batch = 0; batch < a_.batch; ++batch) {
      for (int64_t head = 0; head < a_.kv_heads; ++head) visit(batch, head);
    }
  }

  int64_t QueryIndex(int64_t batch, int64_t query, int64_t head) const {
    return ((batch * a_.q_len + query) * a_.heads + head) * a_.head_dim;
  }
  int64_t KeyIndex(int64_t batch, int64_t key, int64_t head) const {
    return ((batch * a_.kv_len + key) * a_.kv_heads + head) * a_.head_dim;
  }

  HeadArray Gather(const std::vector<double>& array, int64_t batch, int64_t head) const {
    HeadArray out{std::vector<double>(n_ * d_), std::vector<double>(n_ * d_)};
    for (size_t j = 0; j < n_; ++j) {
      const auto from = static_cast<size_t>(KeyIndex(batch, static_cast<int64_t>(j), head));
      for (size_t x = 0; x < d_; ++x) {
        out.by_key[j * d_ + x] = array[from + x];
        out.by_dim[x * n_ + j] = array[from + x];
      }
    }
    return out;
  }

  void LoadHead(int64_t batch, int64_t head) {
    head_k_ = Gather(k_, batch, head);
    head_v_ = Gather(v_, batch, head);
  }

  // row[j] = Σ_x vector[x] * array[x][j] over the visible keys.
  std::vector<double> TimesKeys(const double* vector, const HeadArray& array, size_t seen) const {
    std::vector<double> row(seen);
    for (size_t x = 0; x < d_; ++x) AddScaled(vector[x], &array.by_dim[x * n_], row);
    return row;
  }

  Row ComputeRow(int64_t first, int64_t query) const {
    const auto seen = static_cast<size_t>(a_.visible(query));
    const double scale = 1 / std::sqrt(static_cast<double>(a_.head_dim));
    Row row;
    row.p = TimesKeys(&q_[static_cast<size_t>(first)], head_k_, seen);
    const double most = scale * *std::ranges::max_element(row.p);
    double sum = 0;
    for (double& p : row.p) sum += p = std::exp(scale * p - most);
    for (double& p : row.p) p /= sum;
    if (!a_.backward()) return row;

    row.ds = TimesKeys(&do_[static_cast<size_t>(first)], head_v_, seen);
    double delta = 0;
    for (size_t j = 0; j < seen; ++j) delta += row.p[j] * row.ds[j];
    // ds = scale * p * (dp - delta); both are sums over D.
    const double terms = std::sqrt(static_cast<double>(a_.head_dim)) * rms_do_ * rms_v_;
    for (size_t j = 0; j < seen; ++j) {
      const double factor = scale * row.p[j];
      row.ds_size.push_back(factor * (std::fabs(row.ds[j]) + std::fabs(delta) + terms));
      row.ds[j] = factor * (row.ds[j] - delta);
    }
    return row;
  }

  // Compares D elements: sums of `terms` weights, of norm `weight`, times values
  // of the given rms.
  void CompareVector(std::span<const double> expected, const HostTensor& actual, int64_t first,
                     double weight, int64_t terms, double rms, std::string_view where,
                     Comparison& out) const {
    const double lost = tiny_ * (1 + std::sqrt(static_cast<double>(terms)) * rms);
    for (size_t x = 0; x < d_; ++x) {
      const double error = eps_ * (weight * rms + std::fabs(expected[x])) + lost;
      const int64_t at = first + static_cast<int64_t>(x);
      out.Expect(expected[x], actual.at(at), programs::kErrorFactor * error, where, at);
    }
  }

  Row CompareRow(int64_t batch, int64_t head, int64_t query, Comparison& comparison) const {
    const int64_t first = QueryIndex(batch, query, head);
    const int64_t seen = a_.visible(query);
    Row row = ComputeRow(first, query);
    const auto sum = [&](const std::vector<double>& weights, const HeadArray& array) {
      std::vector<double> out(d_);
      for (size_t j = 0; j < weights.size(); ++j) AddScaled(weights[j], &array.by_key[j * d_], out);
      return out;
    };
    if (o_) {
      CompareVector(sum(row.p, head_v_), *o_, first, Norm(row.p), seen, rms_v_, "o", comparison);
    }
    if (dq_) {
      CompareVector(sum(row.ds, head_k_), *dq_, first, Norm(row.ds_size), seen, rms_k_, "dq",
                    comparison);
    }
    return row;
  }

  void CompareKeyHead(int64_t batch, int64_t head, Comparison& comparison) {
    LoadHead(batch, head);
    const size_t size = a_.backward() ? n_ * d_ : 0;
    std::vector<double> dk(size);
    std::vector<double> dv(size);
    std::vector<double> p_squares(n_);
    std::vector<double> ds_squares(n_);
    for (int64_t g = 0; g < a_.group(); ++g) {
      const int64_t query_head = head * a_.group() + g;
      for (int64_t query = 0; query < a_.q_len; ++query) {
        const Row row = CompareRow(batch, query_head, query, comparison);
        if (!a_.backward()) continue;
        const auto first = static_cast<size_t>(QueryIndex(batch, query, query_head));
        for (size_t j = 0; j < row.p.size(); ++j) {
          AddScaled(row.p[j], &do_[first], std::span(dv).subspan(j * d_, d_));
          AddScaled(row.ds[j], &q_[first], std::span(dk).subspan(j * d_, d_));
          p_squares[j] += row.p[j] * row.p[j];
          ds_squares[j] += row.ds_size[j] * row.ds_size[j];
        }
      }
    }
    if (!a_.backward()) return;
    const int64_t rows = a_.group() * a_.q_len;
    for (size_t j = 0; j < n_; ++j) {
      const int64_t at = KeyIndex(batch, static_cast<int64_t>(j), head);
      CompareVector(std::span(dk).subspan(j * d_, d_), *dk_, at, std::sqrt(ds_squares[j]), rows,
                    rms_q_, "dk", comparison);
      CompareVector(std::span(dv).subspan(j * d_, d_), *dv_, at, std::sqrt(p_squares[j]), rows,
                    rms_do_, "dv", comparison);
    }
  }

  // o is a weighted mean of the values that its row sees.
  void CompareRange(int64_t batch, int64_t head, Comparison& comparison) const {
    std::vector<double> low(d_, std::numeric_limits<double>::infinity());
    std::vector<double> high(d_, -std::numeric_limits<double>::infinity());
    int64_t seen = 0;
    for (int64_t query = 0; query < a_.q_len; ++query) {
      for (; seen < a_.visible(query); ++seen) {
        for (size_t x = 0; x < d_; ++x) {
          const double value = head_v_.by_key[static_cast<size_t>(seen) * d_ + x];
          low[x] = std::min(low[x], value);
          high[x] = std::max(high[x], value);
        }
      }
      for (int64_t g = 0; g < a_.group(); ++g) {
        const int64_t first = QueryIndex(batch, query, head * a_.group() + g);
        for (size_t x = 0; x < d_; ++x) {
          const int64_t at = first + static_cast<int64_t>(x);
          const double middle = (low[x] + high[x]) / 2;
          const double slack = programs::kErrorFactor * eps_ * std::max(-low[x], high[x]);
          comparison.Expect(middle, o_->at(at), high[x] - middle + std::fabs(slack), "o", at);
        }
      }
    }
  }

  // Σ_j dv[j] = Σ_i do[i], as every row of p adds up to 1; and Σ q·dq = Σ ds·(q·kᵀ) = Σ k·dk.
  void CompareSums(int64_t batch, int64_t head, Comparison& comparison) const {
    std::vector<double> d_o(d_);
    std::vector<double> dv(d_);
    std::vector<double> dv_squares(d_);
    double by_query = 0;
    double by_key = 0;
    double squares = 0;
    for (int64_t g = 0; g < a_.group(); ++g) {
      for (int64_t query = 0; query < a_.q_len; ++query) {
        const int64_t first = QueryIndex(batch, query, head * a_.group() + g);
        for (size_t x = 0; x < d_; ++x) {
          const int64_t at = first + static_cast<int64_t>(x);
          d_o[x] += do_[static_cast<size_t>(at)];
          const double term = q_[static_cast<size_t>(at)] * dq_->at(at);
          by_query += term;
          squares += term * term;
        }
      }
    }
    for (int64_t key = 0; key < a_.kv_len; ++key) {
      const int64_t first = KeyIndex(batch, key, head);
      for (size_t x = 0; x < d_; ++x) {
        const int64_t at = first + static_cast<int64_t>(x);
        const double value = dv_->at(at);
        dv[x] += value;
        dv_squares[x] += value * value;
        const double term = k_[static_cast<size_t>(at)] * dk_->at(at);
        by_key += term;
        squares += term * term;
      }
    }
    const double rows = std::sqrt(static_cast<double>(a_.group() * a_.q_len)) * rms_do_;
    // Independent roundings of a standard deviation under eps/3 each: kErrorFactor/2 is 12 of them.
    const double factor = programs::kErrorFactor / 2 * eps_;
    const auto number = batch * a_.kv_heads + head;
    for (size_t x = 0; x < d_; ++x) {
      comparison.Expect(d_o[x], dv[x], factor * (rows + std::sqrt(dv_squares[x])), "sum of dv",
                        number);
    }
    comparison.Expect(by_query, by_key, factor * std::sqrt(squares), "sum of k·dk", number);
  }

  const Attention& a_;
  size_t n_;
  size_t d_;
  std::vector<double> q_, k_, v_, do_;
  double rms_q_, rms_k_, rms_v_, rms_do_ = 0;
  std::optional<HostTensor> o_, dq_, dk_, dv_;
  double eps_ = 0;
  double tiny_ = 0;  // spacing of f16's subnormals, which long rows of probabilities reach
  HeadArray head_k_, head_v_;  // of the key head at work
};

}  // namespace

CheckResult CheckAttention(const Attention& a, const programs::CheckInput& input, double budget) {
  const double share = budget / static_cast<double>(input.partitions());
  const double one_product = a.scores() * static_cast<double>(a.head_dim);
  const double work = one_product * static_cast<double>(a.products());
  if (work <= share) {
    Comparison comparison("every element against f64");
    for (int p = 0; p < input.partitions(); ++p) OnePartition(a, input, p).CompareAll(comparison);
    return comparison.Finish();
  }
  const double row_work = work / static_cast<double>(a.q_len);
  const auto rows =
      std::clamp(static_cast<int64_t>(share / row_work), std::min(kLeastRows, a.q_len), a.q_len);
  Comparison sampled(fmt::format("{} rows of every head against f64", rows));
  Comparison rest(a.backward() ? "ranges and sums of all others" : "range of all others");
  for (int p = 0; p < input.partitions(); ++p) {
    OnePartition(a, input, p).CompareSampled(rows, sampled, rest);
  }
  const CheckResult by_rows = sampled.Finish();
  const CheckResult by_rest = rest.Finish();
  return {by_rows.passed && by_rest.passed, by_rows.detail + "; " + by_rest.detail};
}

}  // namespace ridgeline::benchmarks
