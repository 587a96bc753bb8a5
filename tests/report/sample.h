// A small run of every component, with every status that tables treat differently.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/measurement.h"

namespace ridgeline::report {

inline Json SampleHeader() {
  return {{"schema", "ridgeline.result/1"},
          {"created", "2026-11-30T15:00:00Z"},
          {"host", {{"data_cache_bytes", {32768, 1048576, 33554432}}}},
          {"plugin", {{"platform", "cpu"}, {"api_version", "0.115"}}},
          {"devices", {{{"kind", "cpu"}}, {{"kind", "cpu"}}}},
          {"mesh", {{"axes", {{"x", 2}}}}},
          {"suite", {{"name", "quick"}}}};
}

using ParamList = std::vector<std::pair<std::string, ParamValue>>;

// `amount` of `rate` an iteration of `seconds`, plus or minus 2 %.
inline Measurement MakeSample(Component component, const std::string& bench,
                              const ParamList& params, const std::string& placement,
                              const std::string& rate, double amount, double seconds) {
  Measurement m;
  m.component = component;
  m.bench = bench;
  for (const auto& [name, value] : params) m.params.Set(name, value);
  m.id = bench + "/" + m.params.Canonical() + "@" + placement;
  m.scope = placement == "all" ? Scope::kAll : Scope::kDevice;
  m.time_s = Interval{seconds, seconds * 0.98, seconds * 1.02};
  const double value = amount / seconds;
  m.rates = {{rate,
              rate.ends_with("flops") ? "FLOP/s" : "B/s",
              {value, value * 0.98, value * 1.02},
              std::nullopt}};
  m.check_status = "passed";
  return m;
}

inline Measurement Message(int64_t bytes, const std::string& group) {
  const auto size = static_cast<double>(bytes);
  Measurement m = MakeSample(Component::kNetwork, "all_reduce",
                             {{"bytes", bytes}, {"dtype", std::string("f32")}, {"group", group}},
                             "all", "busbw", size, 25e-6 + size / 2e9);
  m.rates.push_back({"algbw", "B/s", m.rates[0].value, std::nullopt});
  m.labels = {"shared memory, not a network"};
  return m;
}

inline Measurement Triad(int64_t bytes, double bandwidth) {
  const auto moved = static_cast<double>(3 * bytes);
  Measurement m =
      MakeSample(Component::kHbm, "triad", {{"bytes", bytes}, {"dtype", std::string("f32")}},
                 "device0", "hbm_bw", moved, moved / bandwidth);
  m.working_set_bytes = 3 * bytes;
  return m;
}

inline std::vector<Measurement> SampleRun() {
  constexpr int64_t kMiB = 1048576;
  std::vector<Measurement> run;
  // In the order of a run, which is random.
  for (const int64_t bytes : {int64_t{1} << 20, int64_t{4}, int64_t{65536}}) {
    run.push_back(Message(bytes, "all"));
  }
  run.back().status = CaseStatus::kSuspect;
  run.back().reason = "R2 of time against count is 0.91, under 0.99";
  const auto gemm = [&run](const std::string& dtype, const std::string& placement, double flops) {
    run.push_back(MakeSample(
        Component::kCompute, "gemm",
        {{"m", int64_t{1024}}, {"n", int64_t{1024}}, {"k", int64_t{512}}, {"dtype", dtype}},
        placement, "flops", 2.0 * 1024 * 1024 * 512, 2.0 * 1024 * 1024 * 512 / flops));
  };
  gemm("bf16", "device0", 1.17e12);
  gemm("bf16", "all", 1.21e12);
  run.back().labels = {"virtual devices: shared cores"};
  gemm("f32", "device0", 0.15e12);
  gemm("f16", "device0", 0.15e12);
  run.back().status = CaseStatus::kEmulated;
  run.back().executed_as = "f32";
  run.back().reason = "f16 is computed as f32";
  gemm("s4", "device0", 1);
  run.back().status = CaseStatus::kUnsupported;
  run.back().reason = "the plugin does not take s4";
  run.back().rates.clear();
  run.back().time_s.reset();
  run.back().check_status = "none";
  run.push_back(Triad(2 * kMiB, 88e9));
  run.push_back(Triad(64 * kMiB, 12.1e9));
  run.push_back(Triad(256 * kMiB, 12e9));
  run.push_back(Triad(kMiB / 16, 90e9));
  run.push_back(MakeSample(Component::kHost, "host_to_device",
                           {{"bytes", 16 * kMiB}, {"dtype", std::string("f32")}}, "device0",
                           "host_bw", 16.0 * kMiB, 2e-3));
  run.back().labels = {"host RAM, not a link"};
  run.push_back(MakeSample(Component::kAttention, "attention",
                           {{"heads", int64_t{8}}, {"causal", true}}, "device0", "useful_flops",
                           1e9, 0.01));
  run.back().rates.push_back({"flops", "FLOP/s", {2e11, 1.96e11, 2.04e11}, std::nullopt});
  run.push_back(run.back());
  run.back().params.Set("causal", false);
  run.back().id = "attention/causal=false,heads=8@device0";
  run.back().status = CaseStatus::kWrongResult;
  run.back().reason = "element 17 of head 3 is 0.5, expected 0.25 ± 0.01";
  run.back().check_status = "failed";
  run.back().rates.clear();
  run.back().time_s.reset();
  run.push_back(Message(16 * kMiB, "all"));
  return run;
}

}  // namespace ridgeline::report
