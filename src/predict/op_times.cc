#include "predict/op_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "hlo/collective.h"
#include "hlo/cost.h"
#include "hlo/custom_call.h"
#include "hlo/multiplicity.h"
#include "hlo/opcode.h"
#include "hlo/traffic.h"
#include "model/group_axes.h"
#include "model/wire_time.h"
#include "predict/op_rates.h"

namespace ridgeline::predict {
namespace {

using hlo::Computation;
using hlo::Instruction;

// One computation, run once.
struct Body {
  bool fused = false;       // its time is that of its fusion
  bool overlaps = false;    // runs under an async-start
  std::vector<OpTime> ops;  // of one execution
  std::vector<WireRow> wire;
  double seconds = 0;  // at most, with all that it calls: which branch is dearest
  double executions = 0;
};

class Pricer {
 public:
  Pricer(const hlo::Module& module, const Target& target, const Mesh& mesh)
      : module_(module),
        machine_(target.machine),
        rates_(target.gpu != nullptr ? MakeGpuRates(target) : MakeTpuRates(target)),
        bandwidth_(rates_->bandwidth()),
        mesh_(mesh),
        order_(hlo::CallersFirst(module)),
        trips_(module, order_, std::nullopt),
        demand_(module, [this](const Instruction& loop) { return trips_.Rounds(loop); }),
        costs_(module) {}

  Result<StepTime> Run() {
    if (!(bandwidth_ > 0)) {
      return Fail(Code::kFailedPrecondition, "the spec has no memory bandwidth", machine_.name);
    }
    for (const Computation* one : order_) Mark(*one);
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) Price(**at);
    bodies_[module_.entry].executions = 1;
    for (const Computation* one : order_) Distribute(*one);
    for (const Computation* one : order_) Sum(bodies_[one->id]);
    Conclude();
    return std::move(out_);
  }

 private:
  void Mark(const Computation& computation) {
    const Body& body = bodies_[computation.id];
    const bool fused = body.fused;
    const bool overlaps = body.overlaps;
    for (const Instruction& at : computation.instructions) {
      for (const int64_t callee : hlo::RunsInPlace(at)) {
        Body& called = bodies_[callee];
        called.fused = called.fused || fused || at.opcode == "fusion";
        called.overlaps = called.overlaps || overlaps || at.opcode == "async-start";
      }
    }
  }

  void LookInside(const Computation& computation, const Instruction& at, Inside& inside) {
    const hlo::OpCost cost = costs_.Count(computation, at);
    if (cost.matrix > inside.largest) {
      inside.largest = cost.matrix;
      inside.matrix_type = cost.type;
      inside.product = &at;
    }
    inside.matrix += cost.matrix;
    inside.arithmetic += cost.vector + cost.transcendental > 0;
    if (hlo::IsCollective(at)) inside.collectives.emplace_back(&computation, &at);
    // Calls and loops are priced by themselves.
    if (at.opcode != "fusion" && at.opcode != "custom-call") return;
    for (const int64_t callee : hlo::RunsOrDefines(module_, at)) {
      for (const Instruction& inner : module_.Get(callee).instructions) {
        LookInside(module_.Get(callee), inner, inside);
      }
    }
  }

  void Price(const Computation& computation) {
    Body& body = bodies_[computation.id];
    if (body.fused) return;
    for (const Instruction& at : computation.instructions) {
      const hlo::OpKind kind = hlo::KindOf(at.opcode).value_or(hlo::OpKind::kCustomCall);
      if (kind == hlo::OpKind::kFree) continue;
      if (kind == hlo::OpKind::kControl) {
        body.seconds += CalleeSeconds(at);
        continue;
      }
      PriceOne(computation, at, body);
    }
    for (const OpTime& op : body.ops) body.seconds += op.seconds.upper;
  }

  void PriceOne(const Computation& computation, const Instruction& at, Body& body) {
    if (hlo::IsBetweenSlices(at)) return PriceBetweenSlices(computation, at, body);
    Inside inside;
    LookInside(computation, at, inside);
    for (const auto& [where, collective] : inside.collectives) {
      // Fused with other work it runs beside that, unless the fusion is the collective.
      const bool beside = body.overlaps || rates_->IsAsynchronous(*collective) ||
                          (at.opcode == "fusion" && inside.matrix > 0);
      PriceCollective(*where, *collective, at, beside, body);
    }
    if (!inside.collectives.empty() && inside.matrix == 0) return;
    const hlo::Traffic traffic = hlo::UnfusedTraffic(module_, computation, at, demand_);
    OpTime op{.name = at.name, .op_name = at.op_name};
    op.overlaps = body.overlaps || at.opcode.ends_with("-start");
    op.hbm_bytes = traffic.bytes;
    op.flops = inside.matrix;
    if (traffic.host > 0) {
      PriceHost(traffic.host, op);
    } else if (inside.matrix > 0) {
      rates_->PriceMatrix(at, inside, op);
      matrix_flops_[computation.id][hlo::PrimitiveName(inside.matrix_type)] += inside.matrix;
    } else {
      rates_->PriceMemory(at, inside, op);
      WidenUnknown(computation, at, op);
    }
    if (op.seconds.upper > 0) body.ops.push_back(std::move(op));
  }

  void PriceHost(double bytes, OpTime& op) {
    op.part = Part::kHost;
    if (!machine_.host_to_device) {
      Note("the spec has no rate for the host link: copies to and from the host are left out");
      return;
    }
    Figure one_way = *machine_.host_to_device;
    one_way.value = OneWay(one_way);
    const double seconds = bytes / machine_.PerDevice(one_way);
    op.seconds = {seconds, seconds};
    op.how = fmt::format("{} over the host link", FormatBytes(static_cast<int64_t>(bytes)));
  }

  // A second instruction of an asynchronous fusion may hold the same collective.
  bool SeenBefore(const Instruction& collective) {
    if (collective.channel_id <= 0) return false;
    return !channels_
                .emplace(collective.channel_id, std::string(hlo::BaseOpcode(collective.opcode)),
                         collective.shape.ToString())
                .second;
  }

  void PriceCollective(const Computation& computation, const Instruction& collective,
                       const Instruction& holder, bool beside, Body& body) {
    if (&collective != &holder && SeenBefore(collective)) return;
    const hlo::Collective read = hlo::ReadCollective(computation, collective, mesh_.size());
    WireUse use{.axis = "",
                .collective = read.kind,
                .payload_bytes = read.payload_bytes,
                .wire_bytes = read.wire_bytes,
                .calls = 1};
    std::ranges::replace(use.collective, '-', '_');
    // libtpu writes a reduce-scatter as a fusion of an all-reduce with the slice of it.
    if (computation.name.find("all-reduce-scatter") != std::string::npos) {
      use.collective = "reduce_scatter";
      use.wire_bytes /= 2;
    }
    if (read.group_size < 2 || use.wire_bytes <= 0) return;
    const model::GroupAxes axes =
        model::FindAxes(hlo::Members(read.group, read.group_size), mesh_, machine_);
    use.axis = axes.names;
    const std::optional<model::WireTime> time = model::TimeOf(use, axes.machine);
    if (!time) {
      Note(fmt::format("the spec has no link for {}: its time is left out", use.collective));
      return;
    }
    if (!axes.box) {
      Note("some groups fill no box of the torus: their links are shared, which is not counted");
    }
    OpTime op{.name = holder.name, .op_name = holder.op_name};
    op.part = Part::kWire;
    op.overlaps = beside;
    const Interval latency = rates_->WireLatency(use.collective, read.group_size, axes.Hosts());
    op.seconds = {time->seconds + latency.lower,
                  time->seconds / rates_->LinkShare() + latency.upper};
    op.how = fmt::format("{} of {} along {} ({} devices){}", use.collective,
                         FormatBytes(static_cast<int64_t>(use.payload_bytes)), time->axis,
                         read.group_size, beside ? ", beside the others" : "");
    body.ops.push_back(std::move(op));
    body.wire.push_back({time->axis, use.collective, 1, use.payload_bytes, use.wire_bytes,
                         time->seconds, beside ? time->seconds : 0});
  }

  // The host's runtime carries it beside the program; how fast, only the network's rate says.
  void PriceBetweenSlices(const Computation& computation, const Instruction& at, Body& body) {
    constexpr std::string_view kAxis = "dcn";
    if (at.opcode == "recv") return;
    const auto axis = std::ranges::find(mesh_.axes, kAxis, &MeshAxis::name);
    const std::optional<hlo::Collective> read =
        axis == mesh_.axes.end() ? std::nullopt
                                 : hlo::ReadSliceTransfer(computation, at, axis->size);
    if (!read) return Note(fmt::format("{}: a transfer of unknown kind is left out", at.name));
    WireUse use{.axis = std::string(kAxis),
                .collective = read->kind,
                .payload_bytes = read->payload_bytes,
                .wire_bytes = read->wire_bytes,
                .calls = 1};
    std::ranges::replace(use.collective, '-', '_');
    const std::optional<model::WireTime> time = model::TimeOf(use, machine_);
    if (!time) {
      return Note("the spec has no rate between slices: transfers between them are left out");
    }
    Note("transfers between slices run at the spec's nominal rate, without latency");
    OpTime op{.name = at.name, .op_name = at.op_name};
    op.part = Part::kWire;
    op.overlaps = true;
    op.seconds = {time->seconds, time->seconds};
    op.how = fmt::format("{} of {} between {} slices, beside the others", use.collective,
                         FormatBytes(static_cast<int64_t>(use.payload_bytes)), axis->size);
    body.ops.push_back(std::move(op));
    body.wire.push_back({std::string(kAxis), use.collective, 1, use.payload_bytes, use.wire_bytes,
                         time->seconds, time->seconds});
  }

  // A kernel that nobody here knows: it writes its result, and reads as much of its operands as it
  // likes.
  void WidenUnknown(const Computation& computation, const Instruction& at, OpTime& op) {
    if (at.opcode != "custom-call") return;
    if (hlo::KindOfCustomCall(computation, at) != hlo::CustomCallKind::kKernel) return;
    if (hlo::CostOfCustomCall(computation, at).uncounted.empty()) return;
    op.hbm_bytes = std::min(op.hbm_bytes, 2 * at.shape.bytes());
    op.seconds.lower = op.hbm_bytes / bandwidth_;
    Note(fmt::format(
        "kernel {} states no work: its bytes alone are counted, from twice its result's "
        "to all its operands'; its arithmetic may take longer",
        Printable(at.custom_call_target)));
  }

  // Of a loop with all its rounds, of a conditional's dearest branch.
  double CalleeSeconds(const Instruction& at) {
    double seconds = 0;
    for (const auto& [callee, times] : Calls(at)) seconds += times * bodies_[callee].seconds;
    return seconds;
  }

  std::vector<std::pair<int64_t, double>> Calls(const Instruction& at) {
    if (at.opcode == "while") {
      const double rounds = trips_.Rounds(at);
      return {{at.called[0], rounds}, {at.called[1], rounds + 1}};
    }
    const std::span<const int64_t> called = hlo::RunsInPlace(at);
    if (at.opcode == "conditional" && !called.empty()) {
      const int64_t dearest = *std::ranges::max_element(
          called, {}, [this](int64_t callee) { return bodies_[callee].seconds; });
      return {{dearest, 1}};
    }
    std::vector<std::pair<int64_t, double>> calls;
    for (const int64_t callee : called) calls.emplace_back(callee, 1);
    return calls;
  }

  void Distribute(const Computation& computation) {
    const double executions = bodies_[computation.id].executions;
    if (executions == 0 || bodies_[computation.id].fused) return;
    for (const Instruction& at : computation.instructions) {
      for (const auto& [callee, times] : Calls(at))
        bodies_[callee].executions += executions * times;
      if (at.opcode == "while" && !trips_.Of(at).exact) {
        Note(fmt::format("loop {} is counted once: {}", at.name, trips_.Of(at).unknown));
      }
    }
    for (const auto& [type, flops] : matrix_flops_[computation.id]) {
      out_.matrix_flops[type] += executions * flops;
    }
  }

  void Sum(const Body& body) {
    if (body.executions == 0) return;
    for (OpTime op : body.ops) {
      op.executions = body.executions;
      op.seconds = {op.seconds.lower * body.executions, op.seconds.upper * body.executions};
      op.flops *= body.executions;
      op.hbm_bytes *= body.executions;
      // An estimate of the compiler under the time of the bytes: not all of them are read from
      // there.
      if (const double most = op.seconds.upper * bandwidth_;
          op.part == Part::kMatrix && op.hbm_bytes > most) {
        op.hbm_bytes = most;
        ++bounded_bytes_;
      }
      out_.parts[op.part] += op.seconds;
      out_.hbm_bytes += op.hbm_bytes;
      (op.overlaps ? beside_[op.part] : in_turn_) += op.seconds;
      out_.ops.push_back(std::move(op));
    }
    for (const WireRow& row : body.wire) AddWire(row, body.executions);
  }

  void AddWire(const WireRow& row, double executions) {
    auto found = std::ranges::find_if(out_.wire, [&row](const WireRow& one) {
      return one.axes == row.axes && one.collective == row.collective;
    });
    if (found == out_.wire.end()) {
      out_.wire.push_back({.axes = row.axes, .collective = row.collective});
      found = std::prev(out_.wire.end());
    }
    found->executions += executions;
    found->payload_bytes += executions * row.payload_bytes;
    found->wire_bytes += executions * row.wire_bytes;
    found->seconds += executions * row.seconds;
    found->overlapped_s += executions * row.overlapped_s;
  }

  void Conclude() {
    std::ranges::stable_sort(out_.ops, std::greater(),
                             [](const OpTime& op) { return op.seconds.middle(); });
    std::ranges::sort(out_.wire, std::greater(), &WireRow::seconds);
    // At best what may run beside the rest does, and takes its time only where it is the longer.
    out_.seconds = {std::max(in_turn_.lower, out_.hbm_bytes / bandwidth_), in_turn_.upper};
    for (const auto& [part, seconds] : beside_) {
      out_.seconds.lower = std::max(out_.seconds.lower, seconds.lower);
      out_.seconds.upper += seconds.upper;
    }
    std::vector<model::RoofTime> roofs;
    for (const auto& [part, name] :
         {std::pair(Part::kMatrix, "compute"), std::pair(Part::kMemory, "memory"),
          std::pair(Part::kWire, "network"), std::pair(Part::kHost, "host")}) {
      roofs.push_back({.name = name, .seconds = out_.parts[part].middle()});
    }
    out_.bound = model::Classify(roofs);
    for (const std::string& note : rates_->notes()) Note(note);
    if (bounded_bytes_ > 0) {
      Note(fmt::format(
          "{} operations hold operands that their estimated cycles leave no time to read: only as "
          "many bytes are counted as fit into that time",
          bounded_bytes_));
    }
  }

  void Note(std::string text) {
    if (std::ranges::find(out_.notes, text) == out_.notes.end()) {
      out_.notes.push_back(std::move(text));
    }
  }

  const hlo::Module& module_;
  const Machine& machine_;
  std::unique_ptr<OpRates> rates_;
  double bandwidth_ = 0;  // nominal, of one device
  const Mesh& mesh_;
  std::vector<const Computation*> order_;
  hlo::TripCounts trips_;
  hlo::DemandAnalysis demand_;
  hlo::CostModel costs_;
  std::unordered_map<int64_t, Body> bodies_;
  std::unordered_map<int64_t, std::map<std::string, double>> matrix_flops_;
  std::set<std::tuple<int64_t, std::string, std::string>> channels_;
  Interval in_turn_;
  std::map<Part, Interval> beside_;
  int bounded_bytes_ = 0;  // operations whose bytes take longer than the operation may
  StepTime out_;
};

}  // namespace

std::string_view Name(Part part) {
  static constexpr std::string_view kNames[] = {"matrix", "memory", "wire", "host"};
  return kNames[static_cast<size_t>(part)];
}

Result<StepTime> TimeStep(const hlo::Module& module, const Target& target, const Mesh& mesh) {
  return Pricer(module, target, mesh).Run();
}

}  // namespace ridgeline::predict
