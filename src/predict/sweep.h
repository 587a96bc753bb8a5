// The same program under different flags of its compiler.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "predict/prediction.h"

namespace ridgeline::predict {

using Flags = std::map<std::string, device::OptionValue>;

// "xla_tpu_scoped_vmem_limit_kib=65536" each, with or without dashes before it. Errors name the
// text.
Result<Flags> ParseFlags(std::span<const std::string> texts);

// "xla_tpu_scoped_vmem_limit_kib=16384,65536" each: every combination of their values, added to
// `base`; `base` alone is the first. Errors name the text, and refuse more than 64.
Result<std::vector<Flags>> FlagSweep(const Flags& base, std::span<const std::string> texts);

// "xla_a=1 xla_b=true"; "" without any.
std::string ToString(const Flags& flags);

// Share by which the middle of the time differs from that of `base`; nullopt unless both have one.
std::optional<double> Change(const TargetPrediction& one, const TargetPrediction& base);

// One row a prediction, against the first of the same target.
std::string SweepReport(std::span<const TargetPrediction> predictions,
                        const ReportOptions& options);

}  // namespace ridgeline::predict
