// Cases and measurements, there and back through JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/case.h"
#include "core/measurement.h"

namespace ridgeline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Case SomeCase() {
  Case c;
  c.component = Component::kHbm;
  c.bench = "triad";
  c.params.Set("bytes", int64_t{4294967304});
  c.params.Set("dtype", std::string("f32"));
  c.placement.all = true;
  c.precision = {0.01, 4, 9, 3, 0.2, 30};
  c.data_mode = "zeros";
  c.named = true;
  return c;
}

TEST(Case, IdsAreCanonical) {
  Case c = SomeCase();
  EXPECT_EQ(c.id(), "triad/bytes=4294967304,dtype=f32@all:zeros");
  c.data_mode = "normal";
  c.placement = {.all = false, .device = 3};
  EXPECT_EQ(c.id(), "triad/bytes=4294967304,dtype=f32@device3");
}

TEST(Case, JsonThereAndBack) {
  const Case c = SomeCase();
  const Case back = CaseFromJson(ParseJson(DumpLine(ToJson(c))).value()).value();
  EXPECT_EQ(back.id(), c.id());
  EXPECT_EQ(back.component, c.component);
  EXPECT_EQ(back.precision.relative_half_width, 0.01);
  EXPECT_EQ(back.precision.max_blocks, 9);
  EXPECT_EQ(back.precision.time_limit_s, 30);
  EXPECT_TRUE(back.named);
  EXPECT_FALSE(CaseFromJson(Json{{"component", "hmb"}}).has_value());
}

Measurement SomeMeasurement() {
  Measurement m;
  m.id = "gemm \"tn\", 4096";
  m.component = Component::kCompute;
  m.bench = "gemm";
  m.params.Set("m", int64_t{4096});
  m.devices = 4;
  m.mesh = {{"axes", {{"x", 4}}}, {"group", "x"}};
  m.dtype = "f8e4m3fn";
  m.executed_as = "bf16";
  m.status = CaseStatus::kEmulated;
  m.reason = "converted";
  m.memory_kind = "pinned_host";
  m.scope = Scope::kAll;
  m.labels = {"shared cores", "µ"};
  m.time_s = Interval{1e-3, 0.9e-3, 1.1e-3};
  m.fit = Fit{{1, 2, 4}, {1e-3, 2e-3, 4e-3}, 0.9999, 5, 1e-7, {0.9e-3, 1.1e-3}};
  m.launch_s = Interval{1e-5, -1e-6, 2e-5};
  m.launch_resolved = false;
  m.compile_s = 0.25;
  m.rates = {{"flops", "FLOP/s", {1e12, 0.9e12, 1.1e12}, 0.5},
             {"hbm_bw", "B/s", {1e9, -kInfinity, kInfinity}, std::nullopt}};
  m.alpha_beta = AlphaBeta{4.55e-6, 86.3e9, std::nullopt};
  m.work.matrix_flops[DType::kF8E4M3FN] = 2e9;
  m.work.vector_flops[DType::kF32] = 3;
  m.work.transcendentals = 4;
  m.work.useful_flops = UsefulFlops{1e9, "causal half"};
  m.work.hbm_bytes = 5;
  m.work.wire_bytes = 6;
  m.work.host_bytes = 7;
  m.working_set_bytes = int64_t{3} << 32;
  m.check_status = "passed";
  m.check_detail = "all";
  m.audit = {{"note", "inner loops"}};
  m.state = {{"drift", 0.01}, {"load", nullptr}};
  m.program_hash = "0123456789abcdef";
  m.seed = (uint64_t{1} << 53) - 1;
  m.simulated = true;
  m.predicted = true;
  m.wall_s = 12;
  m.timed_s = 3;
  return m;
}

TEST(Measurement, JsonThereAndBack) {
  const Json json = ToJson(SomeMeasurement());
  const Measurement back = MeasurementFromJson(ParseJson(DumpLine(json)).value()).value();
  EXPECT_EQ(DumpLine(ToJson(back)), DumpLine(json));
  EXPECT_EQ(back.rates[1].value.hi, kInfinity);
  EXPECT_EQ(back.rates[1].value.lo, -kInfinity);
  EXPECT_FALSE(back.alpha_beta->half_size_bytes.has_value());
  EXPECT_EQ(back.work.matrix_flops.at(DType::kF8E4M3FN), 2e9);
  EXPECT_EQ(back.work.useful_flops->convention, "causal half");
}

TEST(Measurement, EveryStatusHasItsName) {
  for (const char* name : {"ok", "unconverged", "suspect", "unsupported", "emulated",
                           "not_applicable", "skipped", "failed", "wrong_result"}) {
    EXPECT_EQ(Name(ParseCaseStatus(name).value()), name);
  }
  EXPECT_FALSE(ParseCaseStatus("okay").has_value());
  EXPECT_TRUE(IsUsable(CaseStatus::kUnconverged));
  EXPECT_FALSE(IsUsable(CaseStatus::kWrongResult));
  EXPECT_FALSE(IsUsable(CaseStatus::kEmulated));
}

TEST(Measurement, G6_WhatIsNoNumberIsNullAndTheTextIsStrictJson) {
  Measurement m = SomeMeasurement();
  m.time_s = Interval{std::nan(""), -kInfinity, kInfinity};
  m.compile_s = std::nan("");
  m.rates[0].value.value = kInfinity;
  m.work.hbm_bytes = std::nan("");
  const std::string text = DumpLine(ToJson(m));
  for (const char* bad : {"nan", "NaN", "inf", "Infinity"}) {
    EXPECT_EQ(text.find(bad), std::string::npos) << bad;
  }
  const Json json = ParseJson(text).value();
  EXPECT_TRUE(json["time_s"]["value"].is_null());
  EXPECT_TRUE(json["compile_s"].is_null());
  EXPECT_TRUE(json["rates"][0]["value"].is_null());
  EXPECT_TRUE(MeasurementFromJson(json).has_value());
}

TEST(Measurement, D5_NothingMeasuredIsNullNotZero) {
  Measurement m;
  m.id = "x";
  const Json json = ToJson(m);
  for (const char* key : {"time_s", "fit", "launch_s", "compile_s", "alpha_beta", "executed_as"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  const Measurement back = MeasurementFromJson(json).value();
  EXPECT_FALSE(back.time_s.has_value());
  EXPECT_FALSE(back.compile_s.has_value());
}

// Any member may hold any type: an error or a default, never an exception.
TEST(Measurement, HostileTypesDoNotThrow) {
  const Json good = ToJson(SomeMeasurement());
  const std::vector<Json> hostile = {nullptr,
                                     true,
                                     -1,
                                     18446744073709551615u,
                                     1.5,
                                     "text",
                                     Json::array(),
                                     Json::array({1, "a", nullptr, Json::object()}),
                                     Json::object(),
                                     Json{{"value", "x"}, {"counts", 3}, {"matrix", {{"f99", 1}}}}};
  for (const auto& [key, value] : good.items()) {
    for (const Json& bad : hostile) {
      Json broken = good;
      broken[key] = bad;
      EXPECT_NO_THROW({
        const auto read = MeasurementFromJson(broken);
        if (read) ToJson(*read);
      }) << key
         << " = " << bad;
    }
  }
  for (const Json& bad : hostile) {
    EXPECT_NO_THROW((void)CaseFromJson(bad));
    EXPECT_NO_THROW((void)WorkFromJson(bad));
    EXPECT_NO_THROW((void)ParamsFromJson(bad));
    EXPECT_NO_THROW((void)MeasurementFromJson(bad));
  }
}

}  // namespace
}  // namespace ridgeline
