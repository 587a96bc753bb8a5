#include "core/work.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ridgeline {
namespace {

constexpr std::array<std::string_view, 4> kPatterns = {"sequential", "strided", "gather", "reused"};

double Sum(const std::map<DType, double>& flops) {
  double sum = 0;
  for (const auto& [dtype, count] : flops) sum += count;
  return sum;
}

Json FlopsToJson(const std::map<DType, double>& flops) {
  Json json = Json::object();
  for (const auto& [dtype, count] : flops) json[std::string(Name(dtype))] = Number(count);
  return json;
}

Result<std::map<DType, double>> FlopsFromJson(const Json& json) {
  std::map<DType, double> flops;
  for (const auto& [name, count] : json.items()) {
    RL_ASSIGN(const DType dtype, ParseDType(name));
    flops[dtype] = count.is_number() ? count.get<double>() : 0;
  }
  return flops;
}

Json WireToJson(const WireUse& use) {
  Json json = {{"axis", use.axis},
               {"collective", use.collective},
               {"payload_bytes", Number(use.payload_bytes)},
               {"wire_bytes", Number(use.wire_bytes)},
               {"calls", Number(use.calls)}};
  if (!use.group.empty()) json["group"] = use.group;
  return json;
}

WireUse WireFromJson(const Json& json) {
  WireUse use{.axis = StringOr(json, "axis"),
              .collective = StringOr(json, "collective"),
              .payload_bytes = OptionalNumber(json, "payload_bytes").value_or(0),
              .wire_bytes = OptionalNumber(json, "wire_bytes").value_or(0),
              .calls = OptionalNumber(json, "calls").value_or(1)};
  if (const Json* group = Member(json, "group"); group && group->is_array()) {
    for (const Json& id : *group) {
      if (id.is_number_integer()) use.group.push_back(id.get<int64_t>());
    }
  }
  return use;
}

}  // namespace

std::string_view Name(Pattern pattern) { return kPatterns[static_cast<size_t>(pattern)]; }

Result<Pattern> ParsePattern(std::string_view text) {
  const auto it = std::ranges::find(kPatterns, text);
  if (it == kPatterns.end()) {
    return Fail(Code::kInvalidArgument, UnknownName("access pattern", text, kPatterns));
  }
  return static_cast<Pattern>(it - kPatterns.begin());
}

double Work::hbm_bytes_by(Pattern pattern) const {
  const auto it = hbm_pattern_bytes.find(pattern);
  if (pattern != Pattern::kSequential) return it == hbm_pattern_bytes.end() ? 0 : it->second;
  double others = 0;
  for (const auto& [other, bytes] : hbm_pattern_bytes) {
    if (other != Pattern::kSequential) others += bytes;
  }
  return std::max(0.0, hbm_bytes - others);
}

void Add(Work& sum, const Work& part, double times) {
  const bool first = sum == Work{};
  for (const auto& [dtype, flops] : part.matrix_flops) sum.matrix_flops[dtype] += times * flops;
  for (const auto& [dtype, flops] : part.vector_flops) sum.vector_flops[dtype] += times * flops;
  sum.transcendentals += times * part.transcendentals;
  sum.hbm_bytes += times * part.hbm_bytes;
  sum.wire_bytes += times * part.wire_bytes;
  sum.host_bytes += times * part.host_bytes;
  sum.launches += times * part.launches;
  for (const auto& [pattern, bytes] : part.hbm_pattern_bytes) {
    sum.hbm_pattern_bytes[pattern] += times * bytes;
  }
  for (const WireUse& use : part.wire) {
    auto it = std::ranges::find_if(sum.wire, [&use](const WireUse& other) {
      return other.axis == use.axis && other.collective == use.collective &&
             other.group == use.group;
    });
    if (it == sum.wire.end()) {
      it = sum.wire.insert(
          it, {.axis = use.axis, .collective = use.collective, .calls = 0, .group = use.group});
    }
    it->payload_bytes += times * use.payload_bytes;
    it->wire_bytes += times * use.wire_bytes;
    it->calls += times * use.calls;
  }
  // A sum of which only some parts count useful flops has no such figure.
  const bool same = part.useful_flops && sum.useful_flops &&
                    part.useful_flops->convention == sum.useful_flops->convention;
  if (first && part.useful_flops) {
    sum.useful_flops = {times * part.useful_flops->value, part.useful_flops->convention};
  } else if (same) {
    sum.useful_flops->value += times * part.useful_flops->value;
  } else {
    sum.useful_flops = std::nullopt;
  }
}

double Work::total_matrix_flops() const { return Sum(matrix_flops); }
double Work::total_vector_flops() const { return Sum(vector_flops); }

Json ToJson(const Work& work) {
  Json json;
  json["flops"] = {{"matrix", FlopsToJson(work.matrix_flops)},
                   {"vector", FlopsToJson(work.vector_flops)},
                   {"transcendental", Number(work.transcendentals)}};
  json["useful_flops"] = nullptr;
  if (work.useful_flops) {
    json["useful_flops"] = {{"value", Number(work.useful_flops->value)},
                            {"convention", work.useful_flops->convention}};
  }
  json["hbm_bytes"] = Number(work.hbm_bytes);
  json["wire_bytes"] = Number(work.wire_bytes);
  json["host_bytes"] = Number(work.host_bytes);
  for (const auto& [pattern, bytes] : work.hbm_pattern_bytes) {
    json["hbm_pattern"][std::string(Name(pattern))] = Number(bytes);
  }
  for (const WireUse& use : work.wire) json["wire"].push_back(WireToJson(use));
  if (work.launches > 0) json["launches"] = Number(work.launches);
  return json;
}

Result<Work> WorkFromJson(const Json& json) {
  Work work;
  if (const Json* flops = Member(json, "flops")) {
    RL_ASSIGN(work.matrix_flops, FlopsFromJson(ObjectOr(*flops, "matrix")));
    RL_ASSIGN(work.vector_flops, FlopsFromJson(ObjectOr(*flops, "vector")));
    work.transcendentals = OptionalNumber(*flops, "transcendental").value_or(0);
  }
  if (const Json* useful = Member(json, "useful_flops")) {
    work.useful_flops =
        UsefulFlops{OptionalNumber(*useful, "value").value_or(0), StringOr(*useful, "convention")};
  }
  work.hbm_bytes = OptionalNumber(json, "hbm_bytes").value_or(0);
  work.wire_bytes = OptionalNumber(json, "wire_bytes").value_or(0);
  work.host_bytes = OptionalNumber(json, "host_bytes").value_or(0);
  const Json patterns = ObjectOr(json, "hbm_pattern");
  for (const auto& [name, bytes] : patterns.items()) {
    RL_ASSIGN(const Pattern pattern, ParsePattern(name));
    work.hbm_pattern_bytes[pattern] = bytes.is_number() ? bytes.get<double>() : 0;
  }
  if (const Json* wire = Member(json, "wire"); wire && wire->is_array()) {
    for (const Json& use : *wire) work.wire.push_back(WireFromJson(use));
  }
  work.launches = OptionalNumber(json, "launches").value_or(0);
  return work;
}

}  // namespace ridgeline
