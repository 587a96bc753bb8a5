// Operations of programs that XLA made for a GPU: our own roofs, since its compiler leaves no time
// that holds. Products: FLOP over the share of the peak that published ones reach, and at the upper
// end what is lost when tiles do not fill all multiprocessors. Others: bytes over bandwidth.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "model/collectives.h"
#include "predict/op_rates.h"

namespace ridgeline::predict {
namespace {

// Rows and columns of the result that one multiprocessor works on in large products (cuBLAS and
// XLA's Triton kernels alike); small ones take smaller tiles, so this is an upper end.
constexpr double kTile = 128;
// A kernel besides its work: from one's end to the next one's begin, its first loads and its last
// stores. XLA's own cost model counts 1 us; published products of 1024^3, of 2 to 4 us of work,
// take 5 to 12 us.
constexpr Interval kKernel{1e-6, 6e-6};
// Least and most of an unknown kernel's time, as a multiple of its roof.
constexpr double kKernelMost = 2;

// Types that run at another one's rate, in the order to look for.
std::string_view RateOf(std::string_view type, bool high_precision) {
  if (type == "f32") return high_precision ? "f32" : "tf32";
  if (type.starts_with("f8")) return "f8";
  if (type == "u8" || type == "s4" || type == "u4") return "s8";
  return type;
}

// Result elements along its last dimension, and all others together.
std::pair<double, double> RowsAndColumns(const hlo::Shape& shape) {
  const hlo::Shape& out = shape.is_tuple() && !shape.tuple.empty() ? shape.tuple.front() : shape;
  const double columns = out.dims.empty() ? 1 : std::max(1., static_cast<double>(out.dims.back()));
  return {std::max(1., out.elements() / columns), columns};
}

class GpuRates : public OpRates {
 public:
  explicit GpuRates(const Target& target) : OpRates(target.machine), gpu_(*target.gpu) {}

  void PriceMatrix(const hlo::Instruction&, const Inside& inside, OpTime& op) override {
    op.part = Part::kMatrix;
    const std::string type = hlo::PrimitiveName(inside.matrix_type);
    const bool high = inside.product != nullptr && inside.product->high_precision;
    const double peak = Peak(type, high);
    const double memory = op.hbm_bytes / bandwidth_;
    if (peak == 0) {
      op.seconds = {memory + kKernel.lower, kKernelMost * memory + kKernel.upper};
      op.how = fmt::format("no rate of {} products in the spec: bytes alone", type);
      Note(
          fmt::format("the spec has no rate of {} products: they are priced by bytes alone", type));
      return;
    }
    const double compute = inside.matrix / peak;
    const double busy = Busy(inside);
    op.seconds = {
        std::max(compute / gpu_.matrix_most, memory) + kKernel.lower,
        std::max(compute / gpu_.matrix_least / busy, op.hbm_bytes / counted_on()) + kKernel.upper};
    op.how = fmt::format(
        "{:.4g} GFLOP at {} to {} of {}{}{}", inside.matrix / 1e9,
        FormatShare(gpu_.matrix_least * busy), FormatShare(gpu_.matrix_most),
        FormatRate(peak, "FLOP/s"),
        busy < 1 ? fmt::format(", tiles fill {} of the multiprocessors", FormatShare(busy)) : "",
        memory > compute / gpu_.matrix_most ? "; bound by memory" : "");
  }

  void PriceMemory(const hlo::Instruction&, const Inside&, OpTime& op) override {
    op.part = Part::kMemory;
    op.seconds = {op.hbm_bytes / bandwidth_ + kKernel.lower,
                  op.hbm_bytes / counted_on() + kKernel.upper};
    op.how =
        fmt::format("{} at {} to {} of {}", FormatBytes(static_cast<int64_t>(op.hbm_bytes)),
                    FormatShare(gpu_.hbm.value), FormatShare(1.), FormatRate(bandwidth_, "B/s"));
  }

  double LinkShare() const override { return gpu_.link.value; }

  // NCCL's tuner: the fastest of its forms at best, a ring of its Simple protocol at worst. What is
  // half an all-reduce takes half of its steps.
  Interval WireLatency(const std::string& collective, int64_t ranks, int64_t hosts) const override {
    using model::NcclAlgorithm;
    using model::NcclProtocol;
    if (ranks < 2) return {};
    const double share = collective == "all_reduce" ? 1 : 0.5;
    const auto latency = [&](NcclAlgorithm algorithm, NcclProtocol protocol) {
      return share * model::NcclAllReduceLatency(algorithm, protocol, ranks, hosts);
    };
    return {std::min(latency(NcclAlgorithm::kRing, NcclProtocol::kLL),
                     latency(NcclAlgorithm::kTree, NcclProtocol::kLL)),
            latency(NcclAlgorithm::kRing, NcclProtocol::kSimple)};
  }

  bool IsAsynchronous(const hlo::Instruction& collective) const override {
    return collective.opcode.ends_with("-start") &&
           collective.backend_config.find("\"is_sync\":true") == std::string::npos;
  }

 private:
  double counted_on() const { return bandwidth_ * gpu_.hbm.value; }

  double Peak(const std::string& type, bool high_precision) const {
    const double peak = PeakOf(RateOf(type, high_precision));
    if (peak > 0) return peak;
    // Before tf32, and types that the units do not know: f32 in the lanes, else in bf16 or f16.
    for (const std::string_view other : {"f32", "bf16", "f16"}) {
      if (type != "f32" && other == "f32") continue;
      if (const double rate = PeakOf(other); rate > 0) return rate;
    }
    return 0;
  }

  // Share of the multiprocessors that have a tile, over all rounds of tiles.
  double Busy(const Inside& inside) const {
    if (inside.product == nullptr) return 1;
    const auto [rows, columns] = RowsAndColumns(inside.product->shape);
    const double tiles = std::ceil(rows / kTile) * std::ceil(columns / kTile);
    const double useful = rows * columns / (kTile * kTile);
    const auto at_once = static_cast<double>(gpu_.multiprocessors);
    // One result tile may be worked on by several, along the contracted dimension.
    return std::max(useful / (std::ceil(tiles / at_once) * at_once), 1 / at_once);
  }

  const GpuCompiler& gpu_;
};

}  // namespace

std::unique_ptr<OpRates> MakeGpuRates(const Target& target) {
  return std::make_unique<GpuRates>(target);
}

}  // namespace ridgeline::predict
