#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <limits>

#include "report/expect_golden.h"
#include "report/report.h"
#include "report/sample.h"
#include "store/sample.h"

namespace ridgeline::report {
namespace {

// RFC 4180, strictly: CRLF, quotes doubled.
std::vector<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string& field = rows.back().back();
    if (quoted) {
      if (text[i] != '"') {
        field += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (text[i] == '"') {
      EXPECT_TRUE(field.empty());
      quoted = true;
    } else if (text[i] == ',') {
      rows.back().emplace_back();
    } else if (text[i] == '\r') {
      EXPECT_EQ(text[++i], '\n');
      rows.push_back({""});
    } else {
      EXPECT_NE(text[i], '\n');
      field += text[i];
    }
  }
  EXPECT_EQ(rows.back(), std::vector<std::string>{""}) << "the last line ends";
  rows.pop_back();
  return rows;
}

std::string Cell(const std::vector<std::vector<std::string>>& rows, size_t row,
                 const std::string& column) {
  const auto it = std::ranges::find(rows[0], column);
  EXPECT_NE(it, rows[0].end()) << column;
  return rows[row][static_cast<size_t>(it - rows[0].begin())];
}

TEST(Csv, G5_NamesWithCommasAndQuotesSurvive) {
  Measurement m = FullMeasurement();
  m.bench = "gemm \"tn\", 4096x4096";
  m.memory_kind = "chip, rev. 2\nsecond line";
  m.reason = "";
  const auto rows = ParseCsv(Csv(std::vector{m, FullMeasurement("b"), Measurement()}));
  ASSERT_EQ(rows.size(), 4u);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(Cell(rows, 1, "bench"), m.bench);
  EXPECT_EQ(Cell(rows, 1, "memory_kind"), m.memory_kind);
  EXPECT_EQ(Cell(rows, 1, "reason"), "");
  EXPECT_EQ(Cell(rows, 1, "time_s"), "0.002");
  EXPECT_EQ(Cell(rows, 1, "flops_of_reference"), "0.5");
  EXPECT_EQ(Cell(rows, 1, "param_k"), "4");
  EXPECT_EQ(Cell(rows, 1, "param_transpose_a"), "true");
  // Nothing measured is empty, not 0.
  EXPECT_EQ(Cell(rows, 3, "time_s"), "");
  EXPECT_EQ(Cell(rows, 3, "flops"), "");
  EXPECT_EQ(Cell(rows, 3, "param_k"), "");
}

TEST(Csv, FormulasAreDisarmedNumbersAreNot) {
  Measurement m = FullMeasurement();
  const auto bench = [&m](const std::string& text) {
    m.bench = text;
    return Cell(ParseCsv(Csv(std::span(&m, 1))), 1, "bench");
  };
  EXPECT_EQ(bench("=cmd|'/c calc'!A0"), "'=cmd|'/c calc'!A0");
  EXPECT_EQ(bench("+SUM(A1)"), "'+SUM(A1)");
  EXPECT_EQ(bench("-x"), "'-x");
  EXPECT_EQ(bench("@x"), "'@x");
  EXPECT_EQ(bench("\tx"), "'\tx");
  EXPECT_EQ(bench("-1.5e3"), "-1.5e3");
  EXPECT_EQ(bench("+2"), "+2");
  EXPECT_EQ(bench("a=b"), "a=b");
  m.params.Set("=evil", int64_t{1});
  EXPECT_EQ(Cell(ParseCsv(Csv(std::span(&m, 1))), 1, "param_=evil"), "1");
}

TEST(Csv, ColumnsAreStable) {
  const auto fixed = ParseCsv(Csv({}));
  ASSERT_EQ(fixed.size(), 1u);
  std::string columns;
  for (const std::string& column : fixed[0]) columns += column + "\n";
  ExpectGolden("columns.txt", columns);
  // Others follow the fixed ones.
  Measurement m = FullMeasurement();
  m.rates.push_back({"new_bw", "B/s", {1, 1, 1}, std::nullopt});
  const auto rows = ParseCsv(Csv(std::span(&m, 1)));
  EXPECT_EQ(rows[0].size(), fixed[0].size() + 4 + 4);
  EXPECT_EQ(Cell(rows, 1, "new_bw"), "1.0");
}

TEST(FlatJson, IsOneLevelAndStrict) {
  Measurement m = FullMeasurement();
  m.rates[0].value.hi = std::numeric_limits<double>::infinity();
  const Json list = FlatJson(std::vector{m, Measurement()});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].size(), list[1].size());
  for (const Json& object : list) {
    for (const auto& [name, value] : object.items()) EXPECT_FALSE(value.is_structured()) << name;
  }
  EXPECT_EQ(list[0]["flops"], 1e12);
  EXPECT_TRUE(list[0]["flops_hi"].is_null());
  EXPECT_TRUE(list[1]["time_s"].is_null());
  const auto again = ParseJson(DumpPretty(list));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, list);
}

TEST(Csv, G7_DecimalCommaLocalesChangeNothing) {
  const std::string before = Csv(std::vector{FullMeasurement()});
  const bool set = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  EXPECT_EQ(Csv(std::vector{FullMeasurement()}), before);
  std::setlocale(LC_ALL, "C");
  if (!set) GTEST_LOG_(INFO) << "de_DE.UTF-8 is not installed";
}

TEST(RunJson, HasTheStableNames) {
  std::vector<Measurement> run = SampleRun();
  store::ResultFile baseline;
  baseline.measurements = run;
  Derive(run, &baseline);
  const Json json = RunJson(SampleHeader(), run, &baseline);
  EXPECT_EQ(json["schema"], "ridgeline.run/1");
  EXPECT_EQ(json["header"], SampleHeader());
  EXPECT_EQ(json["measurements"].size(), run.size());
  EXPECT_EQ(json["measurements"][0], ToJson(run[0]));
  const Json& compute = json["components"]["compute"];
  EXPECT_EQ(compute["best"], run[3].id);
  EXPECT_EQ(compute["figure"]["name"], "flops");
  EXPECT_EQ(compute["score"], 1.0);
  EXPECT_EQ(compute["reference"], "baseline");
  EXPECT_EQ(compute["cases"], 5);
  EXPECT_EQ(compute["statuses"]["unsupported"], 1);
  EXPECT_EQ(compute["checks"]["passed"], 4);
}

TEST(RunJson, WithoutAReferenceTheScoreIsNull) {
  const Json json = RunJson(Json::object(), {});
  EXPECT_EQ(json["components"].size(), 5u);
  for (const auto& [name, component] : json["components"].items()) {
    EXPECT_TRUE(component["score"].is_null()) << name;
    EXPECT_TRUE(component["best"].is_null()) << name;
    EXPECT_EQ(component["reference"], "no reference") << name;
  }
}

}  // namespace
}  // namespace ridgeline::report
