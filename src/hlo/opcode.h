// HLO's opcodes by what they cost.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace ridgeline::hlo {

enum class OpKind {
  kFree,  // names a value, waits, or ends what another began
  kSource,
  kMove,
  kSlice,
  kGather,
  kUpdate,
  kScatter,
  kVector,
  kTranscendental,
  kDot,
  kConvolution,
  kReduce,
  kReduceWindow,
  kSelectAndScatter,
  kMap,
  kSort,
  kTopK,
  kFft,
  kRandom,
  kCholesky,
  kTriangularSolve,
  kBatchNorm,
  kFusion,
  kControl,
  kCustomCall,
  kCollective,
  kHost,
};

// Absent for an opcode that this version does not know.
std::optional<OpKind> KindOf(std::string_view opcode);
const std::vector<std::string_view>& AllOpcodes();

}  // namespace ridgeline::hlo
