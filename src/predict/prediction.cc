#include "predict/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "hlo/reader.h"
#include "spec/shape.h"
#include "verdict/limit.h"

namespace ridgeline::predict {
namespace {

constexpr double kSecondsPerHour = 3600;
// Share of a GPU's memory that JAX allocates at its start.
constexpr double kPreallocated = 0.75;

// What a program can have of a device's memory: what the runtime finds where that is known.
std::optional<double> CapacityOf(const Target& target) {
  if (target.gpu != nullptr) {
    for (const spec::SpecLevel& level : target.spec.memory) {
      if (level.name == "hbm" && level.runtime_bytes) return level.runtime_bytes->figure.value;
    }
  }
  const Machine& machine = target.machine;
  const MemoryLevel* hbm = machine.Level("hbm");
  if (hbm == nullptr || !hbm->capacity_bytes) return std::nullopt;
  return machine.PerDevice(*hbm->capacity_bytes);
}

// Time that the products would take at the peak of their types; nullopt when one has none.
std::optional<double> AtPeak(const std::map<std::string, double>& flops, const Machine& machine) {
  double seconds = 0;
  for (const auto& [type, count] : flops) {
    const Figure* peak = machine.Peak(ComputeUnit::kMatrix, type);
    if (peak == nullptr) peak = machine.Peak(ComputeUnit::kMatrix, "bf16");
    if (peak == nullptr) return std::nullopt;
    seconds += count / machine.PerDevice(*peak);
  }
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

void AddMoney(const Target& target, TargetPrediction& out) {
  const Interval& seconds = out.step->seconds;
  if (!(seconds.lower > 0)) return;
  if (const auto at_peak = AtPeak(out.step->matrix_flops, target.machine)) {
    out.mfu = {*at_peak / seconds.upper, *at_peak / seconds.lower};
  }
  out.cost = CostOf(seconds, target);
}

// What the times of a compiled program rest on.
std::vector<std::string> BasisOf(const TpuCompiler& compiler, bool calibrated) {
  return {
      fmt::format("clock of the estimated cycles: {} ({})", FormatRate(compiler.clock_hz, "Hz"),
                  compiler.clock_source),
      calibrated ? fmt::format("products: {} .. {} of cycles over clock ({})",
                               compiler.cycles_least, compiler.cycles_most, compiler.cycles_basis)
                 : "products: cycles over clock, not calibrated",
      fmt::format("memory: {} of the nominal bandwidth to all of it ({})",
                  FormatShare(compiler.hbm_share), compiler.hbm_basis),
      fmt::format("collectives: closed forms at {} of the nominal link rate to all of it ({}); the "
                  "compiler leaves no time for them",
                  FormatShare(compiler.link_share), compiler.link_basis)};
}

std::vector<std::string> BasisOf(const GpuCompiler& gpu) {
  return {
      fmt::format(
          "the compiler was told of compute capability {}, {} multiprocessors at {} ({}; {})",
          gpu.generation.capability, gpu.multiprocessors, FormatRate(gpu.clock_hz, "Hz"),
          gpu.source, gpu.generation.source),
      fmt::format("products: {} to {} of the peak ({}), less where tiles do not fill the GPU",
                  FormatShare(gpu.matrix_least), FormatShare(gpu.matrix_most), gpu.matrix_basis),
      fmt::format("memory: {} of the nominal bandwidth to all of it ({})",
                  FormatShare(gpu.hbm.value), gpu.hbm.basis),
      fmt::format("collectives: closed forms at {} of the nominal link rate to all of it ({}), and "
                  "the latency of NCCL's tuner",
                  FormatShare(gpu.link.value), gpu.link.basis),
      "the compiler's own estimates of time are not used: it has none that hold for GPUs"};
}

// XLA compiles for a GPU whatever the memory is: it is compared here.
void CheckGpuMemory(const pjrt::AotProgram& program, TargetPrediction& out) {
  if (!program.stopped.empty()) {
    out.notes.push_back(
        "compiled up to the optimised program; this machine has no assembler for GPU code (ptxas), "
        "so that its last step was not tried");
  }
  if (!out.peak_memory_bytes || !out.capacity_bytes) {
    out.fits = std::nullopt;
    return;
  }
  out.fits = *out.peak_memory_bytes <= *out.capacity_bytes;
  const auto text = [](double bytes) { return FormatBytes(static_cast<int64_t>(bytes)); };
  if (!*out.fits) {
    out.status = PredictionStatus::kDoesNotFit;
    out.reason = fmt::format("needs {} of {} on each device (our own check: the compiler has none)",
                             text(*out.peak_memory_bytes), text(*out.capacity_bytes));
  } else if (*out.peak_memory_bytes > kPreallocated * *out.capacity_bytes) {
    out.notes.push_back(fmt::format(
        "JAX takes {} of a GPU's memory unless XLA_PYTHON_CLIENT_MEM_FRACTION says more: this "
        "program needs {}",
        FormatShare(kPreallocated), FormatShare(*out.peak_memory_bytes / *out.capacity_bytes)));
  }
}

std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return Printable(text);
}

TargetPrediction Refused(const Error& error, TargetPrediction out) {
  out.reason = error.message;
  if (IsCrash(error)) {
    out.status = PredictionStatus::kFailed;
    out.reason = error.ToString();
  } else if (error.code == Code::kResourceExhausted) {
    out.status = PredictionStatus::kDoesNotFit;
    out.fits = false;
    const MemoryWords words = ReadMemoryWords(error.message);
    out.peak_memory_bytes = words.needed;
    if (words.available) out.capacity_bytes = words.available;
  } else {
    out.status = PredictionStatus::kRefused;
  }
  return out;
}

PredictionStatus StatusOf(const TargetPrediction& out) {
  return out.fits == false ? PredictionStatus::kDoesNotFit : PredictionStatus::kPredicted;
}

OpTime OpOf(const verdict::OperationLimit& limit) {
  const model::Bound& bound = limit.prediction.bound;
  OpTime op{.name = limit.name};
  op.part = bound.first == "compute"   ? Part::kMatrix
            : bound.first == "network" ? Part::kWire
            : bound.first == "host"    ? Part::kHost
                                       : Part::kMemory;
  op.executions = limit.count;
  op.seconds = {bound.lower_s, bound.upper_s};
  op.flops = limit.work.total_matrix_flops();
  op.hbm_bytes = limit.work.hbm_bytes;
  op.how = bound.label + " roof";
  return op;
}

StepTime StepOf(const verdict::Limit& limit) {
  StepTime step;
  const model::Prediction& p = limit.prediction;
  step.bound = p.bound;
  step.seconds = {p.bound.lower_s, p.bound.upper_s};
  // Fused or not: both ends of the traffic.
  const double most_memory = std::max(p.memory_s, limit.most_memory_s.value_or(0));
  step.seconds.upper += most_memory - p.memory_s;
  step.parts[Part::kMatrix] = {p.compute_s, p.compute_s};
  step.parts[Part::kMemory] = {p.memory_s, most_memory};
  step.parts[Part::kWire] = {p.network_s, p.network_s};
  step.parts[Part::kHost] = {p.host_s, p.host_s};
  for (const auto& [dtype, flops] : limit.work.matrix_flops) {
    step.matrix_flops[std::string(Name(dtype))] += flops;
  }
  step.hbm_bytes = limit.work.hbm_bytes;
  for (const model::Term& term : p.terms) {
    if (term.roof != model::Roof::kNetwork) continue;
    const size_t blank = term.what.rfind(' ');
    step.wire.push_back({.axes = term.lane,
                         .collective = blank == term.what.npos ? "" : term.what.substr(blank + 1),
                         .wire_bytes = term.amount,
                         .seconds = term.seconds});
  }
  for (const verdict::OperationLimit& one : limit.operations) step.ops.push_back(OpOf(one));
  return step;
}

}  // namespace

std::string_view Name(PredictionStatus status) {
  static constexpr std::string_view kNames[] = {"predicted", "does not fit", "refused", "failed"};
  return kNames[static_cast<size_t>(status)];
}

std::optional<StepCost> CostOf(const Interval& seconds, const Target& target) {
  const std::optional<Price>& price = target.machine.price;
  if (!price) return std::nullopt;
  const int64_t chips = target.chips();
  double units = static_cast<double>(chips);
  if (price->per == "device-hour") units *= target.spec.devices_per_chip;
  if (price->per == "vm-hour") units /= static_cast<double>(target.spec.chips_per_host.value_or(1));
  const double per_second = price->value * units / kSecondsPerHour;
  return StepCost{
      {seconds.lower * per_second, seconds.upper * per_second},
      price->currency,
      fmt::format("{} {} a {}, {} chip{}, {} ({})", FormatNumber(price->value), price->currency,
                  price->per, chips, chips == 1 ? "" : "s", price->source, price->as_of)};
}

MemoryWords ReadMemoryWords(std::string_view message) {
  MemoryWords words;
  for (size_t open = message.find('('); open != message.npos; open = message.find('(', open + 1)) {
    double value = 0;
    const char* const end = message.data() + message.size();
    const auto [unit, error] = std::from_chars(message.data() + open + 1, end, value);
    if (error != std::errc() || end - unit < 2 || unit[1] != ')') continue;
    const size_t power = std::string_view("BKMGT").find(*unit);
    if (power == std::string_view::npos) continue;
    for (size_t i = 0; i < power; ++i) value *= 1024;
    if (!words.needed) {
      words.needed = value;
    } else if (!words.available) {
      words.available = value;
    }
  }
  return words;
}

Result<TargetPrediction> PredictProgram(const Program& program, const Target& target,
                                        const std::string& plugin_path, const CompileLimits& limits,
                                        CompileCache* cache) {
  const pjrt::TopologyRequest topology = TopologyOf(target, plugin_path);
  RL_ASSIGN(const std::vector<DevicePlace> places, ListPlaces(topology));
  RL_ASSIGN(const Mesh mesh, MeshOf(target, places));
  if (program.partitions > mesh.size()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("the program wants {} devices; {} has {}", program.partitions,
                            target.name, mesh.size()),
                "", "name a larger slice");
  }
  TargetPrediction out;
  out.target = target.name;
  out.compiled = true;
  out.flags = program.flags;
  out.capacity_bytes = CapacityOf(target);
  const std::vector<int> devices(mesh.order.begin(), mesh.order.begin() + program.partitions);
  const Result<pjrt::AotProgram> compiled = CompileInChild(topology,
                                                           {.program = program.module,
                                                            .partitions = program.partitions,
                                                            .devices = devices,
                                                            .xla_options = program.flags,
                                                            .shardy = program.shardy},
                                                           limits, cache);
  if (!compiled) return Refused(compiled.error(), std::move(out));
  out.compiler = OneLine(compiled->compiler);
  out.basis =
      target.gpu != nullptr ? BasisOf(*target.gpu) : BasisOf(*target.compiler, target.calibrated);
  out.fits = true;  // the compiler refuses what does not
  out.memory = compiled->memory;
  if (compiled->memory && compiled->memory->peak > 0) {
    out.peak_memory_bytes = static_cast<double>(compiled->memory->peak);
  }
  if (target.gpu != nullptr) CheckGpuMemory(*compiled, out);
  const Result<hlo::Module> module = hlo::ReadModule(compiled->text.bytes);
  if (!module) {
    out.status = PredictionStatus::kFailed;
    out.reason = "the compiled program cannot be read: " + module.error().ToString();
    return out;
  }
  RL_ASSIGN(out.step, TimeStep(*module, target, mesh));
  AddMoney(target, out);
  if (program.partitions < mesh.size()) {
    out.notes.push_back(fmt::format("the program uses {} of {} devices; the cost is that of all",
                                    program.partitions, mesh.size()));
  }
  out.notes.insert(out.notes.end(), out.step->notes.begin(), out.step->notes.end());
  return out;
}

TargetPrediction PredictByRoofs(const workload::Workload& workload, const Target& target,
                                std::string why) {
  const verdict::Limit limit = verdict::FindLimit(workload, target.machine);
  TargetPrediction out;
  out.target = target.name;
  out.compiler = "none: the roofs of spec " + target.spec.name;
  out.capacity_bytes = CapacityOf(target);
  if (workload.memory_bytes) {
    out.peak_memory_bytes = workload.memory_bytes;
    if (out.capacity_bytes) out.fits = *workload.memory_bytes <= *out.capacity_bytes;
  }
  out.status = StatusOf(out);
  if (out.fits == false) {
    out.reason = fmt::format("needs {} of {} on each device",
                             FormatBytes(static_cast<int64_t>(*out.peak_memory_bytes)),
                             FormatBytes(static_cast<int64_t>(*out.capacity_bytes)));
  }
  out.step = StepOf(limit);
  AddMoney(target, out);
  out.notes.push_back("by the spec's roofs: " + std::move(why));
  out.notes.insert(out.notes.end(), limit.remarks.begin(), limit.remarks.end());
  return out;
}

}  // namespace ridgeline::predict
