#include "predict/op_rates.h"

#include <algorithm>

namespace ridgeline::predict {

OpRates::OpRates(const Machine& machine) : machine_(machine) {
  const MemoryLevel* hbm = machine.Level("hbm");
  if (hbm == nullptr || !hbm->bytes_per_s.contains(Pattern::kSequential)) return;
  bandwidth_ = machine.PerDevice(hbm->bytes_per_s.at(Pattern::kSequential));
}

Interval OpRates::WireLatency(const std::string&, int64_t, int64_t) const { return {}; }

bool OpRates::IsAsynchronous(const hlo::Instruction& collective) const {
  return collective.opcode.ends_with("-start");
}

void OpRates::Note(std::string text) {
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

double OpRates::PeakOf(std::string_view type) const {
  const Figure* peak = machine_.Peak(ComputeUnit::kMatrix, type);
  return peak == nullptr ? 0 : machine_.PerDevice(*peak);
}

}  // namespace ridgeline::predict
