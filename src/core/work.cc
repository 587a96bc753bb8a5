#include "core/work.h"

namespace ridgeline {
namespace {

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

}  // namespace

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
  return work;
}

}  // namespace ridgeline
