#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "report/expect_golden.h"
#include "report/figures.h"
#include "report/report.h"
#include "report/sample.h"
#include "report/text.h"

namespace ridgeline::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

store::ResultFile Baseline() {
  store::ResultFile file;
  file.measurements = SampleRun();
  for (Measurement& m : file.measurements) {
    for (Rate& rate : m.rates) {
      // 10 % faster: beyond the interval and the least spread.
      for (double* value : {&rate.value.value, &rate.value.lo, &rate.value.hi}) *value *= 1.1;
    }
  }
  return file;
}

TEST(Tables, Result) {
  std::vector<Measurement> run = SampleRun();
  Derive(run, nullptr);
  ExpectGolden("result.txt", ResultTable(SampleHeader(), run, {}));
}

TEST(Tables, ResultAgainstABaselineNarrowAscii) {
  std::vector<Measurement> run = SampleRun();
  const store::ResultFile baseline = Baseline();
  Derive(run, &baseline);
  ExpectGolden("result_baseline_ascii.txt",
               ResultTable(SampleHeader(), run, {.width = 72, .ascii = true}));
}

TEST(Tables, Summary) {
  const std::vector<Measurement> run = SampleRun();
  ExpectGolden("summary.txt", SummaryTable(SampleHeader(), run, nullptr, {}));
}

TEST(Tables, SummaryAgainstABaseline) {
  std::vector<Measurement> run = SampleRun();
  const store::ResultFile baseline = Baseline();
  Derive(run, &baseline);
  ExpectGolden("summary_baseline.txt", SummaryTable(SampleHeader(), run, &baseline, {}));
}

TEST(Tables, NothingMeasured) {
  EXPECT_EQ(ResultTable(Json::object(), {}, {}), "");
  ExpectGolden("summary_empty.txt", SummaryTable(Json::object(), {}, nullptr, {}));
}

TEST(Tables, AsciiHasNoOtherBytes) {
  std::vector<Measurement> run = SampleRun();
  run[0].reason = "naïve – “quoted”";
  const std::string text = ResultTable(SampleHeader(), run, {.width = 60, .ascii = true}) +
                           SummaryTable(SampleHeader(), run, nullptr, {.ascii = true});
  for (const char c : text) ASSERT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << text;
}

TEST(Tables, ColourOnlyWhenAskedAndNotInTheText) {
  const std::vector<Measurement> run = SampleRun();
  const std::string plain = ResultTable(SampleHeader(), run, {});
  const std::string colored = ResultTable(SampleHeader(), run, {.color = true});
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  std::string stripped;
  for (size_t i = 0; i < colored.size(); ++i) {
    if (colored[i] == '\x1b') {
      i = colored.find('m', i);
    } else {
      stripped += colored[i];
    }
  }
  EXPECT_EQ(stripped, plain);
  EXPECT_THAT(colored, HasSubstr("\x1b[31mattention causal=false"));
}

// reports.md B10: neighbouring columns ran together, in scientific notation.
TEST(Tables, FiguresOfAnySizeStayApartAndPlain) {
  std::vector<Measurement> run = {Message(4, "all"), Message(8, "all")};
  run[0].rates[0].value = {3314891.033e9, 3.3e15, 3.4e15};
  run[0].rates[1].value = {0.00018, 0.00017, 0.00019};
  run[1].time_s = Interval{3e9, 2e9, 4e9};
  run[1].rates[0].value = {1e-9, 0, std::numeric_limits<double>::infinity()};
  for (const int width : {0, 40}) {
    const std::string text = ResultTable(Json::object(), run, {.width = width});
    EXPECT_THAT(text, HasSubstr(" 3314891 GB/s  "));
    EXPECT_THAT(text, Not(::testing::ContainsRegex("[0-9]e[+-]?[0-9]")));
    EXPECT_THAT(text, Not(HasSubstr("inf")));
  }
  EXPECT_THAT(ResultTable(Json::object(), run, {}), HasSubstr("  0.00018 B/s  "));
}

TEST(Tables, G2_OneFileHasOneReport) {
  const std::vector<Measurement> run = SampleRun();
  const auto report = [&run] {
    std::vector<Measurement> derived = run;
    Derive(derived, nullptr);
    return ResultTable(SampleHeader(), derived, {}) +
           SummaryTable(SampleHeader(), derived, nullptr, {}) + Csv(derived) +
           DumpLine(RunJson(SampleHeader(), derived));
  };
  const std::string first = report();
  for (int i = 0; i < 20; ++i) ASSERT_EQ(report(), first);
}

// A compiler says much: its first line stands in the table, all of it in the record.
TEST(Tables, OfAReasonWithManyLinesTheFirstIsShown) {
  std::vector<Measurement> run = SampleRun();
  run[0].status = CaseStatus::kFailed;
  run[0].reason = "compile: INTERNAL: no such op\n  at line 3\n  at line 9";
  const std::string table = ResultTable(SampleHeader(), run, {});
  EXPECT_THAT(table, HasSubstr("no such op … (2 more lines)"));
  EXPECT_THAT(table, Not(HasSubstr("\\x0a")));
  const std::string csv = Csv(run);
  EXPECT_THAT(csv, HasSubstr("at line 9"));
}

TEST(Tables, ControlCharactersDoNotReachTheTerminal) {
  std::vector<Measurement> run = {Message(4, "all"), Message(8, "\x1b[2Jx")};
  run[0].labels = {"\x1b[2J"};
  run[0].status = CaseStatus::kFailed;
  run[0].reason = "\x1b[2J";
  run[1].audit = {{"warning", "\x1b[2J"}};
  run[1].bench = "\x1b[2J";
  Json header = SampleHeader();
  header["suite"]["name"] = "\x1b[2J";
  EXPECT_THAT(ResultTable(header, run, {}), Not(HasSubstr("\x1b")));
}

TEST(Tables, RemarksThatManyCasesShareAreSaidOnce) {
  std::vector<Measurement> run;
  for (int64_t bytes = 4; bytes <= 64; bytes *= 2) run.push_back(Message(bytes, "all"));
  const std::string all = ResultTable(Json::object(), run, {});
  EXPECT_THAT(all, HasSubstr("\n  - all cases: shared memory, not a network\n"));
  run[4].labels.clear();
  const std::string four = ResultTable(Json::object(), run, {});
  EXPECT_THAT(four, HasSubstr("- all_reduce 4 B; all_reduce 8 B; and 2 more: shared memory"));
}

TEST(Tables, RemarksForTheSameCasesShareALine) {
  std::vector<Measurement> run = {Message(4, "all"), Message(8, "all")};
  run[1].labels = {"one", "two", "one"};
  run[0].labels = {"two"};
  EXPECT_THAT(ResultTable(Json::object(), run, {}),
              HasSubstr("\n  - all cases: two\n  - all_reduce 8 B: one\n"));
  run[0].labels = {"one", "two"};
  EXPECT_THAT(ResultTable(Json::object(), run, {}), HasSubstr("\n  - all cases: one; two\n"));
}

TEST(Tables, TheWidthIsThatOfTheTime) {
  std::vector<Measurement> run = {Message(4, "all")};
  run[0].time_s = Interval{1, 0.5, 1.5};
  run[0].rates[0].value = {4, 4 / 1.5, 8};
  EXPECT_THAT(ResultTable(Json::object(), run, {}), HasSubstr("±50.0 %"));
}

TEST(Text, WrapBreaksAtBlanksOnly) {
  EXPECT_EQ(Wrap("  ! one two three", 11, 4), "  ! one two\n    three\n");
  EXPECT_EQ(Wrap("  ! one two three", 0, 4), "  ! one two three\n");
  EXPECT_EQ(Wrap("averyveryverylongword x", 5, 2), "averyveryverylongword\n  x\n");
}

TEST(Text, ShortenCountsCharactersNotBytes) {
  EXPECT_EQ(Shorten("µµµµµµ", 5), "µµ…µµ");
  EXPECT_EQ(Shorten("abc", 3), "abc");
}

ComponentSummary Of(Component component, const std::vector<Measurement>& run,
                    const Json& header = SampleHeader()) {
  return Summarise(header, run)[static_cast<size_t>(component)];
}

TEST(Summarise, UnusableCasesNeverWin) {
  std::vector<Measurement> run = SampleRun();
  for (const CaseStatus status :
       {CaseStatus::kSuspect, CaseStatus::kEmulated, CaseStatus::kWrongResult, CaseStatus::kFailed,
        CaseStatus::kSkipped}) {
    run.push_back(Message(1 << 30, "all"));
    run.back().rates[0].value.value = 1e15;
    run.back().rates[0].of_reference = 9;
    run.back().status = status;
  }
  const ComponentSummary network = Of(Component::kNetwork, run);
  EXPECT_EQ(network.best->id, "all_reduce/bytes=16777216,dtype=f32,group=all@all");
  EXPECT_FALSE(network.score);
  EXPECT_EQ(network.usable(), 3);
  EXPECT_EQ(network.cases, 9);
}

TEST(Summarise, NoiseNeverWins) {
  std::vector<Measurement> run = SampleRun();
  run.push_back(Message(8, "all"));
  run.back().status = CaseStatus::kUnconverged;
  run.back().rates[0].value = {9e9, 0.1e9, 50e9};
  run.back().rates[0].of_reference = 3;
  run[0].rates[0].of_reference = 0.9;
  const ComponentSummary network = Of(Component::kNetwork, run);
  EXPECT_EQ(network.best->id, "all_reduce/bytes=16777216,dtype=f32,group=all@all");
  EXPECT_EQ(network.score, 0.9);
  // An interval without a lower end is no figure.
  run.back().rates[0].value.lo = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(Of(Component::kNetwork, run).score, 0.9);
}

TEST(Summarise, OneDeviceStandsForTheChipAllDevicesDoNot) {
  const std::vector<Measurement> run = SampleRun();
  EXPECT_EQ(Of(Component::kCompute, run).figure->value.value, 1.17e12);
  // Unless there is nothing else.
  std::vector<Measurement> whole = {run[4]};
  ASSERT_EQ(whole[0].scope, Scope::kAll);
  EXPECT_NE(Of(Component::kCompute, whole).best, nullptr);
}

TEST(Summarise, ACacheIsNotTheMemory) {
  std::vector<Measurement> run = SampleRun();
  const ComponentSummary known = Of(Component::kHbm, run);
  EXPECT_NEAR(known.figure->value.value, 12.1e9, 1);
  EXPECT_EQ(known.note, "working sets past 4 x the last cache (32 MiB)");
  // On another platform the host's caches say nothing.
  Json header = SampleHeader();
  header["plugin"]["platform"] = "tpu";
  const ComponentSummary unknown = Of(Component::kHbm, run, header);
  EXPECT_NEAR(unknown.figure->value.value, 12.1e9, 1);
  EXPECT_EQ(unknown.note, "working set 768 MiB, cache level unresolved");
  // Nothing past the cache: the figure is named by its working set.
  std::erase_if(run, [](const Measurement& m) { return m.working_set_bytes > 128 * 1048576; });
  EXPECT_EQ(Of(Component::kHbm, run).note,
            "working set 6 MiB, not past 4 x the last cache (32 MiB)");
}

TEST(Summarise, TheScoreIsTheBestShareAndNamesItsCase) {
  std::vector<Measurement> run = SampleRun();
  run[3].rates[0].of_reference = 0.5;   // bf16: the best figure
  run[5].rates[0].of_reference = 0.75;  // f32: the best share
  const ComponentSummary compute = Of(Component::kCompute, run);
  EXPECT_EQ(compute.best, &run[3]);
  EXPECT_EQ(compute.score, 0.75);
  EXPECT_EQ(compute.score_case, &run[5]);
}

TEST(Baseline, SharesComeFromTheSameCaseOnly) {
  std::vector<Measurement> run = SampleRun();
  store::ResultFile baseline = Baseline();
  baseline.measurements[3].status = CaseStatus::kFailed;
  baseline.measurements[5].id = "another";
  Derive(run, &baseline);
  ASSERT_TRUE(run[0].rates[0].of_reference);
  EXPECT_NEAR(*run[0].rates[0].of_reference, 1 / 1.1, 1e-12);
  EXPECT_FALSE(run[3].rates[0].of_reference);
  EXPECT_FALSE(run[5].rates[0].of_reference);
}

TEST(Baseline, InsideBelowAndAbove) {
  const std::vector<Measurement> run = SampleRun();
  const auto place = [&run](double factor) {
    store::ResultFile baseline;
    baseline.measurements = run;
    for (Measurement& m : baseline.measurements) {
      for (Rate& rate : m.rates) {
        for (double* value : {&rate.value.value, &rate.value.lo, &rate.value.hi}) *value *= factor;
      }
    }
    return Expectation(Of(Component::kCompute, run), &baseline);
  };
  EXPECT_EQ(place(1), "inside the expected range 1.111 TFLOP/s to 1.228 TFLOP/s of the baseline");
  EXPECT_THAT(place(1.2), ::testing::StartsWith("below the expected range"));
  EXPECT_THAT(place(0.8), ::testing::StartsWith("above the expected range"));
  EXPECT_EQ(Expectation(Of(Component::kCompute, run), nullptr),
            "no expectation for this machine yet");
}

TEST(OutcomeLine, SaysEachComponentsBestAndTheReference) {
  std::vector<Measurement> run = SampleRun();
  EXPECT_EQ(OutcomeLine(SampleHeader(), run, nullptr),
            "network 1.994 GB/s, compute 1.17 TFLOP/s, hbm 12.1 GB/s, host 8.389 GB/s, attention "
            "100 GFLOP/s; no reference");
  const store::ResultFile baseline = Baseline();
  Derive(run, &baseline);
  EXPECT_EQ(OutcomeLine(SampleHeader(), run, &baseline),
            "network 1.994 GB/s (90.9 % of baseline), compute 1.17 TFLOP/s (90.9 % of baseline), "
            "hbm 12.1 GB/s (90.9 % of baseline), host 8.389 GB/s (90.9 % of baseline), attention "
            "100 GFLOP/s (90.9 % of baseline)");
  EXPECT_EQ(OutcomeLine(SampleHeader(), {}, nullptr), "");
}

TEST(ComponentLine, SaysTheBestAndWhatIsMissing) {
  const std::vector<Measurement> run = SampleRun();
  EXPECT_EQ(ComponentLine(SampleHeader(), Component::kCompute, run, nullptr),
            "compute: best flops 1.17 TFLOP/s ±2.0 % (gemm bf16 @device0), no reference; 3 of 5 "
            "cases usable, checks: 4 passed");
  EXPECT_EQ(ComponentLine(SampleHeader(), Component::kAttention, {}, nullptr),
            "attention: no usable figure; 0 of 0 cases usable, checks: -");
}

}  // namespace
}  // namespace ridgeline::report
