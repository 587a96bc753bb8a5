#include "hlo/multiplicity.h"

#include <deque>

namespace ridgeline::hlo {
namespace {

// Places from which one computation is called that are tried for a loop whose bound its caller
// gives; where they differ, or beyond these, its rounds are unknown.
constexpr size_t kMaxPlaces = 64;

struct Place {
  const Instruction* caller;
  const Frame* frame;  // of the caller
};

bool SameCount(const TripCount& a, const TripCount& b) {
  return a.exact == b.exact && a.exact.has_value();
}

TripCount FromPlaces(Tracer& tracer, const Instruction& loop, const Computation& computation,
                     const std::vector<Place>& places) {
  // On its own first: most loops bring their bounds with them.
  const Frame* alone = tracer.Enter(computation.id, nullptr, nullptr);
  TripCount count = CountTrips(tracer, loop, alone);
  if (count.exact || places.size() > kMaxPlaces) return count;
  std::optional<TripCount> agreed;
  for (const Place& place : places) {
    const Frame* frame = tracer.Enter(computation.id, place.caller, place.frame);
    const TripCount here = CountTrips(tracer, loop, frame);
    if (!here.exact) return agreed ? count : here;
    if (agreed && !SameCount(*agreed, here)) {
      count.unknown = "its rounds differ between the places that call it";
      return count;
    }
    agreed = here;
  }
  return agreed.value_or(count);
}

}  // namespace

std::vector<const Computation*> CallersFirst(const Module& module) {
  std::unordered_map<int64_t, int64_t> callers;
  std::vector<const Computation*> reached = {&module.Entry()};
  callers[module.entry] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Instruction& at : reached[i]->instructions) {
      for (const int64_t callee : RunsInPlace(at)) {
        if (callers[callee]++ == 0) reached.push_back(&module.Get(callee));
      }
    }
  }
  std::vector<const Computation*> order;
  std::deque<const Computation*> ready = {&module.Entry()};
  while (!ready.empty()) {
    const Computation* at = ready.front();
    ready.pop_front();
    order.push_back(at);
    for (const Instruction& instruction : at->instructions) {
      for (const int64_t callee : RunsInPlace(instruction)) {
        if (--callers[callee] == 0) ready.push_back(&module.Get(callee));
      }
    }
  }
  return order;
}

TripCounts::TripCounts(const Module& module, const std::vector<const Computation*>& order,
                       std::optional<double> unknown)
    : unknown_(unknown) {
  Tracer tracer(module);
  std::unordered_map<int64_t, std::vector<Place>> places;
  for (const Computation* computation : order) {
    const std::vector<Place>& here = places[computation->id];
    // What is called stands in the frame of the first place that calls it.
    const Frame* frame = here.empty()
                             ? tracer.Enter(computation->id, nullptr, nullptr)
                             : tracer.Enter(computation->id, here[0].caller, here[0].frame);
    for (const Instruction& at : computation->instructions) {
      if (at.opcode == "while") {
        counts_[&at] = here.empty() ? CountTrips(tracer, at, frame)
                                    : FromPlaces(tracer, at, *computation, here);
      }
      for (const int64_t callee : RunsInPlace(at)) {
        std::vector<Place>& known = places[callee];
        if (known.size() <= kMaxPlaces) known.push_back({&at, frame});
      }
    }
  }
}

double TripCounts::Rounds(const Instruction& loop) const {
  return Of(loop).exact.value_or(unknown_.value_or(1));
}

}  // namespace ridgeline::hlo
