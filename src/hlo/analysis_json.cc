// An Analysis in core's terms and as JSON.
#include <fmt/format.h>

#include <array>
#include <set>

#include "hlo/analysis.h"
#include "hlo/collective.h"

namespace ridgeline::hlo {
namespace {

struct Stand {
  std::string_view type, counted_as;
};
// Types without a DType of core, and the next wider one of their kind.
constexpr std::array<Stand, 18> kStands = {{{"s1", "s4"},
                                            {"s2", "s4"},
                                            {"u1", "u8"},
                                            {"u2", "u8"},
                                            {"u4", "u8"},
                                            {"s16", "s32"},
                                            {"u16", "u32"},
                                            {"u64", "s64"},
                                            {"f4e2m1fn", "f8e4m3fn"},
                                            {"f6e3m2fn", "f8e5m2"},
                                            {"f6e2m3fn", "f8e4m3fn"},
                                            {"f8e8m0fnu", "f8e5m2"},
                                            {"f8e4m3", "f8e4m3fn"},
                                            {"f8e3m4", "f8e4m3fn"},
                                            {"f8e4m3b11fnuz", "f8e4m3fn"},
                                            {"f8e4m3fnuz", "f8e4m3fn"},
                                            {"f8e5m2fnuz", "f8e5m2"},
                                            {"token", "pred"}}};

std::map<DType, double> ToDTypes(const FlopsByType& flops, std::set<std::string>& stood_in) {
  std::map<DType, double> out;
  for (const auto& [type, count] : flops) {
    std::string name = type;
    for (const Stand& stand : kStands) {
      if (stand.type != type) continue;
      name = stand.counted_as;
      stood_in.insert(fmt::format("{} is counted as {}", type, name));
    }
    if (const Result<DType> dtype = ParseDType(name)) out[*dtype] += count;
  }
  return out;
}

std::string Underscored(std::string name) {
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

Json FlopsToJson(const FlopsByType& flops) {
  Json json = Json::object();
  for (const auto& [type, count] : flops) json[type] = Number(count);
  return json;
}

Json ToJson(const CollectiveUse& use) {
  return {{"kind", use.kind},
          {"group_size", use.group_size},
          {"instructions", Number(use.instructions)},
          {"executions", Number(use.executions)},
          {"payload_bytes", Number(use.payload_bytes)},
          {"wire_bytes", Number(use.wire_bytes)}};
}

Json ToJson(const OpUse& use) {
  return {{"name", use.name},
          {"opcode", use.opcode},
          {"op_name", use.op_name},
          {"type", use.type},
          {"executions", Number(use.executions)},
          {"matrix", Number(use.matrix)},
          {"vector", Number(use.vector)},
          {"transcendental", Number(use.transcendental)},
          {"fused_bytes", Number(use.fused_bytes)},
          {"unfused_bytes", Number(use.unfused_bytes)},
          {"wire_bytes", Number(use.wire_bytes)}};
}

}  // namespace

Work ToWork(const Analysis& analysis, std::vector<std::string>* notes) {
  std::set<std::string> stood_in;
  Work work;
  work.matrix_flops = ToDTypes(analysis.matrix, stood_in);
  work.vector_flops = ToDTypes(analysis.vector, stood_in);
  work.transcendentals = analysis.transcendentals;
  work.hbm_bytes = analysis.hbm.fused;
  work.host_bytes = analysis.host_bytes;
  work.wire_bytes = analysis.wire_bytes();
  if (analysis.hbm.gather > 0) {
    work.hbm_pattern_bytes[Pattern::kGather] = std::min(analysis.hbm.gather, work.hbm_bytes);
  }
  if (analysis.hbm.strided > 0) {
    work.hbm_pattern_bytes[Pattern::kStrided] =
        std::min(analysis.hbm.strided, work.hbm_bytes - work.hbm_bytes_by(Pattern::kGather));
  }
  for (const CollectiveUse& use : analysis.collectives) {
    work.wire.push_back({.axis = "",
                         .collective = Underscored(use.kind),
                         .payload_bytes = use.payload_bytes,
                         .wire_bytes = use.wire_bytes,
                         .calls = use.executions,
                         .group = Members(use.group, use.group_size)});
  }
  work.launches = 1;
  if (notes != nullptr) notes->insert(notes->end(), stood_in.begin(), stood_in.end());
  return work;
}

Json ToJson(const Analysis& analysis) {
  Json json;
  json["module"] = analysis.module;
  json["flops"] = {{"matrix", FlopsToJson(analysis.matrix)},
                   {"vector", FlopsToJson(analysis.vector)},
                   {"transcendental", Number(analysis.transcendentals)}};
  json["hbm_bytes"] = {
      {"compulsory", Number(analysis.hbm.compulsory)}, {"fused", Number(analysis.hbm.fused)},
      {"unfused", Number(analysis.hbm.unfused)},       {"exact", analysis.hbm.exact},
      {"gather", Number(analysis.hbm.gather)},         {"strided", Number(analysis.hbm.strided)}};
  json["host_bytes"] = Number(analysis.host_bytes);
  json["wire_bytes"] = Number(analysis.wire_bytes());
  json["counted"] = analysis.lower_bound() ? "lower_bound" : "exact";
  json["collectives"] = Json::array();
  for (const CollectiveUse& use : analysis.collectives) json["collectives"].push_back(ToJson(use));
  json["loops"] = Json::array();
  for (const LoopUse& loop : analysis.loops) {
    json["loops"].push_back({{"name", loop.name},
                             {"trips", OrNull(loop.trips)},
                             {"at_most", OrNull(loop.at_most)},
                             {"unknown", loop.unknown},
                             {"executions", Number(loop.executions)}});
  }
  json["uncounted"] = Json::array();
  for (const Uncounted& one : analysis.uncounted) {
    json["uncounted"].push_back(
        {{"what", one.what}, {"executions", Number(one.executions)}, {"why", one.why}});
  }
  json["constants"] = Json::array();
  for (const LargeConstant& one : analysis.constants) {
    json["constants"].push_back(
        {{"name", one.name}, {"shape", one.shape}, {"bytes", Number(one.bytes)}});
  }
  json["notes"] = analysis.notes;
  json["instructions"] = analysis.instructions;
  json["ops"] = Json::array();
  for (const OpUse& use : analysis.ops) json["ops"].push_back(ToJson(use));
  return json;
}

}  // namespace ridgeline::hlo
