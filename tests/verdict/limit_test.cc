#include "verdict/limit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec.h"

namespace ridgeline::verdict {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Machine Spec(const std::string& text) {
  const spec::Target target = spec::ParseTarget(text).value();
  const spec::Spec* spec = spec::FindSpec(spec::EmbeddedSpecs().value(), target.name).value();
  return spec::MakeMachine(*spec, target.shape).value();
}

workload::Workload Numbers(double flops, double bytes, double wire = 0) {
  workload::Numbers numbers;
  numbers.flops = flops;
  numbers.bytes = bytes;
  numbers.wire_bytes = wire;
  return workload::FromNumbers(numbers).value();
}

// The three kinds on three machines: the verdict follows from the sheet's own figures.
class ThreeKinds : public ::testing::TestWithParam<std::string> {};

TEST_P(ThreeKinds, ComputeMemoryNetwork) {
  const Machine machine = Spec(GetParam());
  const double flops_per_s = machine.PerDevice(*machine.Peak(ComputeUnit::kMatrix, "bf16"));
  const double bytes_per_s =
      machine.PerDevice(machine.Level("hbm")->bytes_per_s.at(Pattern::kSequential));
  const double wire_per_s = machine.Egress(machine.axes.front()).value();
  const auto times = [&](double compute_s, double memory_s, double network_s) {
    return Numbers(compute_s * flops_per_s, memory_s * bytes_per_s, network_s * wire_per_s);
  };

  const Limit compute = FindLimit(times(2, 1, 0.5), machine);
  EXPECT_EQ(compute.prediction.bound.label, "compute");
  EXPECT_NEAR(compute.prediction.compute_s, 2, 1e-9);
  EXPECT_NEAR(compute.prediction.bound.upper_s, 3.5, 1e-9);
  EXPECT_THAT(compute.sentence, HasSubstr("is compute-bound: 2 s (matrix bf16, nominal"));
  EXPECT_THAT(compute.sentence, HasSubstr("the next roof, memory, takes 1 s"));
  EXPECT_THAT(compute.sentence, HasSubstr("2 times less"));
  EXPECT_THAT(compute.sentence, HasSubstr("above the ridge"));

  EXPECT_EQ(FindLimit(times(1, 2, 0.5), machine).prediction.bound.label, "memory");
  EXPECT_THAT(FindLimit(times(1, 2, 0.5), machine).sentence, HasSubstr("under the ridge"));
  EXPECT_EQ(FindLimit(times(1, 0.5, 2), machine).prediction.bound.label, "network");

  const Limit balanced = FindLimit(times(1, 0.95, 0.1), machine);
  EXPECT_TRUE(balanced.prediction.bound.balanced);
  EXPECT_THAT(balanced.sentence, HasSubstr("better compute alone gains at most 5.0 %"));
  EXPECT_FALSE(
      FindLimit(times(1, 0.95, 0.1), machine, std::nullopt, 0.01).prediction.bound.balanced);
}

INSTANTIATE_TEST_SUITE_P(Specs, ThreeKinds,
                         ::testing::Values("tpu-v5e:4x4", "tpu-v5p:4x4x4", "a100-sxm-80:8"));

// The ridges of shared/facts/model.md, example 1.1, as the sentence of a verdict tells them.
TEST(Limit, RidgesAreThoseOfTheWorkedExamples) {
  struct Chip {
    const char* name;
    double flops_per_s, bytes_per_s, ridge;
  };
  for (const Chip& chip :
       {Chip{"v5e", 1.97e14, 8.1e11, 243.21}, Chip{"v5p", 4.59e14, 2.765e12, 166.004},
        Chip{"v6e", 9.2e14, 1.64e12, 560.976}, Chip{"H100", 9.9e14, 3.35e12, 295.522},
        Chip{"H200", 9.9e14, 4.8e12, 206.25}, Chip{"B200", 2.25e15, 8e12, 281.25}}) {
    Machine machine{.name = chip.name};
    machine.peaks[ComputeUnit::kMatrix]["bf16"] = Figure{.value = chip.flops_per_s};
    machine.memory.push_back({.name = "hbm"});
    machine.memory.back().bytes_per_s[Pattern::kSequential] = Figure{.value = chip.bytes_per_s};
    for (const double intensity : {0.5 * chip.ridge, 2 * chip.ridge}) {
      const std::string sentence = FindLimit(Numbers(intensity * 1e9, 1e9), machine).sentence;
      EXPECT_THAT(sentence,
                  HasSubstr(intensity < chip.ridge ? "is memory-bound" : "is compute-bound"));
      EXPECT_THAT(sentence, HasSubstr(fmt::format("the ridge at {:.4g}", chip.ridge)));
    }
  }
  // A sheet with the same figures has the same ridge.
  EXPECT_THAT(FindLimit(Numbers(1e12, 1e12), Spec("tpu-v5p")).sentence,
              HasSubstr("the ridge at 166"));
}

// reports.md C11: no bytes is compute-bound, and infinite never reaches JSON.
TEST(Limit, C11NoBytesIsComputeBoundAndNullInJson) {
  const workload::Workload w = Numbers(1e12, 0);
  const Limit limit = FindLimit(w, Spec("tpu-v5e"));
  EXPECT_EQ(limit.prediction.bound.label, "compute");
  EXPECT_THAT(limit.sentence, HasSubstr("needs nothing else"));
  const Json json = ToJson(w, limit);
  EXPECT_TRUE(json["intensity"]["hbm"].is_null());
  EXPECT_EQ(json["bound"], "compute");
  const Limit copy = FindLimit(Numbers(0, 1e9), Spec("tpu-v5e"));
  EXPECT_EQ(copy.prediction.bound.label, "memory");
  EXPECT_EQ(copy.prediction.hbm_intensity, 0);
}

// reports.md B9: a dtype without a rate is said, not given a neighbour's.
TEST(Limit, B9ADTypeWithoutARateIsALowerBound) {
  workload::Numbers numbers;
  numbers.flops = 1e12;
  numbers.bytes = 1e9;
  numbers.dtype = DType::kF64;
  const Limit limit = FindLimit(workload::FromNumbers(numbers).value(), Spec("tpu-v5e"));
  EXPECT_EQ(limit.prediction.compute_s, 0);
  EXPECT_TRUE(limit.lower_bound);
  EXPECT_THAT(limit.remarks, Contains(HasSubstr("no rate for matrix f64")));
}

TEST(Limit, AMeasuredTimeConfirmsOrNot) {
  const Machine machine = Spec("tpu-v5e");
  const workload::Workload w = Numbers(1.97e14, 8.19e11 / 2);  // 1 s and 0.5 s
  const auto sentence = [&](double seconds) {
    return FindLimit(w, machine, Execution{.seconds = seconds}).sentence;
  };
  EXPECT_THAT(sentence(1.1), HasSubstr("the bound is confirmed"));
  EXPECT_THAT(sentence(1.4), HasSubstr("the roofs overlap by"));
  EXPECT_THAT(sentence(3), HasSubstr("more than all roofs together"));
  // reports.md B8
  EXPECT_THAT(sentence(0.5), HasSubstr("the measured roof is too low, rerun"));
  EXPECT_NEAR(FindLimit(w, machine, Execution{.seconds = 1.25}).measured->confirmed.efficiency, 0.8,
              1e-9);
}

// A time that the machine's noise makes doubtful is shown with its doubt and confirms nothing.
TEST(Limit, ADoubtfulTimeIsSaidAndConfirmsNothing) {
  const workload::Workload w = Numbers(1.97e14, 8.19e11 / 2);
  const Limit limit = FindLimit(w, Spec("tpu-v5e"),
                                Execution{.seconds = 1.1,
                                          .status = CaseStatus::kSuspect,
                                          .reason = "R2 of time against count is 0.9868",
                                          .labels = {"integer inputs in [0,2)"}});
  EXPECT_THAT(limit.sentence, HasSubstr("measured 1.1 s, in doubt (suspect: R2 of time against "
                                        "count is 0.9868): 90.9 % of the compute roof"));
  EXPECT_THAT(limit.sentence, Not(HasSubstr("confirmed")));
  EXPECT_THAT(limit.remarks, Contains("of the measured time: integer inputs in [0,2)"));
  const Json json = ToJson(w, limit);
  EXPECT_EQ(json["measured_s"], 1.1);
  EXPECT_EQ(json["measured_status"], "suspect");
  EXPECT_EQ(json["measured_doubt"], "suspect: R2 of time against count is 0.9868");
  EXPECT_TRUE(json["not_measured"].is_null());
}

TEST(Limit, WhatCouldNotBeTimedKeepsItsPrediction) {
  const workload::Workload w = Numbers(1.97e14, 8.19e11 / 2);
  const Limit limit =
      FindLimit(w, Spec("tpu-v5e"),
                Execution{.status = CaseStatus::kUnsupported, .reason = "dynamic shapes"});
  EXPECT_EQ(limit.prediction.bound.label, "compute");
  EXPECT_FALSE(limit.measured);
  EXPECT_THAT(limit.remarks, Contains("not measured: unsupported: dynamic shapes"));
  const Json json = ToJson(w, limit);
  EXPECT_TRUE(json["measured_s"].is_null());
  EXPECT_TRUE(json["measured_status"].is_null());
  EXPECT_EQ(json["not_measured"], "unsupported: dynamic shapes");
}

TEST(Limit, TrafficThatMayNotBeFusedWidensTheMemoryTime) {
  workload::Workload w = Numbers(1.97e14, 8.19e11 / 2);
  w.operations[0].most_hbm_bytes = 2 * 8.19e11;
  const Limit limit = FindLimit(w, Spec("tpu-v5e"));
  EXPECT_EQ(limit.prediction.bound.label, "compute");
  EXPECT_NEAR(*limit.most_memory_s, 2, 1e-9);
  EXPECT_THAT(limit.remarks, Contains(HasSubstr("with nothing fused, memory would take 2 s")));
}

TEST(Limit, OperationsComeLongestFirstAndAddUp) {
  const std::string text =
      "version: 1\ndtype: bf16\noperations:\n"
      "  - {name: small, flops: 1.97e12, bytes: 1}\n"
      "  - {name: large, count: 3, flops: 1.97e14, bytes: 1}\n";
  const workload::Workload w = workload::ReadWorkload(text, "w.yaml").value();
  const Limit limit = FindLimit(w, Spec("tpu-v5e"));
  ASSERT_EQ(limit.operations.size(), 2u);
  EXPECT_EQ(limit.operations[0].name, "large");
  EXPECT_NEAR(limit.operations[0].prediction.compute_s, 3, 1e-9);
  EXPECT_NEAR(limit.prediction.compute_s, 3.01, 1e-9);
}

TEST(Limit, WhatDoesNotGoTogetherIsSaid) {
  workload::Workload w = workload::ReadWorkload(
                             "version: 1\nmesh: {x: 8}\nwire: [{collective: all_reduce, axis: x, "
                             "payload: 1 MiB}]\n",
                             "w.yaml")
                             .value();
  w.memory_bytes = 1e15;
  const Limit limit = FindLimit(w, Spec("tpu-v5e:4x4"));
  EXPECT_THAT(limit.remarks, Contains("axis x has 8 devices in the workload and 4 on the machine"));
  EXPECT_THAT(limit.remarks, Contains(HasSubstr("does not fit")));
  w.uncounted = {"custom call \"mystery\""};
  EXPECT_THAT(FindLimit(w, Spec("tpu-v5e:4x4")).remarks,
              Contains(HasSubstr("not counted: custom call")));
}

}  // namespace
}  // namespace ridgeline::verdict
