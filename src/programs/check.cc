#include "programs/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ridgeline::programs {
namespace {

constexpr int64_t kChunkElements = 4096;  // a few arrays of doubles in the second-level cache

// Calls visit(start, count) for each chunk of `elements`.
template <typename F>
void ForEachChunk(int64_t elements, F&& visit) {
  for (int64_t start = 0; start < elements; start += kChunkElements) {
    visit(start, static_cast<size_t>(std::min(kChunkElements, elements - start)));
  }
}

// out[i] = source(indices[i]); neighbours in the source are read together.
void ReadRuns(const InputSource& source, std::span<const int64_t> indices, std::span<double> out) {
  for (size_t start = 0; start < indices.size();) {
    size_t end = start + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    source.Read(indices[start], out.subspan(start, end - start));
    start = end;
  }
}

}  // namespace

SumError ErrorOfSum(double accumulate, double result, double product, int64_t terms) {
  const auto k = static_cast<double>(terms);
  return {kErrorFactor * (result + product) * std::sqrt(k),
          accumulate * std::max(kErrorFactor * std::sqrt(k), 4 * k)};
}

double DotBound(DType accumulate, DType result, int64_t terms, double rms_a, double rms_b) {
  return ErrorOfSum(Epsilon(accumulate), Epsilon(result), 0, terms).total() * rms_a * rms_b;
}

void Comparison::Expect(double expected, double actual, double bound, std::string_view where,
                        int64_t index) {
  ++compared_;
  const double error = std::fabs(actual - expected);
  if (error <= bound) {
    if (error > worst_ * bound) worst_ = error / bound;
    return;
  }
  if (wrong_++ == 0) {
    first_wrong_ = fmt::format("{}[{}]: expected {}, got {}, allowed error {}", where, index,
                               expected, actual, bound);
  }
}

void Comparison::ExpectEach(std::span<const double> expected, std::span<const double> actual,
                            std::span<const double> bound, std::string_view where, int64_t start) {
  bool nothing_new = true;  // all right, none worse than the worst so far
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::fabs(actual[i] - expected[i]);
    nothing_new &= error <= worst_ * bound[i];
  }
  if (nothing_new) {
    compared_ += static_cast<int64_t>(expected.size());
    return;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    Expect(expected[i], actual[i], bound[i], where, start + static_cast<int64_t>(i));
  }
}

void Comparison::ExpectAll(double value, const HostTensor& actual, std::string_view where) {
  std::vector<double> chunk(kChunkElements);
  ForEachChunk(actual.shape.elements(), [&](int64_t start, size_t count) {
    const auto elements = std::span(chunk).first(count);
    LoadElements(actual.shape.dtype, actual.bytes.data(), start, elements);
    for (size_t i = 0; i < count; ++i) {
      ExpectEqual(value, elements[i], where, start + static_cast<int64_t>(i));
    }
  });
}

CheckResult Comparison::Finish() const {
  if (compared_ == 0) return {false, what_ + ": nothing was compared"};
  if (wrong_ > 0) {
    return {false, fmt::format("{}: {} of {} elements wrong; first {}", what_, wrong_, compared_,
                               first_wrong_)};
  }
  return {true, fmt::format("{}: {} elements, worst error {} of its bound", what_, compared_,
                            FormatShare(worst_))};
}

CheckResult CheckElementwise(const CheckInput& input, int inputs, std::string what,
                             const std::function<void(const Chunk&)>& op) {
  Comparison comparison(std::move(what));
  std::vector<std::vector<double>> values(static_cast<size_t>(inputs) + 3,
                                          std::vector<double>(kChunkElements));
  for (int partition = 0; partition < input.partitions(); ++partition) {
    const HostTensor& output = input.Output(partition, 0);
    const std::string where = fmt::format("device {} ", partition);
    std::vector<InputSource> sources;
    for (int i = 0; i < inputs; ++i) sources.push_back(input.Input(partition, i));
    ForEachChunk(output.shape.elements(), [&](int64_t start, size_t count) {
      Chunk chunk{start, {}, {}, {}};
      for (size_t i = 0; i < sources.size(); ++i) {
        const auto span = std::span(values[i]).first(count);
        sources[i].Read(start, span);
        chunk.inputs.push_back(span);
      }
      const auto actual = std::span(values[sources.size()]).first(count);
      chunk.expected = std::span(values[sources.size() + 1]).first(count);
      chunk.bound = std::span(values[sources.size() + 2]).first(count);
      std::ranges::fill(chunk.bound, 0.0);
      op(chunk);
      LoadElements(output.shape.dtype, output.bytes.data(), start, actual);
      comparison.ExpectEach(chunk.expected, actual, chunk.bound, where, start);
    });
  }
  return comparison.Finish();
}

CheckResult CheckMoved(const CheckInput& input, std::string what,
                       const std::function<Origins(int partition)>& origins_of) {
  Comparison comparison(std::move(what));
  std::vector<int64_t> origins(kChunkElements);
  std::vector<double> expected(kChunkElements);
  std::vector<double> actual(kChunkElements);
  const std::vector<double> exact(kChunkElements);
  for (int partition = 0; partition < input.partitions(); ++partition) {
    const HostTensor& output = input.Output(partition, 0);
    const std::string where = fmt::format("device {} ", partition);
    const InputSource source = input.Input(partition, 0);
    const Origins fill = origins_of(partition);
    ForEachChunk(output.shape.elements(), [&](int64_t start, size_t count) {
      fill(start, std::span(origins).first(count));
      ReadRuns(source, std::span(origins).first(count), expected);
      LoadElements(output.shape.dtype, output.bytes.data(), start, std::span(actual).first(count));
      comparison.ExpectEach(std::span(expected).first(count), std::span(actual).first(count),
                            std::span(exact).first(count), where, start);
    });
  }
  return comparison.Finish();
}

}  // namespace ridgeline::programs
