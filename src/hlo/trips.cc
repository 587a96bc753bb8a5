#include "hlo/trips.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ridgeline::hlo {
namespace {

using Base = Scalar::Base;

// {"known_trip_count":{"n":"32"}, …}; blanks and quotes differ between writers.
std::optional<double> Known(const Instruction& loop) {
  constexpr std::string_view kKey = "known_trip_count";
  const std::string& config = loop.backend_config;
  const size_t key = config.find(kKey);
  if (key == std::string::npos) return std::nullopt;
  const size_t digits = config.find_first_of("0123456789}", key + kKey.size());
  if (digits == std::string::npos) return std::nullopt;
  int64_t count = 0;
  const auto [end, problem] =
      std::from_chars(config.data() + digits, config.data() + config.size(), count);
  if (problem != std::errc()) return std::nullopt;
  return static_cast<double>(count);
}

class TripCounter {
 public:
  TripCounter(Tracer& tracer, const Instruction& loop, const Frame* frame)
      : tracer_(tracer), loop_(loop), frame_(frame) {}

  TripCount Count() {
    const Frame* condition = tracer_.Enter(loop_.called[1], &loop_, frame_);
    const Value test = tracer_.Resolve({&condition->computation->Root(), condition, {}});
    return FromTest(test, 0);
  }

 private:
  static constexpr int kMaxAnds = 16;

  TripCount FromTest(const Value& test, int depth) {
    TripCount trips;
    const Instruction& at = *test.instruction;
    if (at.opcode == "compare" && at.operands.size() == 2) return FromCompare(test);
    trips.unknown = "its condition is no comparison of a counter with a constant";
    // Each part of a conjunction may end the loop.
    if ((at.opcode == "and") && at.operands.size() == 2 && depth < kMaxAnds) {
      for (size_t i = 0; i < 2; ++i) {
        const TripCount part = FromTest(tracer_.Resolve(tracer_.Operand(test, i)), depth + 1);
        const std::optional<double> bound = part.exact ? part.exact : part.at_most;
        if (bound) trips.at_most = std::min(*bound, trips.at_most.value_or(*bound));
      }
      trips.unknown = "its condition depends on data";
    }
    return trips;
  }

  TripCount FromCompare(const Value& test) {
    std::string direction = test.instruction->comparison_direction;
    Scalar left = tracer_.Evaluate(tracer_.Operand(test, 0));
    Scalar right = tracer_.Evaluate(tracer_.Operand(test, 1));
    const auto moves = [&](const Scalar& scalar) {
      return scalar.base == Base::kCarried && !Unchanged(scalar.index);
    };
    if (!moves(left) && moves(right)) {
      std::swap(left, right);
      direction = Mirrored(direction);
    }
    TripCount trips;
    if (!moves(left)) {
      trips.unknown = "no counter of its condition changes by a known step";
      return trips;
    }
    const std::optional<int64_t> bound = Constant(right);
    const std::optional<int64_t> first = Constant(tracer_.Before(loop_, frame_, left.index));
    const Scalar next = tracer_.Evaluate(tracer_.AfterRound(loop_, frame_, left.index));
    if (!bound || !first) {
      trips.unknown =
          bound ? "its counter starts at a value of the data" : "its bound is a value of the data";
      return trips;
    }
    if (next.base != Base::kCarried || next.index != left.index || next.offset == 0) {
      trips.unknown = "its counter does not change by a constant";
      return trips;
    }
    trips.exact = Rounds(direction, static_cast<double>(*first) + static_cast<double>(left.offset),
                         static_cast<double>(*bound), static_cast<double>(next.offset));
    if (!trips.exact) trips.unknown = "its counter never reaches the bound";
    return trips;
  }

  static std::string Mirrored(const std::string& direction) {
    if (direction == "LT") return "GT";
    if (direction == "LE") return "GE";
    if (direction == "GT") return "LT";
    if (direction == "GE") return "LE";
    return direction;
  }

  // Rounds while `first + i * step DIRECTION bound`.
  static std::optional<double> Rounds(const std::string& direction, double first, double bound,
                                      double step) {
    if (direction == "NE") {
      const double rounds = (bound - first) / step;
      if (rounds < 0 || rounds != std::floor(rounds)) return std::nullopt;
      return rounds;
    }
    if (direction == "EQ") return first == bound ? 1 : 0;
    const bool upward = direction == "LT" || direction == "LE";
    const double distance = upward ? bound - first : first - bound;
    const double stride = upward ? step : -step;
    const bool inclusive = direction == "LE" || direction == "GE";
    if (inclusive ? distance < 0 : distance <= 0) return 0;
    if (stride <= 0) return std::nullopt;
    return inclusive ? std::floor(distance / stride) + 1 : std::ceil(distance / stride);
  }

  bool Unchanged(int64_t element) {
    const Value after = tracer_.Resolve(tracer_.AfterRound(loop_, frame_, element));
    return after.instruction->opcode == "parameter" && after.path.size() == 1 &&
           after.path[0] == element &&
           after.frame == tracer_.Enter(loop_.called[0], &loop_, frame_);
  }

  std::optional<int64_t> Constant(const Scalar& scalar) {
    if (scalar.base == Base::kConstant) return scalar.offset;
    if (scalar.base != Base::kCarried) return std::nullopt;
    const std::optional<int64_t> before = Constant(tracer_.Before(loop_, frame_, scalar.index));
    if (!before) return std::nullopt;
    return static_cast<int64_t>(static_cast<uint64_t>(*before) +
                                static_cast<uint64_t>(scalar.offset));
  }

  // Through outer loops that carry the value unchanged.
  std::optional<int64_t> Constant(Value value) {
    uint64_t offset = 0;
    for (int level = 0; level < Module::kMaxNesting; ++level) {
      const Scalar scalar = tracer_.Evaluate(value);
      offset += static_cast<uint64_t>(scalar.offset);
      if (scalar.base == Base::kConstant) return static_cast<int64_t>(offset);
      if (scalar.base != Base::kCarried) return std::nullopt;
      const Frame* frame = tracer_.Resolve(value).frame;
      while (frame != nullptr && (frame->caller == nullptr || frame->caller->opcode != "while")) {
        frame = frame->outer;
      }
      if (frame == nullptr) return std::nullopt;
      const Instruction& outer = *frame->caller;
      TripCounter outer_counter(tracer_, outer, frame->outer);
      if (!outer_counter.Unchanged(scalar.index)) return std::nullopt;
      value = tracer_.Before(outer, frame->outer, scalar.index);
    }
    return std::nullopt;
  }

  Tracer& tracer_;
  const Instruction& loop_;
  const Frame* frame_;
};

}  // namespace

TripCount CountTrips(Tracer& tracer, const Instruction& loop, const Frame* frame) {
  TripCount trips;
  trips.exact = Known(loop);
  if (trips.exact) return trips;
  return TripCounter(tracer, loop, frame).Count();
}

}  // namespace ridgeline::hlo
