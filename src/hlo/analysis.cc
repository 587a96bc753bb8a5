#include "hlo/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "hlo/collective.h"
#include "hlo/cost.h"
#include "hlo/demand.h"
#include "hlo/duplicates.h"
#include "hlo/inline.h"
#include "hlo/multiplicity.h"
#include "hlo/traffic.h"

namespace ridgeline::hlo {
namespace {

constexpr double kLargeConstant = 1024;  // bytes

// Everything of one computation, run once.
struct Body {
  const Computation* computation = nullptr;
  bool is_fusion = false;  // its memory traffic is that of its fusion
  std::vector<bool> counted;
  std::vector<OpCost> costs;
  std::vector<Traffic> traffic;
  std::vector<double> fused;
  double weight = 0;  // arithmetic and traffic with all that it calls: which branch is dearest
  double executions = 0;
};

// "x" and "y" in `#sdy<manual_axes{"x", "y"}>`, whose quotes may be escaped.
std::vector<std::string_view> QuotedNames(std::string_view text) {
  std::vector<std::string_view> names;
  for (size_t open = text.find('"'); open != text.npos; open = text.find('"', open)) {
    const size_t close = text.find_first_of("\"\\", open + 1);
    if (close == text.npos) break;
    names.push_back(text.substr(open + 1, close - open - 1));
    open = text[close] == '\\' ? close + 2 : close + 1;
  }
  return names;
}

std::string_view AttributeOf(const std::map<std::string, std::string, std::less<>>& attributes,
                             std::string_view key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? std::string_view() : std::string_view(found->second);
}

// Size of the axis in `{mesh = #sdy.mesh<["x"=4, "y"=4]>}`; 1 when it is not there.
double AxisSize(std::string_view meshes, std::string_view axis) {
  for (const char* const sign : {"\"{}\"=", "\\\"{}\\\"="}) {
    const std::string key = fmt::format(fmt::runtime(sign), axis);
    const size_t at = meshes.find(key);
    if (at == meshes.npos) continue;
    int64_t size = 1;
    std::from_chars(meshes.data() + at + key.size(), meshes.data() + meshes.size(), size);
    return static_cast<double>(std::max<int64_t>(1, size));
  }
  return 1;
}

class Analyser {
 public:
  Analyser(const Module& module, const AnalysisOptions& options)
      : module_(module),
        options_(options),
        order_(CallersFirst(module)),
        trips_(module, order_, options.unknown_trips),
        demand_(module, [this](const Instruction& loop) { return trips_.Rounds(loop); }),
        costs_(module),
        duplicates_(module) {}

  Analysis Run() {
    result_.module = module_.name;
    CountCompulsory();
    for (const Computation* computation : order_)
      bodies_[computation->id].computation = computation;
    for (const Computation* computation : order_) MarkFusions(*computation);
    // What is called first, so that a conditional can weigh its branches.
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) CountBody(bodies_.at((*at)->id));
    bodies_.at(module_.entry).executions = 1;
    for (const Computation* computation : order_) Distribute(bodies_.at(computation->id));
    for (const Computation* computation : order_) Sum(bodies_.at(computation->id));
    Finish();
    return std::move(result_);
  }

 private:
  void CountCompulsory() {
    const Demand& entry = demand_.OfEntry();
    for (const Instruction& at : module_.Entry().instructions) {
      const auto number = static_cast<size_t>(std::max<int64_t>(0, at.parameter_number));
      if (at.opcode != "parameter" || number >= entry.touched.size()) continue;
      const std::vector<const Shape*> leaves = Leaves(at.shape);
      for (size_t i = 0; i < leaves.size() && i < entry.touched[number].size(); ++i) {
        result_.hbm.compulsory += entry.touched[number][i] * leaves[i]->bytes();
      }
      if (at.shape.dynamic) dynamic_ = true;
    }
    for (const RootLeaf& leaf : entry.root) result_.hbm.compulsory += leaf.written_bytes;
  }

  void MarkFusions(const Computation& computation) {
    Body& body = bodies_.at(computation.id);
    for (const Instruction& at : computation.instructions) {
      if (at.opcode != "fusion" && !body.is_fusion) continue;
      for (const int64_t callee : RunsInPlace(at)) bodies_.at(callee).is_fusion = true;
    }
  }

  void CountBody(Body& body) {
    const Computation& computation = *body.computation;
    const size_t count = computation.instructions.size();
    const std::vector<bool> duplicate =
        module_.scheduled ? std::vector<bool>(count) : duplicates_.Find(computation);
    body.counted.resize(count);
    body.costs.resize(count);
    body.traffic.resize(count);
    for (size_t i = 0; i < count; ++i) {
      body.counted[i] = demand_.IsLive(computation, i) && !duplicate[i];
    }
    // A compiled program says itself what its kernels make.
    const std::vector<bool> made =
        module_.scheduled ? std::vector<bool>(count) : MadeWhereUsed(computation, body.counted);
    for (size_t i = 0; i < count; ++i) {
      if (!body.counted[i]) continue;
      const Instruction& at = computation.instructions[i];
      const double group =
          IsCollective(at)
              ? static_cast<double>(ReadCollective(computation, at, options_.devices).group_size)
              : 1;
      body.costs[i] = costs_.Count(computation, at, group);
      if (!body.is_fusion && !made[i]) {
        body.traffic[i] = UnfusedTraffic(module_, computation, at, demand_, &made);
      }
      body.weight += body.costs[i].matrix + body.costs[i].vector + body.costs[i].transcendental +
                     body.traffic[i].bytes;
      for (const auto& [callee, times] : Calls(at)) {
        body.weight += times * bodies_.at(callee).weight;
      }
    }
    if (body.is_fusion) {
      body.fused.resize(count);
    } else if (module_.scheduled) {
      for (const Traffic& traffic : body.traffic) body.fused.push_back(traffic.bytes);
    } else {
      body.fused = FusedTraffic(module_, computation, body.counted, demand_);
    }
  }

  // Computations that one execution of `at` runs, and how often. A loop's condition runs once more
  // than its body.
  std::vector<std::pair<int64_t, double>> Calls(const Instruction& at) {
    if (at.opcode == "while") {
      const double rounds = trips_.Rounds(at);
      return {{at.called[0], rounds}, {at.called[1], rounds + 1}};
    }
    if (at.opcode == "conditional") {
      if (at.called.empty()) return {};
      const auto dearest = std::max_element(
          at.called.begin(), at.called.end(),
          [&](int64_t a, int64_t b) { return bodies_.at(a).weight < bodies_.at(b).weight; });
      return {{*dearest, 1}};
    }
    std::vector<std::pair<int64_t, double>> calls;
    for (const int64_t callee : RunsInPlace(at)) calls.emplace_back(callee, 1);
    return calls;
  }

  // Devices that run a manual computation of Shardy's, which is written for one of them.
  double ManualDevices(const Computation& caller, const Instruction& call) const {
    if (!options_.all_devices || call.opcode != "call" || call.called.size() != 1 ||
        !module_.Get(call.called[0]).name.starts_with(kManualComputation)) {
      return 1;
    }
    const std::string_view meshes = AttributeOf(module_.frontend_attributes, "xla.sdy.meshes");
    double devices = 1;
    for (const int64_t operand : call.operands) {
      const Instruction* marker = &caller.Get(operand);
      if (marker->opcode == "get-tuple-element") marker = &caller.Get(marker->operands[0]);
      const auto axes =
          QuotedNames(AttributeOf(marker->frontend_attributes, "xla.sdy.manual_axes"));
      if (axes.empty()) continue;
      devices = 1;
      for (const std::string_view axis : axes) devices *= AxisSize(meshes, axis);
    }
    return devices;
  }

  void Distribute(const Body& body) {
    if (body.executions == 0) return;
    for (size_t i = 0; i < body.counted.size(); ++i) {
      if (!body.counted[i]) continue;
      const Instruction& at = body.computation->instructions[i];
      const double devices = ManualDevices(*body.computation, at);
      for (const auto& [callee, times] : Calls(at)) {
        bodies_.at(callee).executions += body.executions * times * devices;
      }
      if (at.opcode == "while") NoteLoop(at, body.executions);
      if (at.opcode == "conditional") NoteBranches(at, body.executions);
    }
  }

  void NoteLoop(const Instruction& at, double executions) {
    const TripCount& trips = trips_.Of(at);
    result_.loops.push_back({at.name, trips.exact, trips.at_most, trips.unknown, executions});
    if (trips.exact || options_.unknown_trips) return;
    result_.uncounted.push_back(
        {"while " + at.name, executions,
         fmt::format("per iteration; trip count unknown{}: {}",
                     trips.at_most ? fmt::format(", at most {:g}", *trips.at_most) : "",
                     trips.unknown)});
  }

  void NoteBranches(const Instruction& at, double executions) {
    if (at.called.size() < 2) return;
    const int64_t dearest = Calls(at)[0].first;
    const bool equal = std::all_of(at.called.begin(), at.called.end(), [&](int64_t callee) {
      return bodies_.at(callee).weight == bodies_.at(dearest).weight;
    });
    if (equal) return;
    result_.notes.push_back(fmt::format(
        "conditional {}, run {:g} times: counted with the dearest of its {} branches, {}", at.name,
        executions, at.called.size(), module_.Get(dearest).name));
  }

  void Sum(const Body& body) {
    if (body.executions == 0) return;
    for (size_t i = 0; i < body.counted.size(); ++i) {
      if (body.counted[i]) SumInstruction(body, i);
    }
  }

  // A second instruction of an asynchronous fusion may hold the same collective.
  bool IsClone(const Body& body, const Instruction& at) {
    if (at.channel_id <= 0) return false;
    const auto key =
        std::make_tuple(at.channel_id, std::string(BaseOpcode(at.opcode)), at.shape.ToString());
    const bool first = channels_.insert(key).second;
    return body.is_fusion && !first;
  }

  void SumInstruction(const Body& body, size_t i) {
    const Instruction& at = body.computation->instructions[i];
    const bool collective = IsCollective(at);
    if (collective && IsClone(body, at)) return;
    const OpCost& cost = body.costs[i];
    const double times = body.executions;
    OpUse use;
    if (collective) SumCollective(body, at, times, use);
    matrix_[cost.type] += times * cost.matrix;
    vector_[cost.type] += times * cost.vector;
    result_.transcendentals += times * cost.transcendental;
    result_.hbm.unfused += times * body.traffic[i].bytes;
    result_.hbm.fused += times * body.fused[i];
    result_.hbm.gather += times * body.traffic[i].gather;
    result_.hbm.strided += times * body.traffic[i].strided;
    result_.host_bytes += times * body.traffic[i].host;
    if (at.shape.dynamic) dynamic_ = true;
    if (at.high_precision && cost.matrix > 0) high_precision_ = true;
    if (!cost.note.empty())
      notes_[at.opcode == "custom-call" ? at.custom_call_target : at.opcode] = cost.note;
    if (!cost.uncounted.empty()) {
      const std::string what = at.opcode == "custom-call" ? "custom-call " + at.custom_call_target
                                                          : at.opcode + " " + at.name;
      auto& [executions, why] = uncounted_[what];
      executions += times;
      why = cost.uncounted;
    }
    if (at.opcode == "constant" && at.shape.bytes() > kLargeConstant) {
      result_.constants.push_back({at.name, at.shape.ToString(), at.shape.bytes()});
    }
    use.matrix = times * cost.matrix;
    use.vector = times * cost.vector;
    use.transcendental = times * cost.transcendental;
    use.fused_bytes = times * body.fused[i];
    use.unfused_bytes = times * body.traffic[i].bytes;
    use.executions = times;
    if (use.matrix + use.vector + use.transcendental + use.unfused_bytes + use.wire_bytes > 0) {
      uses_.push_back({use, &at, cost.type});
    }
  }

  void SumCollective(const Body& body, const Instruction& at, double times, OpUse& op) {
    Collective read = ReadCollective(*body.computation, at, options_.devices);
    op.payload_bytes = times * read.payload_bytes;
    op.wire_bytes = times * read.wire_bytes;
    op.group_size = read.group_size;
    op.group = read.group;
    // Pairs differ from permute to permute; along which axes the first one goes has to do.
    const bool permute = read.kind == "collective-permute";
    CollectiveUse& use = collectives_[{read.kind, permute ? 0 : read.group_size,
                                       permute ? std::vector<int64_t>{} : read.group}];
    if (use.instructions == 0) {
      use.kind = std::move(read.kind);
      use.group_size = read.group_size;
      use.group = std::move(read.group);
    }
    if (use.group_size != read.group_size) use.group_size = 0;
    use.instructions += 1;
    use.executions += times;
    use.payload_bytes += op.payload_bytes;
    use.wire_bytes += op.wire_bytes;
  }

  void Finish() {
    for (const auto& [type, flops] : matrix_) {
      if (flops > 0) result_.matrix[PrimitiveName(type)] += flops;
    }
    for (const auto& [type, flops] : vector_) {
      if (flops > 0) result_.vector[PrimitiveName(type)] += flops;
    }
    for (auto& [key, use] : collectives_) result_.collectives.push_back(std::move(use));
    for (const auto& [what, entry] : uncounted_) {
      result_.uncounted.push_back({what, entry.first, entry.second});
    }
    for (const auto& [what, note] : notes_) {
      result_.notes.push_back(fmt::format("{}: {}", what, note));
    }
    if (dynamic_) {
      result_.notes.emplace_back("dynamic shapes are counted at their bounds: upper bounds");
    }
    if (high_precision_) {
      result_.notes.emplace_back(
          "some products ask for more precision than the type has in one pass: the unit runs "
          "several; they are counted once, in the type as written");
    }
    for (const auto& [id, body] : bodies_) result_.instructions += body.counted.size();
    HbmBytes& hbm = result_.hbm;
    hbm.exact = module_.scheduled;
    if (hbm.exact) hbm.compulsory = hbm.unfused;
    hbm.unfused = std::max(hbm.unfused, hbm.compulsory);
    hbm.fused = std::clamp(hbm.fused, hbm.compulsory, hbm.unfused);
    RankOps();
  }

  void RankOps() {
    const double flops = std::max(1.0, result_.matrix_flops() + result_.vector_flops());
    const double bytes = std::max(1.0, result_.hbm.unfused);
    const double wire = std::max(1.0, result_.wire_bytes());
    const auto share = [&](const Use& one) {
      const OpUse& use = one.use;
      return std::max({(use.matrix + use.vector + use.transcendental) / flops,
                       use.unfused_bytes / bytes, use.wire_bytes / wire});
    };
    const size_t kept = std::min(uses_.size(), Analysis::kMaxOps);
    std::partial_sort(uses_.begin(), uses_.begin() + static_cast<std::ptrdiff_t>(kept), uses_.end(),
                      [&](const Use& a, const Use& b) {
                        const double left = share(a), right = share(b);
                        return left != right ? left > right
                                             : a.instruction->name < b.instruction->name;
                      });
    for (size_t i = 0; i < kept; ++i) {
      OpUse use = uses_[i].use;
      use.name = uses_[i].instruction->name;
      use.opcode = uses_[i].instruction->opcode;
      use.op_name = uses_[i].instruction->op_name;
      use.type = PrimitiveName(uses_[i].type);
      result_.ops.push_back(std::move(use));
    }
  }

  struct Use {
    OpUse use;  // without its texts
    const Instruction* instruction;
    int type;
  };

  const Module& module_;
  const AnalysisOptions& options_;
  std::vector<const Computation*> order_;
  TripCounts trips_;
  DemandAnalysis demand_;
  CostModel costs_;
  DuplicateFinder duplicates_;
  std::unordered_map<int64_t, Body> bodies_;
  std::map<int, double> matrix_, vector_;
  std::map<std::tuple<std::string, int64_t, std::vector<int64_t>>, CollectiveUse> collectives_;
  std::map<std::string, std::pair<double, std::string>> uncounted_;
  std::map<std::string, std::string> notes_;
  std::set<std::tuple<int64_t, std::string, std::string>> channels_;
  std::vector<Use> uses_;
  bool dynamic_ = false;
  bool high_precision_ = false;
  Analysis result_;
};

double Total(const FlopsByType& flops) {
  double total = 0;
  for (const auto& [type, count] : flops) total += count;
  return total;
}

}  // namespace

double Analysis::matrix_flops() const { return Total(matrix); }
double Analysis::vector_flops() const { return Total(vector); }

double Analysis::wire_bytes() const {
  double total = 0;
  for (const CollectiveUse& use : collectives) total += use.wire_bytes;
  return total;
}

bool Analysis::lower_bound() const { return !uncounted.empty(); }

Result<Analysis> Analyse(const Module& module, const AnalysisOptions& options) {
  const bool calls = std::any_of(
      module.computations.begin(), module.computations.end(), [](const Computation& one) {
        return std::any_of(one.instructions.begin(), one.instructions.end(),
                           [](const Instruction& at) { return at.opcode == "call"; });
      });
  if (module.scheduled || !calls) return Analyser(module, options).Run();
  RL_ASSIGN(const Module inlined, InlineCalls(module));
  return Analyser(inlined, options).Run();
}

}  // namespace ridgeline::hlo
