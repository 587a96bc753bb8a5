// Which parts of a computation's parameters its results need, backwards from the root: what is
// dead, what is touched only in slices or rows, and what is updated in place.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/trace.h"

namespace ridgeline::hlo {

// Arrays in a shape, in order: 1 for an array, those of all elements for a tuple.
size_t CountLeaves(const Shape& shape);
// The arrays themselves, in that order.
std::vector<const Shape*> Leaves(const Shape& shape);

struct Origin {
  size_t parameter = 0;
  size_t leaf = 0;
};

struct RootLeaf {
  // Only handed on, or updated in place: the parameter whose memory it can keep.
  std::optional<Origin> origin;
  double written_bytes = 0;  // at least; the updates when it keeps its memory, else all of it
};

struct Demand {
  // [parameter number][leaf]: share of its elements that is read, 0 … 1; and whether it is needed
  // at all, be it only to be kept.
  std::vector<std::vector<double>> touched;
  std::vector<std::vector<bool>> used;
  std::vector<RootLeaf> root;
  std::vector<bool> live;  // by position of the instruction in its computation
};

class DemandAnalysis {
 public:
  using Trips = std::function<double(const Instruction& loop)>;  // 1 where unknown

  DemandAnalysis(const Module& module, Trips trips)
      : module_(module), trips_(std::move(trips)), tracer_(module) {}

  // `needed`: leaves of the root that somebody reads. The same question is answered once.
  const Demand& Of(const Computation& computation, const std::vector<bool>& needed);
  // Of the program: all results are needed; only donated parameters may be updated in place.
  const Demand& OfEntry();
  // Whether any context needs the instruction.
  bool IsLive(const Computation& computation, size_t position) const;

 private:
  class Pass;

  bool HasEffects(int64_t computation);
  const std::vector<RootLeaf>& RootOf(int64_t computation);
  void MarkLive(const Computation& computation, const Demand& demand);

  const Module& module_;
  Trips trips_;
  Tracer tracer_;
  std::map<std::pair<int64_t, std::vector<bool>>, std::unique_ptr<Demand>> known_;
  std::unique_ptr<Demand> entry_;
  std::map<int64_t, std::vector<bool>> live_;
  std::map<int64_t, bool> effects_;
  std::map<int64_t, std::vector<RootLeaf>> roots_;
};

}  // namespace ridgeline::hlo
