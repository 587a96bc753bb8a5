#include "model/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "model/wire_time.h"

namespace ridgeline::model {
namespace {

constexpr std::array<std::string_view, 4> kRoofs = {"compute", "memory", "network", "host"};

class Predictor {
 public:
  Predictor(const Work& work, const Machine& machine) : work_(work), machine_(machine) {}

  Prediction Run(double balance) {
    AddCompute();
    AddMemory();
    AddNetwork();
    AddHost();
    Conclude(balance);
    return std::move(out_);
  }

 private:
  void Add(Roof roof, std::string what, std::string lane, double amount, double rate,
           const Figure& figure) {
    out_.terms.push_back(
        {roof, std::move(what), std::move(lane), amount, rate, amount / rate, figure});
  }

  void AddRate(ComputeUnit unit, std::string_view dtype, double amount) {
    if (!(amount > 0)) return;
    const std::string what = fmt::format("{} {}", Name(unit), dtype);
    const Figure* figure = machine_.Peak(unit, dtype);
    if (figure == nullptr) {
      const double all =
          work_.total_matrix_flops() + work_.total_vector_flops() + work_.transcendentals;
      out_.missing.push_back({"no rate for " + what, amount / all});
      return;
    }
    // Vector and transcendental operations share the vector units.
    const bool matrix = unit == ComputeUnit::kMatrix;
    Add(Roof::kCompute, what, matrix ? "matrix" : "vector", amount, machine_.PerDevice(*figure),
        *figure);
  }

  void AddCompute() {
    for (const auto& [dtype, flops] : work_.matrix_flops) {
      AddRate(ComputeUnit::kMatrix, Name(dtype), flops);
    }
    for (const auto& [dtype, flops] : work_.vector_flops) {
      AddRate(ComputeUnit::kVector, Name(dtype), flops);
    }
    // Work does not tell the dtype of its transcendentals; XLA computes them in f32.
    AddRate(ComputeUnit::kTranscendental, Name(DType::kF32), work_.transcendentals);
  }

  void AddMemory() {
    const MemoryLevel* hbm = machine_.Level("hbm");
    for (const Pattern pattern :
         {Pattern::kSequential, Pattern::kStrided, Pattern::kGather, Pattern::kReused}) {
      const double bytes = work_.hbm_bytes_by(pattern);
      if (!(bytes > 0)) continue;
      const Figure* figure = hbm ? FindRate(*hbm, pattern) : nullptr;
      const std::string what = fmt::format("hbm {}", Name(pattern));
      if (figure == nullptr) {
        out_.missing.push_back({fmt::format("no rate for {}", what), bytes / work_.hbm_bytes});
        continue;
      }
      Add(Roof::kMemory, what, "hbm", bytes, machine_.PerDevice(*figure), *figure);
    }
  }

  const Figure* FindRate(const MemoryLevel& level, Pattern pattern) {
    auto it = level.bytes_per_s.find(pattern);
    if (it == level.bytes_per_s.end() && pattern != Pattern::kSequential) {
      it = level.bytes_per_s.find(Pattern::kSequential);
      if (it != level.bytes_per_s.end()) {
        out_.notes.push_back(
            fmt::format("{} access has no rate of its own: the sequential one is taken, which is "
                        "an upper limit",
                        Name(pattern)));
      }
    }
    return it == level.bytes_per_s.end() ? nullptr : &it->second;
  }

  void AddNetwork() {
    double named = 0;
    for (const WireUse& use : work_.wire) {
      named += use.wire_bytes;
      AddWire(use);
    }
    // What is left when the parts are not known.
    if (const double rest = work_.wire_bytes - named; rest > 1e-9 * work_.wire_bytes) {
      AddWire({.axis = "", .collective = "", .payload_bytes = 0, .wire_bytes = rest, .calls = 1});
    }
  }

  void AddWire(const WireUse& use) {
    const std::optional<WireTime> time = TimeOf(use, machine_);
    if (!time) {
      out_.missing.push_back(
          {fmt::format("no link for {}", use.axis.empty() ? "wire bytes" : use.axis),
           use.wire_bytes / work_.wire_bytes});
      return;
    }
    if (!time->note.empty()) out_.notes.push_back(time->note);
    out_.terms.push_back(
        {Roof::kNetwork,
         use.collective.empty() ? time->axis : fmt::format("{} {}", time->axis, use.collective),
         time->axis, use.wire_bytes, time->rate, time->seconds, time->figure});
  }

  void AddHost() {
    if (work_.host_bytes > 0) {
      if (machine_.host_to_device) {
        Figure figure = *machine_.host_to_device;
        figure.value = OneWay(figure);
        Add(Roof::kHost, "host link", "host link", work_.host_bytes, machine_.PerDevice(figure),
            *machine_.host_to_device);
      } else {
        out_.missing.push_back({"no rate for the host link", 1});
      }
    }
    if (work_.launches > 0) {
      if (machine_.launch_s) {
        Add(Roof::kHost, "launches", "launches", work_.launches, 1 / machine_.launch_s->value,
            *machine_.launch_s);
      } else {
        out_.notes.emplace_back("the launch latency is not known and left out");
      }
    }
  }

  void Conclude(double balance) {
    std::map<std::pair<Roof, std::string>, double> lanes;
    for (const Term& term : out_.terms) lanes[{term.roof, term.lane}] += term.seconds;
    std::array<double, kRoofs.size()> longest{};
    double sum = 0;
    for (const auto& [lane, seconds] : lanes) {
      double& roof = longest[static_cast<size_t>(lane.first)];
      roof = std::max(roof, seconds);
      sum += seconds;
    }
    std::vector<RoofTime> roofs;
    for (size_t i = 0; i < kRoofs.size(); ++i) {
      roofs.push_back({.name = std::string(kRoofs[i]), .seconds = longest[i]});
    }
    out_.compute_s = longest[0];
    out_.memory_s = longest[1];
    out_.network_s = longest[2];
    out_.host_s = longest[3];
    out_.bound = Classify(roofs, balance);
    out_.bound.upper_s = sum;
    const double flops = work_.total_matrix_flops() + work_.total_vector_flops();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    out_.hbm_intensity = work_.hbm_bytes > 0 ? flops / work_.hbm_bytes : kInfinity;
    out_.network_intensity = work_.wire_bytes > 0 ? flops / work_.wire_bytes : kInfinity;
  }

  const Work& work_;
  const Machine& machine_;
  Prediction out_;
};

}  // namespace

std::string_view Name(Roof roof) { return kRoofs[static_cast<size_t>(roof)]; }

Prediction Predict(const Work& work, const Machine& machine, double balance) {
  return Predictor(work, machine).Run(balance);
}

std::optional<double> RoofAt(const Machine& machine, ComputeUnit unit, std::string_view dtype,
                             Pattern pattern, double intensity) {
  const Figure* peak = machine.Peak(unit, dtype);
  const MemoryLevel* hbm = machine.Level("hbm");
  if (peak == nullptr || hbm == nullptr || !hbm->bytes_per_s.contains(pattern)) {
    return std::nullopt;
  }
  return Attainable(machine.PerDevice(*peak), intensity,
                    machine.PerDevice(hbm->bytes_per_s.at(pattern)));
}

}  // namespace ridgeline::model
