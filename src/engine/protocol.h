// What the parent and the worker tell each other: one JSON object a line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/case.h"
#include "core/mesh.h"
#include "device/device.h"
#include "engine/passes.h"

namespace ridgeline::engine {

// Parent to worker, the only line.
struct Job {
  std::string plugin_path;
  std::string plugin_name;
  int devices = 0;             // asked for; 0: all that the plugin has (a CPU: its own default)
  std::vector<MeshAxis> axes;  // empty: the physical axes
  uint64_t seed = 1;
  std::vector<Case> cases;                            // empty: describe the devices only
  std::map<std::string, EarlierPasses> earlier = {};  // by id
};

Json ToJson(const Job& job);
Result<Job> JobFromJson(const Json& json);

// Worker to parent, each with a member "event":
//   ready    {platform{}, devices[], mesh{}}
//   phase    {id, phase, expected_s}
//   done     {measurement{}}
//   passed   {id, earlier{}}: one of several passes is over
//   end      {}
//   failed   {code, message, where, next}: the worker could not start
Json ReadyEvent(const device::PlatformInfo& platform,
                const std::vector<device::DeviceInfo>& devices, const Mesh& mesh);
Json FailedEvent(const Error& error);
Error ErrorFromEvent(const Json& event);

Json ToJson(const device::PlatformInfo& platform);
Json ToJson(const device::DeviceInfo& device);

}  // namespace ridgeline::engine
