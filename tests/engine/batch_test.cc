// Whole cases on the scripted client: what the engine finds is known exactly.
#include "engine/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "benchmarks/benchmark.h"
#include "device/fake.h"

namespace ridgeline::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr int64_t kSize = 16;
constexpr double kLaunch = 40e-6;
constexpr double kRound = 25e-6;
constexpr double kFloor = 0.1e-6;

bool IsNullLoop(const std::string& program) {
  return program.find("dot_general") == std::string::npos;
}

double Seconds(const std::string& program, int64_t count) {
  return kLaunch + static_cast<double>(count) * (IsNullLoop(program) ? kFloor : kRound);
}

// C = A·B in f64 for the gemm program; the null loop's counter passes through.
device::TensorGrid Multiply(const std::string& program, const device::TensorRefGrid& arguments) {
  device::TensorGrid outputs;
  for (const auto& partition : arguments) {
    outputs.emplace_back();
    if (IsNullLoop(program)) {
      outputs.back().push_back(*partition.back());
      continue;
    }
    const HostTensor& a = *partition[1];
    const HostTensor& b = *partition[2];
    HostTensor c(partition[3]->shape);
    for (int64_t i = 0; i < c.shape.dims[0]; ++i) {
      for (int64_t j = 0; j < kSize; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < kSize; ++k) sum += a.at(i * kSize + k) * b.at(k * kSize + j);
        c.set(i * kSize + j, sum);
      }
    }
    outputs.back().push_back(std::move(c));
  }
  return outputs;
}

device::FakeOptions Honest() {
  device::FakeOptions options;
  options.seconds = Seconds;
  options.compute = Multiply;
  return options;
}

Case MakeCase(const std::string& bench, std::map<std::string, ParamValue> params) {
  const benchmarks::Benchmark* benchmark = benchmarks::FindBenchmark(bench).value();
  Case c;
  c.component = benchmark->component;
  c.bench = bench;
  c.params = ResolveParams(benchmark->params, params).value();
  return c;
}

Case Gemm(int64_t n = kSize) { return MakeCase("gemm", {{"m", kSize}, {"n", n}, {"k", kSize}}); }

struct Outcome {
  std::vector<Measurement> records;
  std::map<std::string, EarlierPasses> passed;
  std::vector<std::string> phases;  // "id phase"
  const Measurement& only() const { return records.at(0); }
};

Outcome Measure(device::FakeClient& client, std::vector<Case> cases,
                int64_t free_bytes = std::numeric_limits<int64_t>::max() / 4,
                std::map<std::string, EarlierPasses> earlier = {}) {
  Outcome outcome;
  Mesh mesh = MakeMesh(std::vector<DevicePlace>(client.devices().size()), {}).value();
  RunContext context;
  context.client = &client;
  context.mesh = &mesh;
  context.free_bytes = [free_bytes](int) { return free_bytes; };
  context.rest = [&client](double seconds) { client.Rest(seconds); };
  context.read_file = [](const std::string& path) -> Result<std::string> {
    return Fail(Code::kNotFound, "no such file", path);
  };
  context.phase = [&outcome](const std::string& id, Phase phase, double) {
    outcome.phases.push_back(id + " " + std::string(Name(phase)));
  };
  context.earlier = std::move(earlier);
  RunCases(
      context, std::move(cases),
      {.done = [&outcome](const Measurement& m) { outcome.records.push_back(m); },
       .passed =
           [&outcome](const EarlierPasses& p) { outcome.passed.emplace(p.measurement.id, p); }});
  return outcome;
}

const Rate& RateNamed(const Measurement& m, std::string_view name) {
  for (const Rate& rate : m.rates) {
    if (rate.name == name) return rate;
  }
  ADD_FAILURE() << "no rate " << name;
  static const Rate kNone;
  return kNone;
}

TEST(BatchTest, SlopeGivesTheRoundWithoutTheLaunch) {
  device::FakeClient client(Honest());
  const Measurement m = Measure(client, {Gemm()}).only();
  EXPECT_EQ(m.status, CaseStatus::kOk) << m.reason;
  EXPECT_EQ(m.check_status, "passed") << m.check_detail;
  EXPECT_NEAR(m.time_s->value, kRound, 1e-10);
  EXPECT_NEAR(m.launch_s->value, kLaunch, 1e-9);
  EXPECT_TRUE(m.launch_resolved);
  EXPECT_NEAR(m.fit->r2, 1, 1e-9);
  EXPECT_NEAR(m.fit->floor_s, kFloor, 1e-10);
  EXPECT_NEAR(RateNamed(m, "flops").value.value, 2.0 * kSize * kSize * kSize / kRound, 1e3);
  EXPECT_GT(m.timed_s, 0);
  EXPECT_GE(m.wall_s, m.timed_s);
}

// reports.md C3: compile time stands in its own field.
TEST(BatchTest, CompileTimeIsNeverInTheSample) {
  device::FakeOptions options = Honest();
  options.compile_seconds = 2;
  device::FakeClient client(options);
  const Measurement m = Measure(client, {Gemm()}).only();
  EXPECT_NEAR(*m.compile_s, 2, 1e-6);
  EXPECT_NEAR(m.time_s->value, kRound, 1e-10);
}

// reports.md C2: a slow way to the host does not touch the figure of the device.
TEST(BatchTest, SlowCopiesToTheHostDoNotEnterADeviceFigure) {
  device::FakeOptions options = Honest();
  options.read_bytes_per_s = 1e3;
  options.put_bytes_per_s = 1e3;
  device::FakeClient client(options);
  EXPECT_NEAR(Measure(client, {Gemm()}).only().time_s->value, kRound, 1e-10);
}

TEST(BatchTest, AWrongAnswerHasNoFigure) {
  device::FakeOptions options = Honest();
  options.corrupt = [](int, device::TensorGrid& outputs) {
    HostTensor& c = outputs[0][0];
    if (c.shape.elements() > 1) c.set(37, c.at(37) + 1);
  };
  device::FakeClient client(options);
  const Measurement m = Measure(client, {Gemm()}).only();
  EXPECT_EQ(m.status, CaseStatus::kWrongResult);
  EXPECT_EQ(m.check_status, "failed");
  EXPECT_TRUE(m.rates.empty());
  EXPECT_FALSE(m.time_s);
}

TEST(BatchTest, WhatDoesNotFitIsSkippedWithBothNumbers) {
  device::FakeClient client(Honest());
  const Outcome outcome = Measure(client, {Gemm(), Gemm(1 << 20)}, 1 << 20);
  ASSERT_EQ(outcome.records.size(), 2u);
  for (const Measurement& m : outcome.records) {
    if (m.id == Gemm().id()) {
      EXPECT_EQ(m.status, CaseStatus::kOk) << m.reason;
    } else {
      EXPECT_EQ(m.status, CaseStatus::kSkipped);
      EXPECT_THAT(m.reason, HasSubstr("needs "));
      EXPECT_THAT(m.reason, HasSubstr("1 MiB free"));
      EXPECT_FALSE(m.time_s);
    }
  }
}

TEST(BatchTest, OutOfMemoryOfThePluginIsSkippedToo) {
  device::FakeOptions options = Honest();
  options.failures = {
      {device::FakeCall::kPut, 1, {Code::kResourceExhausted, "out of memory", "", ""}}};
  device::FakeClient client(options);
  const Measurement m = Measure(client, {Gemm()}).only();
  EXPECT_EQ(m.status, CaseStatus::kSkipped);
  EXPECT_THAT(m.reason, HasSubstr("out of memory"));
}

TEST(BatchTest, WhatThePluginRefusesIsUnsupportedWithItsWords) {
  device::FakeOptions options = Honest();
  options.failures = {{device::FakeCall::kCompile,
                       1,
                       {Code::kInternal, "f8 is not supported here", "PJRT_Client_Compile", ""}}};
  device::FakeClient client(options);
  const Measurement m = Measure(client, {Gemm()}).only();
  EXPECT_EQ(m.status, CaseStatus::kUnsupported);
  EXPECT_THAT(m.reason, HasSubstr("f8 is not supported here"));
}

TEST(BatchTest, ACompilerThatBreaksIsAFailure) {
  for (const Code code : {Code::kInternal, Code::kUnknown, Code::kAborted, Code::kUnavailable,
                          Code::kFailedPrecondition, Code::kOutOfRange}) {
    device::FakeOptions options = Honest();
    options.failures = {{device::FakeCall::kCompile, 1, {code, "pass pipeline broke", "", ""}}};
    device::FakeClient client(options);
    EXPECT_EQ(Measure(client, {Gemm()}).only().status, CaseStatus::kFailed) << CodeName(code);
  }
}

TEST(BatchTest, AReasonWithoutEndIsCutInTheMiddle) {
  device::FakeOptions options = Honest();
  const std::string words = "begin " + std::string(100'000, 'x') + " end";
  options.failures = {{device::FakeCall::kRun, 2, {Code::kInternal, words, "", ""}}};
  device::FakeClient client(options);
  const Measurement m = Measure(client, {Gemm()}).only();
  EXPECT_LT(m.reason.size(), 4100u);
  EXPECT_THAT(m.reason, HasSubstr("begin xxx"));
  EXPECT_THAT(m.reason, HasSubstr("bytes in all"));
  EXPECT_TRUE(m.reason.ends_with("xxx end"));
}

// A lost device says so with these codes: neither "not applicable" nor "skipped".
TEST(BatchTest, AnErrorOfARunningPluginIsAFailure) {
  for (const Code code : {Code::kFailedPrecondition, Code::kOutOfRange, Code::kCancelled}) {
    device::FakeOptions options = Honest();
    options.failures = {{device::FakeCall::kRun, 2, {code, "device lost", "", ""}}};
    device::FakeClient client(options);
    EXPECT_EQ(Measure(client, {Gemm()}).only().status, CaseStatus::kFailed) << CodeName(code);
  }
}

TEST(BatchTest, ATextThatThePluginCannotReadIsOurFault) {
  device::FakeOptions options = Honest();
  options.failures = {
      {device::FakeCall::kCompile, 1, {Code::kInvalidArgument, "failed to parse", "", ""}}};
  device::FakeClient client(options);
  EXPECT_EQ(Measure(client, {Gemm()}).only().status, CaseStatus::kFailed);
}

TEST(BatchTest, AFailingRunEndsTheCaseAndNotTheOthers) {
  device::FakeOptions options = Honest();
  options.failures = {{device::FakeCall::kRun, 4, {Code::kInternal, "lost device", "", ""}}};
  device::FakeClient client(options);
  const Outcome outcome =
      Measure(client, {Gemm(), MakeCase("gemm", {{"m", kSize / 2}, {"n", kSize}, {"k", kSize}})});
  ASSERT_EQ(outcome.records.size(), 2u);
  int failed = 0;
  for (const Measurement& m : outcome.records) {
    if (m.status == CaseStatus::kFailed) {
      ++failed;
      EXPECT_THAT(m.reason, HasSubstr("lost device"));
      EXPECT_TRUE(m.rates.empty());
    } else {
      EXPECT_EQ(m.status, CaseStatus::kOk) << m.reason;
    }
  }
  EXPECT_EQ(failed, 1);
}

// reports.md A4: one device has no network.
TEST(BatchTest, ACollectiveOnOneDeviceDoesNotApply) {
  device::FakeClient client(Honest());
  const Measurement m = Measure(client, {MakeCase("all_reduce", {})}).only();
  EXPECT_EQ(m.status, CaseStatus::kNotApplicable);
  EXPECT_THAT(m.reason, HasSubstr("2 devices"));
  EXPECT_TRUE(m.rates.empty());
}

TEST(BatchTest, ARoundNearTheFloorSaysSo) {
  device::FakeOptions options = Honest();
  options.seconds = [](const std::string& program, int64_t count) {
    return kLaunch + static_cast<double>(count) * (IsNullLoop(program) ? 10e-6 : kRound);
  };
  device::FakeClient client(options);
  const Measurement m = Measure(client, {Gemm()}).only();
  EXPECT_THAT(m.labels, Contains(HasSubstr("loop overhead included")));
}

// Work that the compiler removed: the time does not grow with the count.
TEST(BatchTest, FlatTimeIsSuspectAndHasNoRate) {
  device::FakeOptions options = Honest();
  options.seconds = [](const std::string&, int64_t) { return kLaunch; };
  device::FakeClient client(options);
  const Measurement m = Measure(client, {Gemm()}).only();
  EXPECT_EQ(m.status, CaseStatus::kSuspect);
  EXPECT_THAT(m.reason, HasSubstr("does not grow"));
  EXPECT_TRUE(m.rates.empty());
}

// reports.md C14.
TEST(BatchTest, NoiseEndsUnconvergedInsideTheBudget) {
  device::FakeOptions options = Honest();
  options.noise = 0.2;
  device::FakeClient client(options);
  Case c = Gemm();
  c.precision.relative_half_width = 0.0001;
  const Measurement m = Measure(client, {c}).only();
  EXPECT_TRUE(m.status == CaseStatus::kUnconverged || m.status == CaseStatus::kSuspect);
  if (m.status == CaseStatus::kUnconverged) {
    EXPECT_THAT(m.reason, HasSubstr("asked ± 0.0 %"));
  }
  EXPECT_EQ(m.fit->blocks, c.precision.max_blocks);
}

// docs/adr/0009: each pass on a client of its own, which is slower or faster as a whole.
TEST(BatchTest, PassesOfSeveralWorkersAreOneMeasurement) {
  Case c = Gemm();
  c.precision = {.relative_half_width = 0.01,
                 .min_blocks = 3,
                 .max_blocks = 9,
                 .passes = 3,
                 .block_seconds = 0.01,
                 .time_limit_s = 20};
  constexpr int64_t kFree = std::numeric_limits<int64_t>::max() / 4;
  std::map<std::string, EarlierPasses> earlier;
  for (int pass = 0; pass < 3; ++pass) {
    device::FakeOptions options = Honest();
    options.compile_seconds = 1;
    options.seconds = [pass](const std::string& program, int64_t count) {
      return Seconds(program, count) * (1 + 0.1 * pass);
    };
    device::FakeClient client(options);
    const Outcome outcome = Measure(client, {c}, kFree, earlier);
    if (pass < 2) {
      EXPECT_TRUE(outcome.records.empty());
      ASSERT_TRUE(outcome.passed.contains(c.id()));
      EXPECT_EQ(outcome.passed.at(c.id()).done, pass + 1);
      earlier = outcome.passed;
      continue;
    }
    const Measurement m = outcome.only();
    EXPECT_EQ(m.status, CaseStatus::kUnconverged) << m.reason;
    EXPECT_THAT(m.reason, HasSubstr("blocks in 3 passes"));
    EXPECT_NEAR(m.time_s->value, 1.1 * kRound, 0.01 * kRound);
    // t(2) of three passes 10 % apart.
    EXPECT_NEAR(m.time_s->relative_half_width(), 4.30265 * 0.1 / std::sqrt(3.0) / 1.1, 0.01);
    ASSERT_EQ(m.fit->passes_s.size(), 3u);
    EXPECT_NEAR(m.fit->passes_s[2], 1.2 * kRound, 0.01 * kRound);
    EXPECT_EQ(m.state["passes"].size(), 3u);
    EXPECT_NEAR(*m.compile_s, 1, 1e-6);
    EXPECT_GT(m.timed_s, 2.5 * earlier.at(c.id()).measurement.timed_s / 2);
    EXPECT_GT(m.wall_s, 3);
    EXPECT_EQ(m.check_status, "passed");
  }
}

// A wrong answer in a later pass takes away the figure of the earlier ones.
TEST(BatchTest, EveryPassIsChecked) {
  Case c = Gemm();
  c.precision.passes = 2;
  constexpr int64_t kFree = std::numeric_limits<int64_t>::max() / 4;
  device::FakeClient honest(Honest());
  const Outcome first = Measure(honest, {c}, kFree);
  ASSERT_EQ(first.passed.size(), 1u);
  device::FakeOptions options = Honest();
  options.corrupt = [](int, device::TensorGrid& outputs) { outputs[0][0].set(0, 1e6); };
  device::FakeClient wrong(options);
  const Outcome second = Measure(wrong, {c}, kFree, first.passed);
  EXPECT_TRUE(second.passed.empty());
  EXPECT_EQ(second.only().status, CaseStatus::kWrongResult);
  EXPECT_FALSE(second.only().time_s.has_value());
  EXPECT_TRUE(second.only().rates.empty());
}

Case Throttled() {
  Case c = Gemm();
  c.precision = {.relative_half_width = 0.001,
                 .min_blocks = 9,
                 .max_blocks = 9,
                 .block_seconds = 0.05,
                 .time_limit_s = 20};
  return c;
}

TEST(BatchTest, C13_ADeviceThatRecoversAtRestHasTheFigureOfItsGoodBlocks) {
  device::FakeOptions options = Honest();
  options.throttle = {.busy_s = 0.3, .rest_s = 0.15, .factor = 1.35};
  device::FakeClient client(options);
  const Measurement m = Measure(client, {Throttled()}).only();
  EXPECT_EQ(m.status, CaseStatus::kOk) << m.reason;
  EXPECT_NEAR(m.time_s->value, kRound, kRound * 0.01);
  EXPECT_EQ(m.fit->blocks, 9);
  EXPECT_GT(IntegerOr(m.state, "discarded_blocks"), 0);
  EXPECT_EQ(m.state["throttled_blocks"].size(), m.state["discarded_blocks"]);
  EXPECT_EQ(m.state["block_s"].size(), 9 + m.state["discarded_blocks"].get<size_t>());
  EXPECT_THAT(m.labels, ::testing::Contains(HasSubstr("slow blocks are left out")));
}

TEST(BatchTest, C13_ADeviceThatAlwaysThrottlesIsSuspectWithBothHalves) {
  device::FakeOptions options = Honest();
  options.throttle = {.busy_s = 0.3, .rest_s = 1e9, .factor = 1.35};
  device::FakeClient client(options);
  const double start = client.Now();
  const Measurement m = Measure(client, {Throttled()}).only();
  EXPECT_EQ(m.status, CaseStatus::kSuspect);
  EXPECT_THAT(m.reason, HasSubstr("throttled: a round took 25"));
  EXPECT_THAT(m.reason, HasSubstr("(+35 %)"));
  EXPECT_THAT(m.reason, HasSubstr("did not come back after 6 rests"));
  EXPECT_LT(client.Now() - start, Throttled().precision.time_limit_s);
  EXPECT_EQ(DumpLine(ToJson(m)).find("nan"), std::string::npos);
  EXPECT_TRUE(std::isfinite(m.time_s->value) && std::isfinite(m.time_s->hi));
}

// Every run is slower than the one before: no rest helps, nothing repeats.
TEST(BatchTest, C13_ADriftWithoutEndIsSuspectInsideItsBudget) {
  device::FakeOptions options = Honest();
  options.drift_per_s = 0.3;
  device::FakeClient client(options);
  const double start = client.Now();
  const Measurement m = Measure(client, {Throttled()}).only();
  EXPECT_EQ(m.status, CaseStatus::kSuspect);
  EXPECT_THAT(m.reason, ::testing::AnyOf(HasSubstr("drift: "), HasSubstr("throttled: ")));
  EXPECT_LT(client.Now() - start, Throttled().precision.time_limit_s);
}

TEST(BatchTest, C13_AnOutlierIsFlaggedAndKept) {
  device::FakeOptions options = Honest();
  int runs = 0;
  options.seconds = [&runs](const std::string& program, int64_t count) {
    ++runs;
    const bool disturbed = runs > 40 && runs <= 46;  // one block
    return Seconds(program, count) * (disturbed ? 2 : 1);
  };
  device::FakeClient client(options);
  const Measurement m = Measure(client, {Throttled()}).only();
  EXPECT_EQ(m.fit->blocks, 9);
  ASSERT_TRUE(m.state.contains("outlier_blocks")) << DumpLine(m.state);
  EXPECT_LE(m.state["outlier_blocks"].size(), 2u);
  EXPECT_NEAR(m.time_s->value, kRound, kRound * 0.01);
}

TEST(BatchTest, BlocksOfABatchAlternate) {
  device::FakeOptions options = Honest();
  options.noise = 0.05;
  device::FakeClient client(options);
  Case a = Gemm();
  Case b = MakeCase("gemm", {{"m", kSize / 2}, {"n", kSize}, {"k", kSize}});
  for (Case* c : {&a, &b}) {
    c->precision.min_blocks = c->precision.max_blocks = 6;
  }
  const Outcome outcome = Measure(client, {a, b});
  std::vector<std::string> samples;
  for (const std::string& phase : outcome.phases) {
    if (phase.ends_with(" sample")) samples.push_back(phase);
  }
  ASSERT_EQ(samples.size(), 12u);
  // In each round of two both cases have their turn.
  for (size_t i = 0; i < samples.size(); i += 2) EXPECT_NE(samples[i], samples[i + 1]);
}

TEST(BatchTest, ComponentsKeepTheirOrderAndOneSeedGivesOneOrder) {
  const auto order = [] {
    device::FakeClient client(Honest());
    std::vector<std::string> ids;
    for (const Measurement& m :
         Measure(client, {Gemm(), MakeCase("all_reduce", {}), Gemm(kSize * 2), Gemm(kSize * 3)})
             .records) {
      ids.push_back(m.id);
    }
    return ids;
  };
  EXPECT_EQ(order(), order());
  EXPECT_THAT(order().front(), HasSubstr("all_reduce"));
}

TEST(BatchTest, AMissingFileOfAnImportedCaseIsNamed) {
  device::FakeClient client(Honest());
  const Measurement m =
      Measure(client, {MakeCase("imported", {{"file", std::string("nowhere.mlir")}})}).only();
  EXPECT_EQ(m.status, CaseStatus::kFailed);
  EXPECT_THAT(m.reason, HasSubstr("nowhere.mlir"));
}

TEST(BatchTest, HostTransfersAreTheSlopeOverBackToBackCopies) {
  device::FakeOptions options;
  options.put_bytes_per_s = 2e9;
  options.transfer_latency_s = 10e-6;
  device::FakeClient client(options);
  const Measurement m =
      Measure(client, {MakeCase("host_to_device", {{"bytes", int64_t{1 << 20}}})}).only();
  EXPECT_EQ(m.status, CaseStatus::kOk) << m.reason;
  EXPECT_EQ(m.check_status, "passed") << m.check_detail;
  EXPECT_GT(RateNamed(m, "host_bw").value.value, 1.5e9);
  EXPECT_LE(RateNamed(m, "host_bw").value.value, 2.01e9);
}

// reports.md D3: a buffer that is the host's own memory is called that, and has no bandwidth.
TEST(BatchTest, ZeroCopyHasNoBandwidth) {
  device::FakeOptions options;
  options.zero_copy_aliases = true;
  device::FakeClient client(options);
  const Measurement m =
      Measure(client, {MakeCase("host_to_device", {{"bytes", int64_t{1 << 20}},
                                                   {"semantics", std::string("zero_copy")}})})
          .only();
  EXPECT_TRUE(m.rates.empty());
  EXPECT_THAT(m.labels, Contains(HasSubstr("zero-copy")));
}

}  // namespace
}  // namespace ridgeline::engine
