#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "store/results.h"
#include "store/sample.h"

namespace ridgeline::store {
namespace {

using ::testing::HasSubstr;

std::string Slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    std::string pattern = ::testing::TempDir() + "store_test_XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~StoreTest() override { std::filesystem::remove_all(directory_); }
  // A line as the writer of Lines() would append it.
  std::string Record(const Measurement& measurement) const {
    const std::vector<Measurement> one = {measurement};
    return FormatResults({{"suite", "quick"}}, one).substr(Lines(0).size());
  }
  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string Lines(int records) const {
    std::vector<Measurement> measurements;
    for (int i = 0; i < records; ++i) {
      measurements.push_back(FullMeasurement("case" + std::to_string(i)));
    }
    return FormatResults({{"suite", "quick"}}, measurements);
  }

 private:
  std::string directory_;
};

TEST_F(StoreTest, WhatIsAppendedIsReadBack) {
  auto writer = ResultWriter::Create(Path("a.jsonl"), {{"suite", "quick"}});
  ASSERT_TRUE(writer) << writer.error().ToString();
  const Measurement written = FullMeasurement();
  ASSERT_TRUE(writer->Append(written));
  // On disk before the writer is closed.
  const auto file = LoadResults(Path("a.jsonl"));
  ASSERT_TRUE(file) << file.error().ToString();
  EXPECT_EQ(StringOr(file->header, "schema"), "ridgeline.result/1.1");
  EXPECT_EQ(StringOr(file->header, "suite"), "quick");
  ASSERT_EQ(file->measurements.size(), 1u);
  EXPECT_EQ(ToJson(file->measurements[0]), ToJson(written));
  EXPECT_TRUE(file->notes.empty());
  EXPECT_TRUE(writer->Close());
}

TEST_F(StoreTest, TheCallerCannotOverrideTheSchema) {
  EXPECT_EQ(StringOr(MakeHeader({{"schema", "other/9"}}), "schema"), "ridgeline.result/1.1");
}

TEST_F(StoreTest, AHalfLastLineIsDroppedAtEveryByte) {
  const std::string text = Lines(2);
  const size_t second = Lines(1).size();
  // Cut anywhere inside the last record: the first stands, the half is named.
  for (size_t cut = second + 1; cut + 1 < text.size(); ++cut) {
    const auto file = ReadResults(std::string_view(text).substr(0, cut), "r.jsonl");
    ASSERT_TRUE(file) << cut << " " << file.error().ToString();
    ASSERT_EQ(file->measurements.size(), 1u) << cut;
    ASSERT_EQ(file->notes.size(), 1u);
    EXPECT_THAT(file->notes[0], HasSubstr("r.jsonl:3: half a line"));
    ASSERT_EQ(file->whole_bytes, second);
  }
  // Without its newline only, the record is whole.
  const auto file = ReadResults(std::string_view(text).substr(0, text.size() - 1), "r.jsonl");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->measurements.size(), 2u);
  EXPECT_FALSE(file->ends_in_newline);
}

TEST_F(StoreTest, ResumeCutsTheHalfLineAndGoesOn) {
  for (const size_t missing : {size_t{0}, size_t{1}, size_t{40}}) {
    const std::string text = Lines(2);
    std::ofstream(Path("r.jsonl")) << text.substr(0, text.size() - missing);
    {
      auto resumed = ResumeWriter(Path("r.jsonl"));
      ASSERT_TRUE(resumed) << resumed.error().ToString();
      EXPECT_EQ(resumed->file.measurements.size(), missing == 40 ? 1u : 2u);
      ASSERT_TRUE(resumed->writer.Append(FullMeasurement("case9")));
    }
    EXPECT_EQ(Slurp(Path("r.jsonl")),
              Lines(missing == 40 ? 1 : 2) + Record(FullMeasurement("case9")));
  }
}

TEST_F(StoreTest, ABadLineInTheMiddleIsNamed) {
  std::string text = Lines(2);
  text.insert(Lines(1).size(), "{\"id\": \"x\", \n");
  const auto broken = ReadResults(text, "r.jsonl");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where, "r.jsonl:3");
  EXPECT_THAT(broken.error().message, HasSubstr("not valid JSON"));

  const std::string old_header = "{\"schema\": \"ridgeline.result/1\"}\n";
  text = old_header + "{\"id\": \"x\", \"component\": \"compute\", \"status\": \"fien\"}\n";
  const auto status = ReadResults(text, "r.jsonl");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "r.jsonl:2");
  EXPECT_THAT(status.error().message, HasSubstr("unknown status 'fien'"));

  const auto huge = ReadResults(Lines(1) + "{\"id\": 1e999}\n", "r.jsonl");
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error().message, HasSubstr("out of range"));
}

TEST_F(StoreTest, OtherSchemasAreRefusedInWords) {
  const auto message = [](std::string_view text) {
    const auto file = ReadResults(text, "r.jsonl");
    return file ? "accepted" : file.error().ToString();
  };
  EXPECT_THAT(message("{\"schema\": \"ridgeline.result/2\"}\n"), HasSubstr("newer ridgeline"));
  EXPECT_THAT(message("{\"schema\": \"ridgeline.result/1x\"}\n"), HasSubstr("not a ridgeline"));
  EXPECT_THAT(message("{\"schema\": \"other/1\"}\n"), HasSubstr("not a ridgeline result file"));
  EXPECT_THAT(message("[]\n"), HasSubstr("not a ridgeline result file"));
  EXPECT_THAT(message(""), HasSubstr("empty"));
  EXPECT_THAT(message("{\"schema\": \"ridge"), HasSubstr("r.jsonl:1: not valid JSON"));
}

TEST_F(StoreTest, CreateNamesThePathAndTheReason) {
  const auto error = [](const std::string& path) {
    const auto writer = ResultWriter::Create(path, Json::object());
    return writer ? std::string("created") : writer.error().ToString();
  };
  EXPECT_THAT(error(Path("missing/r.jsonl")), HasSubstr("missing/r.jsonl: cannot create"));
  EXPECT_THAT(error(Path("missing/r.jsonl")), HasSubstr("No such file"));
  EXPECT_THAT(error(Path("")), HasSubstr("cannot create"));
  std::ofstream(Path("there.jsonl")) << "kept";
  EXPECT_THAT(error(Path("there.jsonl")), HasSubstr("File exists\n  next: go on with it"));
  EXPECT_EQ(Slurp(Path("there.jsonl")), "kept");
  // Root writes into a read-only directory; sysfs takes no file from anyone.
  std::string read_only = "/sys";
  if (geteuid() != 0) {
    read_only = Path("read_only");
    ASSERT_EQ(mkdir(read_only.c_str(), 0555), 0);
  }
  const auto refused = ResultWriter::Create(read_only + "/r.jsonl", Json::object());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kPermissionDenied);
  EXPECT_EQ(refused.error().where, read_only + "/r.jsonl");
}

TEST_F(StoreTest, AFullDiskIsAnError) {
  const auto writer = ResultWriter::Create("/dev/full", Json::object());
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, Code::kResourceExhausted);
  EXPECT_THAT(writer.error().ToString(), HasSubstr("/dev/full"));
  auto sink = ResultWriter::Create("/dev/null", Json::object());
  ASSERT_TRUE(sink) << sink.error().ToString();
  EXPECT_TRUE(sink->Append(FullMeasurement()));
}

TEST_F(StoreTest, ADiskThatFillsUpLeavesWholeLinesOnly) {
  auto writer = ResultWriter::Create(Path("r.jsonl"), {{"suite", "quick"}});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->Append(FullMeasurement("case0")));
  const auto size = static_cast<rlim_t>(std::filesystem::file_size(Path("r.jsonl")));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{size + 100, before.rlim_max};  // room for half a record
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status refused = writer->Append(FullMeasurement("case1"));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_EQ(Slurp(Path("r.jsonl")), Lines(1));
  // With room again the run goes on.
  EXPECT_TRUE(writer->Append(FullMeasurement("case1")));
  EXPECT_EQ(Slurp(Path("r.jsonl")), Lines(2));
}

TEST_F(StoreTest, ARunKilledAtItsHeaderCannotBeGoneOnWith) {
  for (const std::string_view left : {"", "{\"schema\": \"ridgel"}) {
    std::ofstream(Path("r.jsonl")) << left;
    const auto resumed = ResumeWriter(Path("r.jsonl"));
    ASSERT_FALSE(resumed) << left;
    EXPECT_THAT(resumed.error().message, HasSubstr("holds no whole header")) << left;
    EXPECT_THAT(resumed.error().next, HasSubstr("remove the file")) << left;
  }
}

TEST_F(StoreTest, TwoRunsDoNotWriteOneFile) {
  auto writer = ResultWriter::Create(Path("r.jsonl"), Json::object());
  ASSERT_TRUE(writer);
  const auto second = ResumeWriter(Path("r.jsonl"));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().ToString(), HasSubstr("another run is writing this file"));
  ASSERT_TRUE(writer->Close());
  EXPECT_TRUE(ResumeWriter(Path("r.jsonl")));
}

TEST_F(StoreTest, AClosedWriterSaysSo) {
  auto writer = ResultWriter::Create(Path("r.jsonl"), Json::object());
  ASSERT_TRUE(writer);
  ResultWriter moved = std::move(*writer);
  EXPECT_TRUE(moved.Append(FullMeasurement("case0")));
  ASSERT_TRUE(moved.Close());
  const Status late = moved.Append(FullMeasurement("case1"));
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().ToString(), HasSubstr("closed"));
}

TEST_F(StoreTest, MissingFilesAndDirectoriesAreErrors) {
  EXPECT_EQ(LoadResults(Path("none")).error().code, Code::kNotFound);
  EXPECT_THAT(LoadResults(Path("")).error().ToString(), HasSubstr("directory"));
  EXPECT_FALSE(ResumeWriter(Path("none")));
}

}  // namespace
}  // namespace ridgeline::store
