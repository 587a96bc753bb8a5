#include "benchmarks/movement_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "programs/check.h"

namespace ridgeline::benchmarks {
namespace {

void ComparePiece(const programs::CheckInput& input, const HostTensor& output, const Piece& piece,
                  std::string_view where, programs::Comparison& comparison) {
  constexpr int64_t kChunk = 4096;
  std::vector<double> expected(kChunk);
  std::vector<double> actual(kChunk);
  for (int64_t start = 0; start < piece.count; start += kChunk) {
    const auto count = static_cast<size_t>(std::min(kChunk, piece.count - start));
    const auto here = std::span(actual).first(count);
    LoadElements(output.shape.dtype, output.bytes.data(), piece.destination + start, here);
    if (piece.partition != Piece::kZeros) {
      input.Input(piece.partition, piece.input)
          .Read(piece.source + start, std::span(expected).first(count));
    }
    for (size_t i = 0; i < count; ++i) {
      comparison.ExpectEqual(expected[i], actual[i], where,
                             piece.destination + start + static_cast<int64_t>(i));
    }
  }
}

}  // namespace

programs::CheckResult CheckMovement(const programs::CheckInput& input, int outputs,
                                    const PiecesOf& pieces, const std::string& what) {
  programs::Comparison comparison(what);
  for (int partition = 0; partition < input.partitions(); ++partition) {
    for (int output = 0; output < outputs; ++output) {
      const std::string where = fmt::format("device {} output {} ", partition, output);
      for (const Piece& piece : pieces(partition, output)) {
        ComparePiece(input, input.Output(partition, output), piece, where, comparison);
      }
    }
  }
  return comparison.Finish();
}

}  // namespace ridgeline::benchmarks
