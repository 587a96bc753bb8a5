// Rooflines as pictures: what is shown, where, and that nothing in the data breaks a writer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "base/text.h"
#include "report/expect_golden.h"
#include "report/label_placement.h"
#include "report/roofline_page.h"
#include "report/roofline_plot.h"
#include "report/roofline_sample.h"
#include "report/roofline_view.h"

namespace ridgeline::report {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const RoofLine* LineOf(const RooflineView& view, std::string_view name, Origin origin) {
  for (const RoofLine& line : view.lines) {
    if (RoofName(*line.roof) == name && line.roof->origin == origin) return &line;
  }
  return nullptr;
}

std::vector<std::string> ShownNames(const RooflineView& view) {
  std::vector<std::string> names;
  for (const RoofLine& line : view.lines) {
    names.push_back(RoofName(*line.roof) + " " + std::string(Name(line.roof->origin)));
  }
  return names;
}

TEST(RooflineView, ShowsTheRoofsThatMatterForTheChoice) {
  const RooflinePlot plot = SampleRoofline();
  EXPECT_THAT(
      ShownNames(MakeView(plot, ChosenOrFirst(plot))),
      ElementsAre("bf16 matrix measured", "bf16 matrix nominal", "HBM sequential measured",
                  "HBM sequential nominal", "HBM gather measured", "x all_reduce measured",
                  "x all_reduce nominal", "PCIe to device measured", "PCIe to device nominal"));
  EXPECT_THAT(
      ShownNames(MakeView(plot, {"s8", "VMEM", "y", ""})),
      ElementsAre("s8 matrix measured", "s8 matrix nominal", "VMEM sequential measured",
                  "VMEM sequential nominal", "y all_reduce measured", "y all_reduce nominal"));
}

TEST(RooflineView, SlopesEndAtTheRidgeOfTheirOwnOrigin) {
  const RooflinePlot plot = SampleRoofline();
  const RooflineView view = MakeView(plot, ChosenOrFirst(plot));
  const RoofLine* nominal = LineOf(view, "HBM sequential", Origin::kNominal);
  ASSERT_NE(nominal, nullptr);
  EXPECT_TRUE(nominal->reaches_ridge);
  EXPECT_NEAR(nominal->x1, 197e12 / 819e9, 1e-9);  // 240.5 FLOP/byte
  EXPECT_NEAR(nominal->y1, 197e12, 1);
  EXPECT_NEAR(nominal->y0 / nominal->x0, 819e9, 1);
  const RoofLine* measured = LineOf(view, "x all_reduce", Origin::kMeasured);
  ASSERT_NE(measured, nullptr);
  EXPECT_NEAR(measured->x1, 197e12 / 90e9, 1e-9);
  EXPECT_NEAR(measured->y1, 0.92 * 197e12, 1);
  // A ceiling begins where the steepest slope meets it.
  EXPECT_NEAR(LineOf(view, "bf16 matrix", Origin::kNominal)->x0, 197e12 / 819e9, 1e-9);
}

TEST(RooflineView, NoBytesAndNoFlopAreAtTheEdges) {
  const RooflinePlot plot = SampleRoofline();
  const RooflineView view = MakeView(plot, ChosenOrFirst(plot));
  std::vector<std::string> words;
  for (const PlotMark& mark : view.marks) {
    EXPECT_TRUE(mark.x >= view.x.lo && mark.x <= view.x.hi);
    EXPECT_TRUE(mark.y >= view.y.lo && mark.y <= view.y.hi);
    if (mark.x_edge != Edge::kInside && !mark.part) words.push_back(EdgeWord(mark));
    if (mark.point->name == "registers only") {
      EXPECT_EQ(mark.x, view.x.hi);
    }
  }
  EXPECT_THAT(words, ElementsAre("no HBM bytes", "no x wire bytes", "no FLOP"));
}

TEST(RooflineView, OtherDtypesAndPointsWithoutARateAreNotDrawn) {
  const RooflinePlot plot = SampleRoofline();
  const RooflineView view = MakeView(plot, ChosenOrFirst(plot));
  EXPECT_THAT(view.other_dtype, ElementsAre(5u));
  for (const PlotMark& mark : view.marks) {
    EXPECT_NE(mark.point->name, "int8 decode");
    EXPECT_NE(mark.point->name, "not run");
  }
}

TEST(RooflineView, OneOddPointDoesNotSqueezeThePicture) {
  RooflinePlot plot = SampleRoofline();
  plot.points[0].intensities[0].flop_per_byte = 1e30;
  const RooflineView view = MakeView(plot, ChosenOrFirst(plot));
  EXPECT_LT(view.x.hi, 1e12);
  EXPECT_EQ(EdgeWord(view.marks[0]), "beyond the axis");
}

TEST(RooflineView, AnEmptyPlotHasAxes) {
  const RooflineView view = MakeView({}, {});
  EXPECT_TRUE(view.lines.empty());
  EXPECT_LT(view.x.lo, view.x.hi);
  EXPECT_LT(view.y.lo, view.y.hi);
}

TEST(LogTicks, PowersOfTenOrFiner) {
  const auto labels = [](const AxisRange& range, int most) {
    std::vector<std::string> out;
    for (const AxisTick& tick : LogTicks(range, most)) out.push_back(tick.label);
    return out;
  };
  EXPECT_THAT(labels({0.01, 2e4}, 10), ElementsAre("0.01", "0.1", "1", "10", "100", "1 k", "10 k"));
  EXPECT_THAT(labels({2e12, 50e12}, 12), ElementsAre("2 T", "5 T", "10 T", "20 T", "50 T"));
  EXPECT_THAT(labels({1, 1e12}, 5), ElementsAre("1", "1 k", "1 M", "1 G", "1 T"));
}

TEST(Placement, TurnedBoxesOverlapOnlyWhereTheyCover) {
  const TurnedBox flat{{0, 0}, 100, 10, 0};
  EXPECT_TRUE(Overlap(flat, {{30, 0}, 40, 10, 1.0}));
  EXPECT_FALSE(Overlap(flat, {{0, 10}, 100, 10, 0}));  // they touch
  // Inside the other's upright bounding box, but beside the box itself.
  const TurnedBox diagonal = BoxOfLine({0, 0}, {100, 100}, 4);
  EXPECT_FALSE(Overlap(diagonal, {{80, 20}, 20, 10, 0}));
  EXPECT_TRUE(Overlap(diagonal, {{50, 50}, 20, 10, 0}));
}

TEST(Placement, LabelsAvoidEachOtherAndLinesWhenTheyCan) {
  Placement placement({{50, 50}, 100, 100, 0});
  placement.AddSoft(BoxOfLine({0, 50}, {100, 50}, 2));
  const std::vector<TurnedBox> candidates = {
      {{95, 20}, 30, 10, 0}, {{50, 50}, 30, 10, 0}, {{50, 20}, 30, 10, 0}};
  EXPECT_EQ(placement.Place(candidates), &candidates[2]);  // outside, on the line, free
  EXPECT_EQ(placement.Place(candidates), &candidates[1]);  // on the line rather than nowhere
  EXPECT_EQ(placement.Place(candidates), nullptr);
}

TEST(RooflineText, Golden) { ExpectGolden("roofline.txt", RooflineText(SampleRoofline(), {})); }

TEST(RooflineText, NarrowAscii) {
  ExpectGolden("roofline_ascii.txt", RooflineText(SampleRoofline(), {.width = 60, .ascii = true}));
}

TEST(RooflineText, FitsEveryWidthAndPlainMeansPlain) {
  for (const int width : {40, 61, 80, 137, 250}) {
    for (const bool ascii : {false, true}) {
      const std::string text = RooflineText(HostileRoofline(), {.width = width, .ascii = ascii});
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        // Only a word that is longer than the line may stand out.
        const size_t blank = line.find(' ', line.find_first_not_of(' '));
        EXPECT_TRUE(DisplayWidth(line) <= width || blank == std::string::npos) << line;
        for (const char c : line) {
          ASSERT_FALSE(c == '\x1b' || (ascii && (c < 0x20 || c > 0x7e))) << line;
        }
      }
    }
  }
}

TEST(RooflineText, ColourAddsNothingElse) {
  const std::string plain = RooflineText(SampleRoofline(), {.width = 80});
  const std::string colored = RooflineText(SampleRoofline(), {.width = 80, .color = true});
  EXPECT_NE(plain, colored);
  const std::string stripped = std::regex_replace(colored, std::regex("\x1b\\[[0-9]*m"), "");
  EXPECT_EQ(std::regex_replace(stripped, std::regex(" +\n"), "\n"), plain);
}

TEST(RooflineSvg, Golden) {
  const std::string svg = RooflineSvg(SampleRoofline());
  ExpectGolden("roofline.svg", svg);
  EXPECT_EQ(svg, RooflineSvg(SampleRoofline()));
}

// PerfSpect#352: the axis said MB/s for GB/s values.
TEST(RooflineSvg, TickTimesUnitIsTheFigure) {
  const RooflinePlot plot = SampleRoofline();
  const RooflineView view = MakeView(plot, ChosenOrFirst(plot));
  const std::string svg = RooflineSvg(plot);
  EXPECT_THAT(svg, HasSubstr(">rate (FLOP/s)<"));
  EXPECT_THAT(svg, HasSubstr(">intensity (FLOP/byte)<"));
  // Two ticks tell where a figure lies; the nominal ceiling is drawn there.
  std::vector<std::pair<double, double>> ticks;  // y in the picture, FLOP/s
  const std::regex tick(
      "y=\"([0-9.]+)\" class=\"ytick\" text-anchor=\"end\">([0-9.]+) ?([kMGTP]?)<");
  for (std::sregex_iterator it(svg.begin(), svg.end(), tick), end; it != end; ++it) {
    static const std::map<std::string, double> kScales = {{"", 1},    {"k", 1e3},  {"M", 1e6},
                                                          {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
    ticks.emplace_back(std::stod((*it)[1]) - 4, std::stod((*it)[2]) * kScales.at((*it)[3]));
  }
  ASSERT_GE(ticks.size(), 3u);
  const double per_decade = (ticks.back().first - ticks.front().first) /
                            std::log10(ticks.back().second / ticks.front().second);
  std::smatch ceiling;
  ASSERT_TRUE(std::regex_search(svg, ceiling,
                                std::regex("y1=\"([0-9.]+)\"[^>]*class=\"roof compute nominal\"")));
  const double at = std::stod(ceiling[1]);
  const double read = ticks.front().second * std::pow(10, (at - ticks.front().first) / per_decade);
  EXPECT_NEAR(read / 197e12, 1, 2e-3);
}

// Where the labels of a picture lie, as wide as the writer took them to be.
std::vector<TurnedBox> LabelBoxes(const std::string& svg) {
  std::vector<TurnedBox> boxes;
  const std::regex label(
      "<text (?:x=\"([0-9.]+)\" y=\"([0-9.]+)\"|transform=\"translate\\(([0-9.]+) "
      "([0-9.]+)\\) rotate\\(([-0-9.]+)\\)\" y=\"4\") class=\"halo[^>]*"
      "text-anchor=\"([a-z]+)\">([^<]+)<");
  for (std::sregex_iterator it(svg.begin(), svg.end(), label), end; it != end; ++it) {
    const std::smatch& m = *it;
    const double width = DisplayWidth(m.str(7)) * 7.2;
    const double shift = m.str(6) == "start" ? width / 2 : m.str(6) == "end" ? -width / 2 : 0;
    const bool turned = m[5].matched;
    boxes.push_back({{std::stod(turned ? m.str(3) : m.str(1)) + shift,
                      turned ? std::stod(m.str(4)) : std::stod(m.str(2)) - 4},
                     width,
                     14,
                     turned ? std::stod(m.str(5)) * std::acos(-1) / 180 : 0});
  }
  return boxes;
}

TEST(RooflineSvg, NoLabelCoversAnother) {
  for (const RooflinePlot& plot : {SampleRoofline(), CrowdedRoofline()}) {
    const std::vector<TurnedBox> boxes = LabelBoxes(RooflineSvg(plot));
    EXPECT_GT(boxes.size(), plot.points.size() > 12 ? 40u : 11u);
    for (size_t i = 0; i < boxes.size(); ++i) {
      for (size_t j = 0; j < i; ++j) EXPECT_FALSE(Overlap(boxes[i], boxes[j])) << i << " " << j;
    }
  }
}

TEST(RooflineView, ManyRoofsDoNotAllShow) {
  const RooflinePlot plot = CrowdedRoofline();
  EXPECT_EQ(plot.roofs.size(), 76u);
  EXPECT_EQ(MakeView(plot, ChosenOrFirst(plot)).lines.size(), 10u);
}

TEST(RooflineSvg, StandsAloneAndEscapes) {
  const std::string svg = RooflineSvg(HostileRoofline());
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
  EXPECT_THAT(svg, Not(ContainsRegex("(inf|nan)[\" <,]")));
  EXPECT_THAT(svg, Not(ContainsRegex("href|url\\(|@import|src=")));
  EXPECT_THAT(svg, HasSubstr("&lt;/script&gt;"));
}

TEST(RooflineSvg, DrawsAnEmptyPlot) {
  EXPECT_THAT(RooflineSvg({}), HasSubstr("intensity (FLOP/byte)"));
  EXPECT_THAT(RooflineText({}, {}), HasSubstr("intensity (FLOP/byte)"));
}

TEST(RooflineJson, FiguresAreInBaseUnitsAndStrictJson) {
  const Json json = RooflineJson(SampleRoofline());
  EXPECT_EQ(json["units"]["rate"], "FLOP/s");
  EXPECT_EQ(json["roofs"][2]["rate"], 0.92 * 819e9);
  EXPECT_EQ(json["roofs"][2]["unit"], "B/s");
  EXPECT_EQ(json["roofs"][2]["text"], "753.5 GB/s");
  EXPECT_EQ(json["points"][0]["rate"], 141e12);
  EXPECT_EQ(json["points"][0]["intensities"][0]["flop_per_byte"], 812);
  EXPECT_EQ(json["points"][3]["intensities"][0]["flop_per_byte"], nullptr);
  EXPECT_EQ(json["points"][3]["intensities"][0]["edge"], "high");
  EXPECT_EQ(json["points"][4]["intensities"][0]["edge"], "low");
  EXPECT_EQ(json["points"][4]["intensities"][2]["edge"], "none");
  EXPECT_EQ(json["views"].size(), 2u * 2u * 2u);
  for (const Json& view : json["views"]) EXPECT_LT(view["x"][0], view["x"][1]);
  // Nothing that is not finite reaches a reader, whatever comes in.
  EXPECT_TRUE(ParseJson(DumpLine(RooflineJson(HostileRoofline()))));
  EXPECT_EQ(RooflineJson(HostileRoofline())["roofs"][1]["rate"], nullptr);
}

// The page without what it embeds from others: D3 and the text of its licence.
std::string OwnPart(const std::string& page) {
  std::string own;
  size_t from = 0;
  for (const std::string_view name : {"copyright", "d3.min.js"}) {
    for (const EmbeddedFile& file : RooflinePageFiles()) {
      if (file.path != name) continue;
      // The licence is escaped; its first line is enough to find it.
      const size_t at = page.find(file.text.substr(0, 40), from);
      EXPECT_NE(at, std::string::npos) << name;
      own += page.substr(from, at - from);
      from = page.find(name == "copyright" ? "</pre>" : "</script>", at);
    }
  }
  return own + page.substr(from);
}

TEST(RooflineHtml, AsksForNothingFromOutside) {
  const std::string page = RooflineHtml(SampleRoofline());
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; script-src 'unsafe-inline'; "
                              "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\""));
  const std::string own = OwnPart(page);
  EXPECT_LT(own.size(), 80000u);
  EXPECT_THAT(own,
              Not(ContainsRegex("https?://|src=|href=|@import|url\\(http|import\\(|fetch\\(")));
  EXPECT_THAT(page, HasSubstr("BSD-3-Clause"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(RooflineHtml, DataCannotBecomeMarkup) {
  const std::string page = RooflineHtml(HostileRoofline());
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("\xe2\x80\xa8")));
  EXPECT_THAT(OwnPart(page), Not(HasSubstr("innerHTML")));
  // Still the data that went in.
  const std::string open = "<script type=\"application/json\" id=\"plot\">";
  const size_t begin = page.find(open) + open.size();
  const auto json = ParseJson(page.substr(begin, page.find("</script>", begin) - begin));
  ASSERT_TRUE(json) << json.error().ToString();
  EXPECT_EQ(*json, RooflineJson(HostileRoofline()));
  EXPECT_THAT((*json)["title"].get<std::string>(), HasSubstr("</script><script>alert(1)"));
}

TEST(RooflineHtml, SamePlotSameBytes) {
  EXPECT_EQ(RooflineHtml(SampleRoofline()), RooflineHtml(SampleRoofline()));
}

}  // namespace
}  // namespace ridgeline::report
