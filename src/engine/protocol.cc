#include "engine/protocol.h"

namespace ridgeline::engine {

Json ToJson(const Job& job) {
  Json axes = Json::array();
  for (const MeshAxis& axis : job.axes) axes.push_back({{"name", axis.name}, {"size", axis.size}});
  Json cases = Json::array();
  for (const Case& c : job.cases) cases.push_back(ridgeline::ToJson(c));
  Json earlier = Json::object();
  for (const auto& [id, passes] : job.earlier) earlier[id] = ToJson(passes);
  return {{"plugin_path", job.plugin_path},
          {"plugin_name", job.plugin_name},
          {"devices", job.devices},
          {"axes", axes},
          {"seed", job.seed},
          {"cases", cases},
          {"earlier", earlier}};
}

Result<Job> JobFromJson(const Json& json) {
  Job job;
  job.plugin_path = StringOr(json, "plugin_path");
  job.plugin_name = StringOr(json, "plugin_name");
  job.devices = static_cast<int>(IntegerOr(json, "devices"));
  if (const Json* axes = Member(json, "axes")) {
    for (const Json& axis : *axes) {
      job.axes.push_back({StringOr(axis, "name"), IntegerOr(axis, "size", 1)});
    }
  }
  job.seed = static_cast<uint64_t>(IntegerOr(json, "seed", 1));
  if (const Json* cases = Member(json, "cases")) {
    for (const Json& one : *cases) {
      RL_ASSIGN(Case c, CaseFromJson(one));
      job.cases.push_back(std::move(c));
    }
  }
  const Json earlier = ObjectOr(json, "earlier");
  for (const auto& [id, passes] : earlier.items()) {
    RL_ASSIGN(EarlierPasses read, EarlierPassesFromJson(passes));
    job.earlier.emplace(id, std::move(read));
  }
  return job;
}

Json ToJson(const device::PlatformInfo& platform) {
  return {{"name", platform.name},
          {"version", platform.version},
          {"api_version",
           std::to_string(platform.api_major) + "." + std::to_string(platform.api_minor)},
          {"path", platform.plugin_path},
          {"attributes", platform.attributes}};
}

Json ToJson(const device::DeviceInfo& device) {
  Json memories = Json::array();
  for (const device::MemoryInfo& memory : device.memories) {
    memories.push_back({{"kind", memory.kind}, {"default", memory.is_default}});
  }
  return {{"id", device.id},           {"kind", device.kind},
          {"process", device.process}, {"addressable", device.addressable},
          {"coords", device.coords},   {"core", device.core},
          {"memories", memories},      {"attributes", device.attributes}};
}

Json ReadyEvent(const device::PlatformInfo& platform,
                const std::vector<device::DeviceInfo>& devices, const Mesh& mesh) {
  Json list = Json::array();
  for (const device::DeviceInfo& device : devices) list.push_back(ToJson(device));
  return {{"event", "ready"},
          {"platform", ToJson(platform)},
          {"devices", list},
          {"mesh", ridgeline::ToJson(mesh)}};
}

Json FailedEvent(const Error& error) {
  return {{"event", "failed"},
          {"code", static_cast<int>(error.code)},
          {"message", error.message},
          {"where", error.where},
          {"next", error.next}};
}

Error ErrorFromEvent(const Json& event) {
  return {static_cast<Code>(IntegerOr(event, "code", static_cast<int>(Code::kUnknown))),
          StringOr(event, "message"), StringOr(event, "where"), StringOr(event, "next")};
}

}  // namespace ridgeline::engine
