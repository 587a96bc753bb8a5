#include "hlo/loop.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace ridgeline::hlo {
namespace {

Loop ReadLoop(Tracer& tracer, const Instruction& at, const Frame* frame) {
  Loop loop{&at, frame, {}, {}, "", {}};
  const Frame* condition = tracer.Enter(at.called[1], &at, frame);
  const Value test = tracer.Resolve({&condition->computation->Root(), condition, {}});
  if (test.instruction->opcode != "compare" || test.instruction->operands.size() != 2) return loop;
  loop.direction = test.instruction->comparison_direction;
  loop.counter = tracer.Evaluate(tracer.Operand(test, 0));
  loop.bound = tracer.Evaluate(tracer.Operand(test, 1));
  if (loop.direction == "GT" || loop.direction == "GE") {
    std::swap(loop.counter, loop.bound);
    loop.direction = loop.direction == "GT" ? "LT" : "LE";
  }
  loop.trips = loop.bound;
  if (loop.bound.base == Scalar::Base::kCarried && loop.bound.offset == 0) {
    loop.trips = tracer.Evaluate(tracer.Before(at, frame, loop.bound.index));
  }
  return loop;
}

// Nesting is bounded by Module::kMaxNesting; each computation is looked at once.
void Collect(Tracer& tracer, const Frame* frame, std::set<int64_t>& seen,
             std::vector<Loop>& loops) {
  for (const Instruction& at : frame->computation->instructions) {
    if (at.opcode == "while") {
      loops.push_back(ReadLoop(tracer, at, frame));
      continue;
    }
    for (int64_t callee : RunsInPlace(at)) {
      if (seen.insert(callee).second) {
        Collect(tracer, tracer.Enter(callee, &at, frame), seen, loops);
      }
    }
  }
}

}  // namespace

std::vector<Loop> OuterLoops(Tracer& tracer, const Frame* entry) {
  std::vector<Loop> loops;
  std::set<int64_t> seen;
  Collect(tracer, entry, seen, loops);
  return loops;
}

bool RunsParameterRounds(const Loop& loop) {
  return loop.trips.base == Scalar::Base::kParameter && loop.trips.index == 0;
}

Trips CheckTrips(Tracer& tracer, const Loop& loop) {
  using Base = Scalar::Base;
  Trips trips;
  const std::string& name = loop.instruction->name;
  const auto changed = [&](const std::string& how) {
    trips.problems.push_back("the trip count was changed: " + how);
  };
  if (loop.trips.base == Base::kConstant) {
    changed(fmt::format("{} compares its counter with the constant {}, not with parameter 0", name,
                        loop.trips.offset));
    return trips;
  }
  if (loop.counter.base != Base::kCarried || !RunsParameterRounds(loop)) {
    trips.problems.push_back(
        fmt::format("the condition of {} does not compare a counter with parameter 0", name));
    return trips;
  }
  if (loop.bound.base == Base::kCarried) {
    const Scalar kept =
        tracer.Evaluate(tracer.AfterRound(*loop.instruction, loop.frame, loop.bound.index));
    if (kept.base != Base::kCarried || kept.index != loop.bound.index || kept.offset != 0) {
      changed(fmt::format("the body of {} changes its own bound", name));
    }
  }
  const int64_t counter = loop.counter.index;
  const Scalar first = tracer.Evaluate(tracer.Before(*loop.instruction, loop.frame, counter));
  const Scalar next = tracer.Evaluate(tracer.AfterRound(*loop.instruction, loop.frame, counter));
  const bool from_zero = first.base == Base::kConstant && first.offset == 0;
  const bool exact = loop.direction == "LT" || loop.direction == "NE";
  if (!from_zero || !exact || loop.counter.offset != 0 || loop.trips.offset != 0) {
    changed(fmt::format("{} no longer counts from 0 to below parameter 0", name));
  }
  if (next.base != Base::kCarried || next.index != counter || next.offset < 1) {
    changed(fmt::format("the counter of {} does not count up", name));
    return trips;
  }
  trips.step = next.offset;
  return trips;
}

}  // namespace ridgeline::hlo
