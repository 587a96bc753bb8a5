// Shares of a spec in derived figures, scores and labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/figures.h"
#include "report/report.h"

namespace ridgeline::report {
namespace {

std::vector<Measurement> Gemms(double flops) {
  Measurement m;
  m.id = "gemm/a@device0";
  m.bench = "gemm";
  m.dtype = "bf16";
  m.work.matrix_flops[DType::kBF16] = 1;
  m.rates = {{"flops", "FLOP/s", {flops, flops, flops}, {}}, {"hbm_bw", "B/s", {1, 1, 1}, {}}};
  return {m};
}

Machine Spec() {
  Machine spec;
  spec.peaks[ComputeUnit::kMatrix]["bf16"] = Figure{.value = 989e12};
  return spec;
}

// reports.md B6: 700 of 989 TFLOP/s, dense, are 70.8 %.
TEST(SpecShare, B6ScoreIsTheShareOfTheSpec) {
  std::vector<Measurement> cases = Gemms(700e12);
  const Machine spec = Spec();
  Derive(cases, nullptr, &spec);
  EXPECT_NEAR(cases[0].rates[0].of_reference.value(), 0.708, 0.0005);
  EXPECT_FALSE(cases[0].rates[1].of_reference.has_value());
  EXPECT_TRUE(cases[0].labels.empty());
  const Json compute = RunJson(Json::object(), cases)["components"]["compute"];
  EXPECT_NEAR(compute["score"].get<double>(), 0.708, 0.0005);
  EXPECT_EQ(compute["reference"], "spec");
}

// reports.md B7: a figure above the spec keeps its value and is labelled.
TEST(SpecShare, B7AboveSpecIsLabelled) {
  std::vector<Measurement> cases = Gemms(1.18 * 989e12);
  const Machine spec = Spec();
  Derive(cases, nullptr, &spec);
  EXPECT_EQ(cases[0].rates[0].value.value, 1.18 * 989e12);
  EXPECT_THAT(cases[0].labels,
              testing::ElementsAre("flops above spec (118.0 %): check clock, spec and counts"));
  EXPECT_THAT(ResultTable(Json::object(), cases, {}), testing::HasSubstr("above spec (118.0 %)"));
}

// A score above the spec never stands without a mark.
TEST(SpecShare, B7C15ScoreAboveSpecIsMarked) {
  std::vector<Measurement> cases = Gemms(2.41 * 989e12);
  const Machine spec = Spec();
  Derive(cases, nullptr, &spec);
  EXPECT_EQ(cases[0].status, CaseStatus::kOk);
  const std::string marked = "241.0 % of spec, above it: see the case";
  EXPECT_THAT(SummaryTable(Json::object(), cases, nullptr, {}), testing::HasSubstr(marked));
  EXPECT_THAT(OutcomeLine(Json::object(), cases, nullptr), testing::HasSubstr(marked));
  EXPECT_EQ(RunJson(Json::object(), cases)["components"]["compute"]["above_spec"], true);
}

// The spec knows bf16 and no memory; the faster f32 case has no share of its own.
TEST(SpecShare, TheScoreNamesItsCaseAndWhatTheSpecLacks) {
  std::vector<Measurement> cases = Gemms(700e12);
  cases.push_back(Gemms(800e12)[0]);
  cases[1].id = "gemm/b@device0";
  cases[1].dtype = "f32";
  for (Measurement& m : cases) m.params.Set("dtype", m.dtype);
  Measurement triad = Gemms(1)[0];
  triad.id = "triad/a@device0";
  triad.component = Component::kHbm;
  cases.push_back(triad);
  const Machine spec = Spec();
  Derive(cases, nullptr, &spec);
  const std::string summary = SummaryTable(Json::object(), cases, nullptr, {});
  EXPECT_THAT(summary, testing::HasSubstr("70.8 % of spec by gemm bf16"));
  EXPECT_THAT(summary, testing::HasSubstr("not in the spec"));
  EXPECT_THAT(ComponentLine(Json::object(), Component::kCompute, cases, nullptr),
              testing::HasSubstr("(gemm f32), 70.8 % of spec by gemm bf16"));
  EXPECT_THAT(ComponentLine(Json::object(), Component::kHbm, cases, nullptr),
              testing::HasSubstr("not in the spec"));
}

Machine Switch() {
  Machine spec;
  NetworkAxis node;
  node.name = "node";
  node.size = 8;
  node.fabric = Fabric::kSwitch;
  node.link_bytes_per_s = Figure{.value = 450e9, .direction = Direction::kOneWay};
  spec.axes = {node};
  return spec;
}

Measurement AllReduce(double busbw) {
  Measurement m;
  m.id = "all_reduce/a@all";
  m.component = Component::kNetwork;
  m.bench = "all_reduce";
  m.devices = 8;
  m.mesh = {{"axes", {{"x", 8}}}, {"group", "all"}};
  m.params.Set("bytes", int64_t{8'000'000'000});
  m.work.wire_bytes = 1.75 * 8e9;
  m.rates = {{"busbw", "B/s", {busbw, busbw, busbw}, {}}};
  return m;
}

// reports.md A3: 479.9 GB/s on links of 450 is kept, marked and explained.
TEST(SpecShare, A3AboveTheLinkIsLabelledWithItsReason) {
  std::vector<Measurement> cases = {AllReduce(479.9e9)};
  const Machine spec = Switch();
  Derive(cases, nullptr, &spec);
  EXPECT_EQ(cases[0].rates[0].value.value, 479.9e9);
  EXPECT_THAT(cases[0].labels, testing::ElementsAre(testing::StartsWith(
                                   "busbw above spec (106.6 %): the network may reduce")));
}

// reports.md A5: 1.7e6 GB/s is kept, suspect, and neither the best figure nor a score.
TEST(SpecShare, A5ImpossibleRowsAreRefused) {
  std::vector<Measurement> cases = {AllReduce(1.7e15), AllReduce(400e9)};
  cases[1].id = "all_reduce/b@all";
  const Machine spec = Switch();
  Derive(cases, nullptr, &spec);
  EXPECT_EQ(cases[0].status, CaseStatus::kSuspect);
  EXPECT_EQ(cases[0].rates[0].value.value, 1.7e15);
  EXPECT_THAT(cases[0].reason, testing::StartsWith("busbw impossible ("));
  EXPECT_THAT(cases[0].reason, testing::HasSubstr("each process may have run alone"));
  const Json network = RunJson(Json::object(), cases)["components"]["network"];
  EXPECT_EQ(network["best"], "all_reduce/b@all");
  EXPECT_EQ(network["score_case"], "all_reduce/b@all");
  EXPECT_EQ(network["above_spec"], false);
}

TEST(SpecShare, WithoutASpecThereIsNoShare) {
  std::vector<Measurement> cases = Gemms(700e12);
  Derive(cases, nullptr, nullptr);
  EXPECT_FALSE(cases[0].rates[0].of_reference.has_value());
  cases[0].status = CaseStatus::kEmulated;
  const Machine spec = Spec();
  Derive(cases, nullptr, &spec);
  EXPECT_FALSE(cases[0].rates[0].of_reference.has_value());
}

TEST(SpecShare, ABaselineGoesBeforeTheSpec) {
  std::vector<Measurement> cases = Gemms(700e12);
  store::ResultFile baseline;
  baseline.measurements = Gemms(1400e12);
  const Machine spec = Spec();
  Derive(cases, &baseline, &spec);
  EXPECT_EQ(cases[0].rates[0].of_reference, 0.5);
}

}  // namespace
}  // namespace ridgeline::report
