#include "report/limit_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/text.h"
#include "report/expect_golden.h"
#include "report/text.h"
#include "spec/spec.h"

namespace ridgeline::report {
namespace {

std::vector<Machine> TwoMachines() {
  std::vector<Machine> machines;
  for (const char* name : {"tpu-v5e", "a100-sxm-80"}) {
    const spec::Spec* spec = spec::FindSpec(spec::EmbeddedSpecs().value(), name).value();
    machines.push_back(spec::MakeMachine(*spec, {}).value());
  }
  return machines;
}

// Made-up operations of each bound.
std::vector<JudgedWorkload> Judge(const std::vector<Machine>& machines) {
  const std::string text =
      "version: 1\nname: step \"one\"\nmesh: {x: 4}\ndtype: bf16\noperations:\n"
      "  - {name: matmul, count: 8, flops: 4e12, bytes: 2e9}\n"
      "  - {name: lookup, bytes: 3e9, pattern: gather, most_bytes: 9e9}\n"
      "  - {name: gradients, wire: [{collective: all_reduce, axis: x, payload: 1 GiB}]}\n";
  JudgedWorkload judged{.workload = workload::ReadWorkload(text, "step.yaml").value(),
                        .limits = {}};
  judged.limits.push_back(
      verdict::FindLimit(judged.workload, machines[0], verdict::Execution{.seconds = 0.3}));
  judged.limits.push_back(verdict::FindLimit(judged.workload, machines[1]));
  return {judged};
}

TEST(LimitReport, Golden) {
  const std::vector<Machine> machines = TwoMachines();
  ExpectGolden("limit_report.txt", LimitReport(machines, Judge(machines), {.width = 160}));
}

int WidestLine(const std::string& text) {
  int widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, DisplayWidth(line));
  }
  return widest;
}

TEST(LimitReport, FitsANarrowTerminal) {
  const std::vector<Machine> machines = TwoMachines();
  for (const int width : {60, 80, 120}) {
    const std::string text = LimitReport(machines, Judge(machines), {.width = width});
    EXPECT_LE(WidestLine(text), width) << text;
  }
  EXPECT_THAT(LimitReport(machines, Judge(machines), {.width = 60}),
              ::testing::HasSubstr("\n  confidence   "));
}

TEST(LimitReport, WithoutAWorkloadItSaysHowToGiveOne) {
  EXPECT_THAT(LimitReport(TwoMachines(), {}, {.width = 60}),
              ::testing::HasSubstr("--workload FILE"));
}

TEST(FoldedTable, KeepsTheFirstColumnsAndWrapsTheOthers) {
  const std::vector<std::vector<std::string>> rows = {{"hbm", "819 GB/s", "a long source of it"},
                                                      {"power", "-", ""}};
  const std::vector<std::string> header = {"figure", "value", "source"};
  EXPECT_EQ(FoldedTable(header, rows, {false, true, false}, 2, 80),
            "figure     value  source\n"
            "hbm     819 GB/s  a long source of it\n"
            "power          -\n");
  EXPECT_EQ(FoldedTable(header, rows, {false, true, false}, 2, 20),
            "figure     value\n"
            "hbm     819 GB/s\n"
            "    a long source of\n"
            "      it\n"
            "power          -\n");
}

TEST(LimitPlot, HoldsTheRoofsOfAllMachinesAndTheMeasuredPoint) {
  const std::vector<Machine> machines = TwoMachines();
  const RooflinePlot plot = LimitPlot(machines, Judge(machines));
  int bf16 = 0;
  for (const PlotRoof& roof : plot.roofs) {
    EXPECT_EQ(roof.origin, Origin::kNominal);
    bf16 += roof.kind == RoofKind::kCompute && roof.group == "bf16" ? 1 : 0;
  }
  EXPECT_EQ(bf16, 2);
  ASSERT_EQ(plot.points.size(), 2u);
  EXPECT_EQ(plot.points[0].origin, Origin::kMeasured);
  EXPECT_EQ(plot.points[0].time_s, 0.3);
  EXPECT_EQ(plot.points[0].rate, 32e12 / 0.3);
  EXPECT_EQ(plot.points[1].origin, Origin::kPredicted);
  ASSERT_EQ(plot.points[1].parts.size(), 3u);
  EXPECT_EQ(plot.points[1].intensities[0].flop_per_byte, 32e12 / 19e9);
}

// Wherever a doubtful time stands, its doubt stands beside it.
TEST(LimitReport, ADoubtIsInTheTableTheLegendAndThePictures) {
  const std::vector<Machine> machines = TwoMachines();
  std::vector<JudgedWorkload> judged = Judge(machines);
  judged[0].limits[0] = verdict::FindLimit(
      judged[0].workload, machines[0],
      verdict::Execution{
          .seconds = 0.3, .status = CaseStatus::kSuspect, .reason = "R2 is 0.9868", .labels = {}});
  EXPECT_THAT(LimitReport(machines, judged, {.width = 200}),
              ::testing::HasSubstr("300 ms, suspect"));
  const RooflinePlot plot = LimitPlot(machines, judged);
  EXPECT_EQ(plot.points[0].name, "step \"one\" (measured, suspect)");
  EXPECT_EQ(plot.points[0].note, "suspect: R2 is 0.9868");
  EXPECT_EQ(plot.points[1].note, "");
  for (const std::string& picture :
       {RooflineText(plot, {.width = 200}), RooflineSvg(plot), RooflineHtml(plot)}) {
    EXPECT_THAT(picture, ::testing::HasSubstr("R2 is 0.9868"));
  }
}

}  // namespace
}  // namespace ridgeline::report
