#include <fmt/format.h>

#include "model/oracles.h"
#include "model/predict.h"
#include "model/roofline.h"

namespace ridgeline::model {
namespace {

// The machines of the examples: round figures of the scaling book, not those of data/specs.
struct Chip {
  double bf16, int8, hbm, link;
};
constexpr Chip kV5e = {1.97e14, 3.94e14, 8.1e11, 4.5e10};
constexpr Chip kV5p = {4.59e14, 9.18e14, 2.765e12, 9e10};
constexpr Chip kV6e = {9.2e14, 1.84e15, 1.64e12, 9e10};
constexpr Chip kH100 = {9.9e14, 1.98e15, 3.35e12, 4.5e11};
constexpr Chip kH200 = {9.9e14, 1.98e15, 4.8e12, 4.5e11};
constexpr Chip kB200 = {2.25e15, 4.5e15, 8e12, 9e11};
constexpr double kNode = 4e11;  // B/s of one GPU node

NetworkAxis Axis(std::string name, double link, bool wrap) {
  NetworkAxis axis;
  axis.name = std::move(name);
  axis.wrap = wrap;
  axis.link_bytes_per_s = Figure{.value = link};
  return axis;
}

// One axis with wrap, as the network intensity of one axis takes it.
double AxisRidge(const Chip& chip) {
  const Machine machine;
  return Ridge(chip.bf16, machine.Egress(Axis("x", chip.link, true)).value());
}

Outputs Ridges(const Json&) {
  return {{"v5e.bf16/hbm", Ridge(kV5e.bf16, kV5e.hbm)},
          {"v5e.int8/hbm", Ridge(kV5e.int8, kV5e.hbm)},
          {"v5p.bf16/hbm", Ridge(kV5p.bf16, kV5p.hbm)},
          {"v6e.bf16/hbm", Ridge(kV6e.bf16, kV6e.hbm)},
          {"h100.bf16/hbm", Ridge(kH100.bf16, kH100.hbm)},
          {"h200.bf16/hbm", Ridge(kH200.bf16, kH200.hbm)},
          {"b200.bf16/hbm", Ridge(kB200.bf16, kB200.hbm)},
          {"v5e.bf16/ici_1axis", AxisRidge(kV5e)},
          {"v5p.bf16/ici_1axis", AxisRidge(kV5p)},
          {"v6e.bf16/ici_1axis", AxisRidge(kV6e)},
          {"h100.bf16/nvlink", Ridge(kH100.bf16, kH100.link)},
          {"h100.bf16/ib_node", Ridge(kH100.bf16, kNode)},
          {"b200.bf16/ib_node", Ridge(kB200.bf16, kNode)},
          {"h100.fp8/hbm(book 3.35e12)", Ridge(kH100.int8, kH100.hbm)}};
}

Outputs CriticalBatches(const Json&) {
  constexpr double kBookHbm = 8.2e11;
  return {{"int8_ridge", Ridge(kV5e.int8, kV5e.hbm)},
          {"Bcrit_int8_int8", CriticalBatch(kV5e.int8, kV5e.hbm, 1)},
          {"Bcrit_bf16_bf16", CriticalBatch(kV5e.bf16, kBookHbm, 2)},
          {"Bcrit_int8w_bf16flops", CriticalBatch(kV5e.bf16, kBookHbm, 1)},
          {"Bcrit_h100", CriticalBatch(1e15, kH100.hbm, 2)},
          {"D_two_chip", TwoChipContraction(kV5e.bf16, kV5e.link)},
          {"dot_intensity_N1e6", DotIntensity(1e6)},
          {"pcie_Bcrit_v6e", CriticalBatch(kV6e.bf16, 1.5e10, 2)},
          {"moe_int8w_E256k8", 120.0 * 256 / 8}};
}

Outputs ExactBatches(const Json& in) {
  const double d = in["D"];
  const double f = in["F"];
  const double peak = in["P"];
  const double hbm = in["W"];
  const double weight = in["bytes_w"];
  const double activation = in["bytes_a"];
  constexpr double kVmemOverHbm = 22;
  // The book rounds D·F to 6.7e7, 2·D·F to 1.3e8 and D + F to 2e4.
  return {{"B_exact_hbm", ExactCriticalBatch(d, f, peak, hbm, weight, activation)},
          {"B_exact_vmem", ExactCriticalBatch(d, f, peak, kVmemOverHbm * hbm, weight, activation)},
          {"B_simple", CriticalBatch(peak, hbm, weight)},
          {"B_book_rounded", (6.7e7 / hbm) / (1.3e8 / peak - 2e4 / hbm)}};
}

// A decode product of LLaMA-3-70B with its weights split over Y chips.
Outputs ThreeRoofs(const Json& in) {
  const double b = in["B"];
  const double d = in["D"];
  const double f = in["F"];
  const double y = in["Y"];
  Machine machine;
  machine.peaks[ComputeUnit::kMatrix]["bf16"] = Figure{.value = kV5e.bf16};
  machine.memory.push_back({.name = "hbm"});
  machine.memory[0].bytes_per_s[Pattern::kSequential] = Figure{.value = kV5e.hbm};
  machine.axes = {Axis("y", in["W_ici"].get<double>() / 2, true)};
  Work work;
  work.matrix_flops[DType::kBF16] = 2 * b * d * f / y;
  work.hbm_bytes = 2 * d * f / y;
  work.wire_bytes = 2 * b * d;
  const Prediction p = Predict(work, machine);
  const Confirmed confirmed = Confirm(p.bound.lower_s, p.bound.upper_s, 24e-6);
  return {{"t_compute_us", p.compute_s * 1e6},
          {"t_hbm_us", p.memory_s * 1e6},
          {"t_net_us", p.network_s * 1e6},
          {"bound", p.bound.label == "memory" ? "hbm" : p.bound.label},
          {"margin", p.bound.margin},
          {"t_lower_us", p.bound.lower_s * 1e6},
          {"t_upper_us", p.bound.upper_s * 1e6},
          {"confidence", p.bound.confidence},
          {"omega_if_measured_24us", confirmed.omega},
          {"efficiency", confirmed.efficiency},
          {"I_hbm", p.hbm_intensity},
          {"I_net", p.network_intensity}};
}

Bound TwoRoofs(double compute, double hbm, double sd, double balance) {
  const std::vector<RoofTime> roofs = {{"compute", compute, sd}, {"hbm", hbm, sd}};
  return Classify(roofs, balance);
}

Outputs Labels(const Json& in) {
  const double x = in["x"];
  const Bound a = TwoRoofs(10.0, 9.4, 0.05, x);
  const Bound b = TwoRoofs(10.0, 6.0, 0.05, x);
  const Bound c = TwoRoofs(10.0, 9.4, 0.02, x);
  return {{"case_a_margin", a.margin}, {"case_a_label", a.label},    {"case_a_conf", a.confidence},
          {"case_b_margin", b.margin}, {"case_b_label", b.label},    {"case_b_conf", b.confidence},
          {"case_c_label", c.label},   {"case_c_conf", c.confidence}};
}

Outputs Pipelines(const Json& in) {
  Outputs out;
  for (const int chunks : {1, 2, 4, 8, 16}) {
    out[fmt::format("T_S{}", chunks)] = PipelinedTime(in["max"], in["sum"], chunks);
  }
  return out;
}

Outputs Patterns(const Json& in) {
  const double e = in["elem"];
  const double g = in["granule"];
  return {{"stride1", StridedEfficiency(e, e, g)},
          {"stride2", StridedEfficiency(e, 2 * e, g)},
          {"stride8", StridedEfficiency(e, 8 * e, g)},
          {"stride32", StridedEfficiency(e, 32 * e, g)},
          {"gather4B", GatherEfficiency(e, g)},
          {"gather256B_aligned", GatherEfficiency(256, g)},
          {"gather256B_off16", GatherEfficiency(256, g, 16)},
          {"gather64B_granule64", GatherEfficiency(64, 64)},
          {"eff_bw_stride2_h100", kH100.hbm * StridedEfficiency(e, 2 * e, g)},
          {"eff_bw_gather4_h100", kH100.hbm * GatherEfficiency(e, g)},
          // A row of bf16 shares its 32-bit words with the next one: two rows move for one.
          {"tpu_bf16_row_gather_T8x128_2x1", GatherEfficiency(128 * 2, 2 * 128 * 2)},
          {"onchip_vmem_roof_v5e", 22 * kV5e.hbm}};
}

Outputs Ramps(const Json& in) {
  const double start = in["t0"];
  const double rate = in["W"];
  Outputs out;
  for (const int kib : {64, 1024, 16384, 262144}) {
    out[fmt::format("bw_GBs_{}KiB", kib)] = RampBandwidth(kib * 1024.0, start, rate) / 1e9;
  }
  out["half_saturation_bytes"] = LatencyBandwidthProduct(start, rate);
  out["bytes_in_flight_600ns_h100"] = LatencyBandwidthProduct(600e-9, kH100.hbm);
  return out;
}

double SecondsOf(double amount, double rate) {
  Machine machine;
  machine.memory.push_back({.name = "hbm"});
  machine.memory[0].bytes_per_s[Pattern::kSequential] = Figure{.value = rate};
  Work work;
  work.hbm_bytes = amount;
  return Predict(work, machine).memory_s;
}

Outputs SingleChip(const Json&) {
  const auto product_bytes = [](double b) {
    return 2 * b * 4096 + 2.0 * 4096 * 8192 + 2 * b * 8192;
  };
  Machine b200;
  b200.peaks[ComputeUnit::kMatrix]["bf16"] = Figure{.value = 2.3e15};
  Work product;
  product.matrix_flops[DType::kBF16] = 2.0 * 512 * 4096 * 8192;
  return {{"add_1Gi_ms", SecondsOf(12 * 0x1p30, kH100.hbm) * 1e3},
          {"add_65536_us", SecondsOf(12 * 65536, kH100.hbm) * 1e6},
          {"b200_mm_B64_us", SecondsOf(product_bytes(64), kB200.hbm) * 1e6},
          {"b200_mm_B512_us", Predict(product, b200).compute_s * 1e6},
          // 132 SMs of 4 partitions of 32 lanes.
          {"vec_flops_h100", 132 * 4 * 32 * 1.59e9},
          {"load_200B_32xv4_ms", SecondsOf(400e9 / 32, 1.23e12) * 1e3}};
}

Outputs HostRoof(const Json& in) {
  const double compute = in["compute_ms"].get<double>() * 1e-3;
  const double hbm = in["hbm_ms"].get<double>() * 1e-3;
  const double net = in["net_ms"].get<double>() * 1e-3;
  Machine machine;
  machine.launch_s = Figure{.value = 5e-6};
  machine.host_to_device = Figure{.value = 1.6e10};
  Work work;
  work.launches = in["launches"];
  const double host = Predict(work, machine).host_s;
  machine.launch_s->value = 0.5e-6;
  const double captured = Predict(work, machine).host_s;
  Work input;
  input.host_bytes = 8192 * 4;
  const auto classify = [&](double host_s) {
    return Classify(
        std::vector<RoofTime>{{"compute", compute}, {"hbm", hbm}, {"net", net}, {"host", host_s}});
  };
  const Bound before = classify(host);
  return {{"launch_host_ms", host * 1e3},
          {"bound", before.label},
          {"margin", before.margin},
          {"t_lower_ms", before.lower_s * 1e3},
          {"after_graph_capture_host_ms", captured * 1e3},
          {"speedup_after", before.lower_s / classify(captured).lower_s},
          {"input_bytes_us", Predict(input, machine).host_s * 1e6}};
}

// Two collectives along one axis add up; along two they run side by side. Microseconds.
Outputs TwoCollectives(const Json&) {
  Machine machine;
  machine.peaks[ComputeUnit::kMatrix]["bf16"] = Figure{.value = 1};
  machine.axes = {Axis("x", 1, false), Axis("y", 1, false)};
  Work work;
  work.matrix_flops[DType::kBF16] = 1754.48;
  work.wire = {{"x", "all_gather", 0, 745.654, 1}, {"y", "all_reduce", 0, 546.133, 1}};
  work.wire_bytes = 745.654 + 546.133;
  const Prediction apart = Predict(work, machine);
  work.wire[1].axis = work.wire[0].axis;
  const Prediction together = Predict(work, machine);
  return {{"same_axis_us", together.network_s},
          {"different_axes_us", apart.network_s},
          {"lower_us", apart.bound.lower_s},
          {"upper_us", apart.bound.upper_s},
          {"est_omega08_us", OverlappedTime(apart.bound.lower_s, apart.bound.upper_s, 0.8)}};
}

}  // namespace

Oracles RooflineOracles() {
  return {{"1.1", Ridges},     {"1.2", CriticalBatches}, {"1.3", ExactBatches},
          {"1.4", ThreeRoofs}, {"1.5", Labels},          {"1.6", Pipelines},
          {"1.7", Patterns},   {"1.8", Ramps},           {"1.9", SingleChip},
          {"1.10", HostRoof},  {"1.11", TwoCollectives}};
}

}  // namespace ridgeline::model
