// The known answer of data movement: every output element is one input element, or zero.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "programs/program.h"

namespace ridgeline::benchmarks {

// `count` elements of an output, and where they come from.
struct Piece {
  static constexpr int kZeros = -1;
  int partition = 0;  // source, or kZeros
  int input = 0;
  int64_t source = 0;       // first element there
  int64_t destination = 0;  // first element in the output
  int64_t count = 0;
};

// Pieces of one output of one partition. Elements in no piece are not compared.
using PiecesOf = std::function<std::vector<Piece>(int partition, int output)>;

// Compares exactly; `what` names the rule in the detail line.
programs::CheckResult CheckMovement(const programs::CheckInput& input, int outputs,
                                    const PiecesOf& pieces, const std::string& what);

}  // namespace ridgeline::benchmarks
