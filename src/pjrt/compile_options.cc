#include "pjrt/compile_options.h"

#include <fmt/format.h>

#include <set>
#include <variant>

#include "compile_options.pb.h"

namespace ridgeline::pjrt {
namespace {

wire::OptionOverride ToWire(const device::OptionValue& value) {
  wire::OptionOverride result;
  if (const auto* text = std::get_if<std::string>(&value)) result.set_text(*text);
  if (const auto* flag = std::get_if<bool>(&value)) result.set_flag(*flag);
  if (const auto* integer = std::get_if<int64_t>(&value)) result.set_integer(*integer);
  if (const auto* real = std::get_if<double>(&value)) result.set_real(*real);
  return result;
}

Status CheckDevices(const device::CompileRequest& request, size_t available) {
  if (request.partitions < 1 || request.devices.size() != static_cast<size_t>(request.partitions)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} devices named for {} partitions; each partition needs one",
                            request.devices.size(), request.partitions),
                "compile options");
  }
  std::set<int> seen;
  for (int device : request.devices) {
    if (device < 0 || static_cast<size_t>(device) >= available) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("no device {}: there are {}", device, available), "compile options");
    }
    if (!seen.insert(device).second) {
      return Fail(Code::kInvalidArgument, fmt::format("device {} is named twice", device),
                  "compile options");
    }
  }
  return {};
}

}  // namespace

Result<std::string> SerializeCompileOptions(const device::CompileRequest& request,
                                            const std::vector<int>& device_ids) {
  RL_CHECK_OK(CheckDevices(request, device_ids.size()));
  wire::CompileOptions options;
  auto& build = *options.mutable_executable_build_options();
  build.set_device_ordinal(-1);
  build.set_num_replicas(1);
  build.set_num_partitions(request.partitions);
  build.set_use_spmd_partitioning(true);
  build.set_use_shardy_partitioner(request.shardy);
  auto& assignment = *build.mutable_device_assignment();
  assignment.set_replica_count(1);
  assignment.set_computation_count(request.partitions);
  for (int device : request.devices) {
    assignment.add_computation_devices()->add_device_ids(device_ids[static_cast<size_t>(device)]);
  }
  for (const auto& [name, value] : request.xla_options) {
    wire::NamedOverride& one = *options.add_env_option_overrides();
    one.set_name(name);
    *one.mutable_value() = ToWire(value);
  }
  return options.SerializeAsString();
}

}  // namespace ridgeline::pjrt
