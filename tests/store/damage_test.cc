// Result files that were edited, cut, joined or written by another version: what is refused, in
// which words, and what salvaging makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "store/line.h"
#include "store/results.h"
#include "store/sample.h"

namespace ridgeline::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string FileOf(const std::vector<std::string>& ids, const Json& header = {{"seed", 1}}) {
  std::vector<Measurement> measurements;
  for (const std::string& id : ids) measurements.push_back(FullMeasurement(id));
  return FormatResults(header, measurements);
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin + 1));
    begin = end + 1;
  }
  return lines;
}

std::string Refusal(const std::string& text) {
  const auto file = ReadResults(text, "r.jsonl");
  return file ? "accepted" : file.error().ToString();
}

ResultFile Salvage(const std::string& text) {
  auto file = ReadResults(text, "r.jsonl", ReadMode::kSalvage);
  EXPECT_TRUE(file) << file.error().ToString();
  return file ? std::move(*file) : ResultFile{};
}

std::vector<std::string> Ids(const ResultFile& file) {
  std::vector<std::string> ids;
  for (const Measurement& m : file.measurements) ids.push_back(m.id);
  return ids;
}

TEST(Checksum, IsThatOfZlib) {
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926u);  // the check value of CRC-32/ISO-HDLC
  EXPECT_EQ(Crc32(""), 0u);
  EXPECT_EQ(Crc32("6789", Crc32("12345")), Crc32("123456789"));
}

TEST(Checksum, EndsALineThatIsJsonStill) {
  const SealedLine line = SealLine({{"a", 1}});
  EXPECT_EQ(line.crc, Crc32("{\"a\":1"));
  const auto opened = OpenLine(line.text);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->json, Json({{"a", 1}}));
  EXPECT_EQ(opened->seal, OpenedLine::Seal::kOurs);
  EXPECT_EQ(opened->stated, opened->actual);
  // Text that only looks like a seal is part of the value.
  const auto inner = OpenLine("{\"a\":{\"b\":1,\"crc\":\"00000000\"}}");
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->seal, OpenedLine::Seal::kNone);
}

TEST(Damage, AnyByteChangedInALineShows) {
  const std::vector<std::string> lines = LinesOf(FileOf({"a", "b"}));
  for (size_t at = 0; at + 1 < lines[1].size(); ++at) {
    std::string edited = lines[1];
    edited[at] = edited[at] == '1' ? '2' : '1';
    const auto file = ReadResults(lines[0] + edited + lines[2], "r.jsonl");
    ASSERT_FALSE(file) << edited;
    ASSERT_EQ(file.error().where, "r.jsonl:2") << edited;
    ASSERT_FALSE(file.error().next.empty());
  }
}

TEST(Damage, AnEditedLineIsRefusedAndSalvagingLeavesItOut) {
  const std::vector<std::string> lines = LinesOf(FileOf({"a", "b", "c"}));
  std::string edited = lines[2];
  edited.replace(edited.find("emulated"), 8, "ok");
  const std::string text = lines[0] + lines[1] + edited + lines[3];
  EXPECT_THAT(Refusal(text), HasSubstr("r.jsonl:3: its checksum is "));
  EXPECT_THAT(Refusal(text), HasSubstr("the line was edited or damaged"));
  EXPECT_THAT(Refusal(text), HasSubstr("--salvage"));
  const ResultFile file = Salvage(text);
  EXPECT_THAT(Ids(file), ElementsAre("a", "c"));
  EXPECT_EQ(file.dropped, 1);
  EXPECT_THAT(file.notes, ElementsAre(HasSubstr("r.jsonl:3: dropped: its checksum is"),
                                      "r.jsonl: 2 records salvaged, 1 lines dropped"));
}

TEST(Damage, ALineThatLostItsChecksumShows) {
  const std::vector<std::string> lines = LinesOf(FileOf({"a"}));
  const std::string bare = DumpLine(ToJson(FullMeasurement("a"))) + "\n";
  EXPECT_THAT(Refusal(lines[0] + bare), HasSubstr("r.jsonl:2: it has no checksum"));
  EXPECT_THAT(Refusal("{\"schema\":\"ridgeline.result/1.1\"}\n"),
              HasSubstr("r.jsonl:1: it has no"));
  // Another program wrote it anew, with blanks.
  const std::string spaced = "{ " + lines[1].substr(1);
  EXPECT_THAT(Refusal(lines[0] + spaced), HasSubstr("edited"));
  std::string moved = lines[1];
  moved.insert(moved.size() - 2, " ");
  EXPECT_THAT(Refusal(lines[0] + moved), HasSubstr("does not end the line"));
}

TEST(Damage, AnEditedHeaderIsNotUsed) {
  std::vector<std::string> lines = LinesOf(FileOf({"a"}, {{"plugin", {{"name", "cpu"}}}}));
  lines[0].replace(lines[0].find("cpu"), 3, "tpu");
  EXPECT_THAT(Refusal(lines[0] + lines[1]), HasSubstr("r.jsonl:1: its checksum"));
  const ResultFile file = Salvage(lines[0] + lines[1]);
  EXPECT_EQ(file.header, Json({{"schema", "ridgeline.result/1.1"}}));
  EXPECT_THAT(Ids(file), ElementsAre("a"));
}

TEST(Damage, TwoFilesJoinedEndAtTheSecondHeader) {
  const std::string joined = FileOf({"a", "b"}) + FileOf({"c"}, {{"seed", 2}});
  EXPECT_THAT(Refusal(joined), HasSubstr("r.jsonl:4: a second header"));
  const ResultFile file = Salvage(joined);
  EXPECT_THAT(Ids(file), ElementsAre("a", "b"));
  EXPECT_EQ(file.whole_bytes, FileOf({"a", "b"}).size());
}

// The header is gone, but the checksum of a record holds that of its header.
TEST(Damage, ALineOfAnotherFileShows) {
  const std::string foreign = LinesOf(FileOf({"c"}, {{"seed", 2}}))[1];
  EXPECT_THAT(Refusal(FileOf({"a"}) + foreign), HasSubstr("r.jsonl:3: its checksum"));
  EXPECT_THAT(Refusal(FileOf({"a"}) + foreign), HasSubstr("comes from another file"));
  EXPECT_THAT(Ids(Salvage(FileOf({"a"}) + foreign)), ElementsAre("a"));
}

TEST(Damage, TwoRecordsOfOneIdAreRefusedAndTheFirstIsSalvaged) {
  const std::vector<std::string> lines = LinesOf(FileOf({"a", "b"}));
  const std::string text = lines[0] + lines[1] + lines[2] + lines[1];
  EXPECT_THAT(Refusal(text), HasSubstr("r.jsonl:4: measures a again, as line 2 did"));
  EXPECT_THAT(Ids(Salvage(text)), ElementsAre("a", "b"));
}

TEST(Damage, ATornLineInTheMiddleIsLeftOut) {
  const std::vector<std::string> lines = LinesOf(FileOf({"a", "b", "c"}));
  const std::string text = lines[0] + lines[1] + lines[2].substr(0, 40) + lines[3];
  EXPECT_THAT(Refusal(text), HasSubstr("r.jsonl:3: not valid JSON"));
  EXPECT_THAT(Ids(Salvage(text)), ElementsAre("a"));
}

TEST(Damage, WithoutAHeaderNothingIsSalvaged) {
  const std::vector<std::string> lines = LinesOf(FileOf({"a"}));
  for (const std::string& text : {lines[1], "{\"sche\n" + lines[1], std::string()}) {
    EXPECT_FALSE(ReadResults(text, "r.jsonl", ReadMode::kSalvage)) << text;
  }
}

TEST(Damage, AWindowsLineEndIsNoDamage) {
  std::string text = FileOf({"a"});
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
    text.insert(at, "\r");
  }
  const auto file = ReadResults(text, "r.jsonl");
  ASSERT_TRUE(file) << file.error().ToString();
  EXPECT_EQ(file->measurements.size(), 1u);
}

TEST(Versions, AFileWithoutChecksumsIsReadAndThatIsSaid) {
  const std::string text =
      "{\"schema\":\"ridgeline.result/1\"}\n" + DumpLine(ToJson(FullMeasurement("a"))) + "\n";
  const auto file = ReadResults(text, "r.jsonl");
  ASSERT_TRUE(file) << file.error().ToString();
  EXPECT_THAT(Ids(*file), ElementsAre("a"));
  EXPECT_THAT(file->notes, ElementsAre(HasSubstr("2 of 2 lines have no checksum")));
}

TEST(Versions, ANewerMinorIsReadWithANoteAndWhatIsUnknownIsKept) {
  const SealedLine header = SealLine({{"schema", "ridgeline.result/1.7"}, {"of_the_future", 3}});
  Json record = ToJson(FullMeasurement("a"));
  record["of_the_future"] = {{"b", 1}};
  const auto file =
      ReadResults(header.text + "\n" + SealLine(record, header.crc).text + "\n", "r.jsonl");
  ASSERT_TRUE(file) << file.error().ToString();
  EXPECT_THAT(file->notes, ElementsAre(HasSubstr("newer ridgeline (schema ridgeline.result/1.7")));
  EXPECT_EQ(IntegerOr(file->header, "of_the_future"), 3);
  ASSERT_EQ(file->measurements.size(), 1u);
  EXPECT_EQ(ToJson(file->measurements[0]), record);
}

TEST(Versions, ANewerMajorIsRefusedEvenForSalvaging) {
  const std::string text = SealLine({{"schema", "ridgeline.result/2"}}).text + "\n";
  const auto file = ReadResults(text, "r.jsonl", ReadMode::kSalvage);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().ToString(), HasSubstr("r.jsonl:1: written by a newer ridgeline"));
}

}  // namespace
}  // namespace ridgeline::store
