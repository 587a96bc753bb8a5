// What a spec gives for the very thing that a case measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/machine.h"
#include "core/measurement.h"

namespace ridgeline::model {

// The dtype whose peak a compute case is held against; "" when its products were allowed to run in
// another type, as f32 below precision `highest` are.
std::string PeakDType(const Measurement& m);

// The unit that does most of a case's flops.
ComputeUnit UnitOf(const Measurement& m);

// Bytes of the largest memory on the chip, one device's share; absent when the spec names none.
std::optional<double> LastCacheBytes(const Machine& spec);

// The spec's figure for one rate of a usable case, in the rate's unit and scope; absent when the
// spec has none for its dtype, axis or memory. hbm_bw counts only for memory cases past four times
// the last cache; algbw and one pair of a torus have no nominal rate; the bus bandwidth of a
// collective is that of its closed form without latency.
std::optional<double> NominalRate(const Measurement& m, std::string_view rate, const Machine& spec);

// A share of the spec that no clock and no counting convention explains (reports.md A5).
inline constexpr double kImpossibleShare = 3;

// What to say of a measured figure that is `share` of the spec, in words; "" up to the spec.
std::string AboveSpecRemark(double share, Component component);

}  // namespace ridgeline::model
