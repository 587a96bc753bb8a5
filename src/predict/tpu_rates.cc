// Operations of programs that libtpu made: its estimated cycles, bytes over bandwidth.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "predict/cycles.h"
#include "predict/op_rates.h"

namespace ridgeline::predict {
namespace {

// An estimate that far above the roofline of a product that long is one of those that are known to
// be wrong (products with a short contraction, ragged products).
constexpr double kDoubtful = 2.5;
constexpr double kDoubtfulSeconds = 20e-6;
// Least and most time of a kernel that states its work and no cycles, as a multiple of its roof.
constexpr double kKernelMost = 2;
// Instructions with arithmetic from which the compiler's estimate of a fused loop is usable.
constexpr int kFusedLoop = 2;

class TpuRates : public OpRates {
 public:
  explicit TpuRates(const Target& target)
      : OpRates(target.machine),
        compiler_(*target.compiler),
        least_(target.calibrated ? compiler_.cycles_least : 1),
        most_(target.calibrated ? compiler_.cycles_most : 1) {
    if (!target.calibrated) Note("calibration is off: products take their estimated cycles");
  }

  void PriceMatrix(const hlo::Instruction& at, const Inside& inside, OpTime& op) override {
    op.part = Part::kMatrix;
    const double peak = Peak(inside.matrix_type);
    const double compute = peak > 0 ? inside.matrix / peak : 0;
    const double roof = std::max(compute, op.hbm_bytes / bandwidth_);
    const std::optional<double> cycles = EstimatedCycles(at.backend_config);
    if (!cycles) {
      op.seconds = {roof, kKernelMost * std::max(compute, op.hbm_bytes / counted_on())};
      op.how = fmt::format("no estimated cycles: between its roof and {} times that", kKernelMost);
      Note(fmt::format("kernels without estimated cycles take between their roof and {} times that",
                       kKernelMost));
      return;
    }
    const double estimate = *cycles / compiler_.clock_hz;
    op.seconds = {std::max(compute, estimate * least_), estimate * most_};
    op.how = fmt::format("{:.4g} cycles at {}", *cycles, FormatRate(compiler_.clock_hz, "Hz"));
    if (roof > kDoubtfulSeconds && estimate > kDoubtful * roof) {
      op.seconds.lower = roof;
      op.how += fmt::format("; {:.2g} times its roof, which is doubtful", estimate / roof);
    }
    op.seconds.upper = std::max(op.seconds.upper, op.seconds.lower);
  }

  void PriceMemory(const hlo::Instruction& at, const Inside& inside, OpTime& op) override {
    op.part = Part::kMemory;
    op.seconds = {op.hbm_bytes / bandwidth_, op.hbm_bytes / counted_on()};
    op.how = fmt::format("{} at {}", FormatBytes(static_cast<int64_t>(op.hbm_bytes)),
                         FormatRate(bandwidth_, "B/s"));
    const std::optional<double> cycles = EstimatedCycles(at.backend_config);
    if (!cycles) return;
    const double estimate = *cycles / compiler_.clock_hz;
    if (op.hbm_bytes == 0) {
      op.seconds = {estimate * least_, estimate * most_};
      op.how = fmt::format("in VMEM: {:.4g} cycles at {}", *cycles,
                           FormatRate(compiler_.clock_hz, "Hz"));
    } else if (inside.arithmetic >= kFusedLoop && estimate > op.seconds.upper) {
      op.seconds.upper = estimate;
      op.how += fmt::format(", or {:.4g} cycles", *cycles);
    }
  }

  double LinkShare() const override { return compiler_.link_share; }

 private:
  // f32 products run as passes over bf16, at least one.
  double Peak(int type) const {
    const double peak = PeakOf(hlo::PrimitiveName(type));
    return peak > 0 ? peak : PeakOf("bf16");
  }
  double counted_on() const { return bandwidth_ * compiler_.hbm_share; }

  const TpuCompiler& compiler_;
  double least_, most_;  // time as a share of estimated cycles over the clock
};

}  // namespace

std::unique_ptr<OpRates> MakeTpuRates(const Target& target) {
  return std::make_unique<TpuRates>(target);
}

}  // namespace ridgeline::predict
