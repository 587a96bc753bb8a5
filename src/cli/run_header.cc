#include "cli/run_header.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "base/hash.h"
#include "base/text.h"
#include "cli/build_info.h"
#include "cli/common.h"
#include "engine/host_state.h"

namespace ridgeline::cli {
namespace {

// Variables that change what a plugin does; the user's own values, unchanged by us.
constexpr const char* kVariables[] = {
    "XLA_FLAGS",          "LIBTPU_INIT_ARGS",     "TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES",
    "TPU_SKIP_MDS_QUERY", "CUDA_VISIBLE_DEVICES", "NCCL_DEBUG",    "OMP_NUM_THREADS",
    "RIDGELINE_PLUGIN"};

std::string SuiteHash(const RunPlan& plan) {
  return fmt::format("{:016x}", Fnv1a(plan.suite_text));
}

}  // namespace

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "unknown";
  return name;
}

std::string TimeStamp() {
  return fmt::format("{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

Json MakeRunHeader(const RunPlan& plan, const RunOptions& options, const Json& ready) {
  Json environment = Json::object();
  for (const char* variable : kVariables) {
    if (const char* value = std::getenv(variable)) environment[variable] = value;
  }
  Json plugin = ToJson(plan.plugin);
  const Json platform = ObjectOr(ready, "platform");
  plugin["platform"] = StringOr(platform, "name");
  plugin["platform_version"] = StringOr(platform, "version");
  plugin["api_version"] = StringOr(platform, "api_version");
  plugin["attributes"] = ObjectOr(platform, "attributes");
  Json host = engine::DescribeHost();
  host["name"] = HostName();
  return {{"created", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"ridgeline", BuildInfo()},
          {"host", host},
          {"plugin", plugin},
          {"devices", ready.contains("devices") ? ready["devices"] : Json::array()},
          {"mesh", ObjectOr(ready, "mesh")},
          {"suite",
           {{"name", plan.suite_name},
            {"hash", SuiteHash(plan)},
            {"cases", plan.cases.size()},
            {"only", options.only},
            {"filter", options.filter}}},
          {"seed", options.seed},
          {"environment", environment}};
}

std::string ResumeConflict(const Json& header, const RunPlan& plan, const RunOptions& options) {
  const Json suite = ObjectOr(header, "suite");
  const Json plugin = ObjectOr(header, "plugin");
  if (StringOr(suite, "hash") != SuiteHash(plan)) {
    return fmt::format("it was begun with another suite ('{}')",
                       Printable(StringOr(suite, "name")));
  }
  if (StringOr(plugin, "library") != plan.plugin.library ||
      StringOr(plugin, "sha256") != plan.plugin.sha256) {
    return fmt::format("it was begun with another plugin ({})",
                       Printable(StringOr(plugin, "library")));
  }
  if (StringOr(ObjectOr(header, "host"), "name") != HostName()) {
    return fmt::format("it was begun on host '{}'",
                       Printable(StringOr(ObjectOr(header, "host"), "name")));
  }
  const Json mesh = ObjectOr(header, "mesh");
  const Json* order = Member(mesh, "order");
  if (order && order->size() != static_cast<size_t>(plan.mesh.size())) {
    return fmt::format("it was begun with {} devices, now there are {}", order->size(),
                       plan.mesh.size());
  }
  if (const auto seed = static_cast<uint64_t>(IntegerOr(header, "seed", 1)); seed != options.seed) {
    return fmt::format("it was begun with --seed {}", seed);
  }
  return "";
}

}  // namespace ridgeline::cli
