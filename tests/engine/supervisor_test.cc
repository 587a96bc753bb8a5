// The supervisor against workers that are shell scripts: they crash, hang and babble as told.
#include "engine/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ridgeline::engine {
namespace {

using ::testing::HasSubstr;

Case Numbered(int n) {
  Case c;
  c.component = Component::kCompute;
  c.bench = "gemm";
  c.params.Set("m", int64_t{n});
  return c;
}

std::string DoneLine(const Case& c) {
  Measurement m;
  m.id = c.id();
  m.component = c.component;
  m.bench = c.bench;
  m.params = c.params;
  return DumpLine({{"event", "done"}, {"measurement", ToJson(m)}});
}

std::string PhaseLine(const Case& c, std::string_view phase) {
  return DumpLine({{"event", "phase"}, {"id", c.id()}, {"phase", phase}, {"expected_s", 0}});
}

class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/ridgeline-supervisor-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string Say(const std::string& line) { return "echo '" + line + "' >&3\n"; }

  // `first` is what the first worker does after `ready`, `later` what the others do.
  Result<SuperviseResult> Execute(const std::vector<Case>& cases, const std::string& first,
                                  const std::string& later, SuperviseOptions options = {}) {
    const std::string marker = folder_ + "/started";
    const std::string script = "cat > " + folder_ + "/job\n" + Say(R"({"event":"ready"})") +
                               "if [ ! -e " + marker + " ]; then touch " + marker + "\n" + first +
                               "else\n:\n" + later + "fi\n";
    options.worker_command = {"/bin/bash", "-c", script};
    return Supervise({.plugin_path = "none",
                      .plugin_name = "none",
                      .devices = 0,
                      .axes = {},
                      .seed = 1,
                      .cases = cases},
                     options,
                     {.ready = [this](const Json&) -> Status {
                        ++readies_;
                        return {};
                      },
                      .phase = [](const std::string&, std::string_view) {},
                      .done = [this](Measurement m) -> Status {
                        records_.push_back(std::move(m));
                        return {};
                      },
                      .tick = {}});
  }

  std::string folder_;
  std::vector<Measurement> records_;
  int readies_ = 0;
};

TEST_F(SupervisorTest, EveryCaseEndsOnce) {
  const auto result = Execute(
      {Numbered(1), Numbered(2)},
      Say(DoneLine(Numbered(1))) + Say(DoneLine(Numbered(2))) + Say(R"({"event":"end"})"), "");
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(records_.size(), 2u);
  EXPECT_EQ(result->restarts, 0);
  EXPECT_TRUE(result->not_run.empty());
}

TEST_F(SupervisorTest, ACrashCostsTheCaseThatItHit) {
  const auto result = Execute({Numbered(1), Numbered(2), Numbered(3)},
                              Say(DoneLine(Numbered(1))) + Say(PhaseLine(Numbered(2), "sample")) +
                                  "echo 'F0000 check failed' >&2\nkill -SEGV $$\n",
                              Say(DoneLine(Numbered(3))) + Say(R"({"event":"end"})"));
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_EQ(records_.size(), 3u);
  EXPECT_EQ(records_[1].id, Numbered(2).id());
  EXPECT_EQ(records_[1].status, CaseStatus::kFailed);
  EXPECT_THAT(records_[1].reason, HasSubstr("phase 'sample'"));
  EXPECT_THAT(records_[1].reason, HasSubstr("signal 11"));
  EXPECT_THAT(records_[1].reason, HasSubstr("F0000 check failed"));
  EXPECT_EQ(records_[2].status, CaseStatus::kOk);
  EXPECT_EQ(result->restarts, 1);
  EXPECT_EQ(readies_, 1) << "the header is written once";
}

TEST_F(SupervisorTest, TheNewWorkerGetsOnlyWhatIsLeft) {
  const auto result =
      Execute({Numbered(1), Numbered(2), Numbered(3)},
              Say(DoneLine(Numbered(1))) + Say(PhaseLine(Numbered(2), "compile")) + "exit 1\n",
              Say(DoneLine(Numbered(3))) + Say(R"({"event":"end"})"));
  ASSERT_TRUE(result);
  std::ifstream file(folder_ + "/job");
  std::string line;
  std::getline(file, line);
  const Result<Job> job = JobFromJson(ParseJson(line).value());
  ASSERT_TRUE(job);
  ASSERT_EQ(job->cases.size(), 1u);
  EXPECT_EQ(job->cases[0].id(), Numbered(3).id());
}

TEST_F(SupervisorTest, AHangIsKilledAndNamed) {
  SuperviseOptions options;
  options.hang_timeout_s = 0.5;
  const auto result =
      Execute({Numbered(1), Numbered(2)}, Say(PhaseLine(Numbered(1), "sample")) + "sleep 600\n",
              Say(DoneLine(Numbered(2))) + Say(R"({"event":"end"})"), options);
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_EQ(records_.size(), 2u);
  EXPECT_EQ(records_[0].status, CaseStatus::kFailed);
  EXPECT_THAT(records_[0].reason, HasSubstr("no sign of life in phase 'sample'"));
  EXPECT_THAT(records_[0].reason, HasSubstr("--hang-timeout"));
}

TEST_F(SupervisorTest, AWorkerThatDiesAtOnceTwiceEndsTheRun) {
  const auto result = Execute({Numbered(1)}, "exit 3\n", "exit 3\n");
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_TRUE(result->stopped);
  EXPECT_EQ(result->stopped->code, Code::kUnavailable);
  EXPECT_THAT(result->stopped->message, HasSubstr("exit code 3"));
  EXPECT_EQ(result->not_run.size(), 1u);
  EXPECT_TRUE(records_.empty());
}

TEST_F(SupervisorTest, APluginLostLaterKeepsWhatIsDone) {
  const Case one = Numbered(1);
  const auto result = Execute(
      {one, Numbered(2)}, Say(DoneLine(one)) + "exit 3\n",
      Say(R"({"event":"failed","code":13,"message":"no device","where":"PJRT_Client_Create"})"));
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(records_.size(), 1u);
  EXPECT_EQ(result->not_run.size(), 1u);
  ASSERT_TRUE(result->stopped);
  // Not a bug of ours, whatever code the plugin gave.
  EXPECT_EQ(result->stopped->code, Code::kUnavailable);
  EXPECT_EQ(result->stopped->message, "no device");
}

// Records of one file stand for one set of devices.
TEST_F(SupervisorTest, OtherDevicesAfterARestartEndTheRun) {
  const Case one = Numbered(1);
  const auto result = Execute({one, Numbered(2)}, Say(DoneLine(one)) + "exit 3\n",
                              Say(R"({"event":"ready","mesh":{"order":[0]}})"));
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_TRUE(result->stopped);
  EXPECT_THAT(result->stopped->message, HasSubstr("devices have changed during the run"));
  EXPECT_EQ(records_.size(), 1u);
}

// A child that the plugin left behind holds the pipe open; the death is seen all the same.
TEST_F(SupervisorTest, ADeathIsSeenBehindAChildThatHoldsThePipe) {
  const Case one = Numbered(1);
  const auto result =
      Execute({one, Numbered(2)}, Say(PhaseLine(one, "sample")) + "sleep 1000 &\nkill -9 $$\n",
              Say(DoneLine(Numbered(2))) + Say(R"({"event":"end"})"));
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_EQ(records_.size(), 2u);
  EXPECT_THAT(records_[0].reason, HasSubstr("signal 9"));
}

// As `ridgeline devices` asks: no case, only who is there.
TEST_F(SupervisorTest, AWorkerThatDiesBeforeItIsReadyIsAnErrorWithoutCasesToo) {
  SuperviseOptions options;
  options.worker_command = {"/bin/bash", "-c", "kill -6 $$"};
  const auto result = Supervise({}, options, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kUnavailable);
  EXPECT_THAT(result.error().message, HasSubstr("signal 6"));
}

// Whatever kept the plugin from opening: it is unusable here, in its own words.
TEST_F(SupervisorTest, FailureToStartKeepsThePluginsWords) {
  SuperviseOptions options;
  options.worker_command = {
      "/bin/bash", "-c",
      Say(R"({"event":"failed","code":3,"message":"no device","where":"PJRT_Client_Create"})")};
  const auto result = Supervise({}, options, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kUnavailable);
  EXPECT_EQ(result.error().message, "no device");
  EXPECT_EQ(result.error().where, "PJRT_Client_Create");
}

TEST_F(SupervisorTest, APluginThatNeverOpensIsGivenUp) {
  SuperviseOptions options;
  options.start_timeout_s = 0.5;
  options.worker_command = {"/bin/sleep", "600"};
  const auto result = Supervise({}, options, {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("did not open its devices within"));
}

TEST_F(SupervisorTest, BabbleOfThePluginIsIgnored) {
  const auto result = Execute({Numbered(1)},
                              "echo 'not json' >&3\necho '{\"event\":' >&3\n" +
                                  Say(DoneLine(Numbered(1))) + Say(R"({"event":"end"})"),
                              "");
  ASSERT_TRUE(result);
  EXPECT_EQ(records_.size(), 1u);
}

TEST_F(SupervisorTest, TheTimeLimitLeavesTheRestNotRun) {
  SuperviseOptions options;
  options.time_limit_s = 0.7;
  const auto result =
      Execute({Numbered(1), Numbered(2)},
              Say(DoneLine(Numbered(1))) + Say(PhaseLine(Numbered(2), "sample")) + "sleep 600\n",
              "", options);
  ASSERT_TRUE(result);
  EXPECT_EQ(records_.size(), 1u);
  ASSERT_EQ(result->not_run.size(), 1u);
  EXPECT_EQ(result->not_run[0].id(), Numbered(2).id());
  EXPECT_FALSE(result->interrupted);
}

TEST_F(SupervisorTest, AnInterruptionKeepsWhatIsDone) {
  const std::atomic<bool> interrupted = true;
  SuperviseOptions options;
  options.interrupted = &interrupted;
  const auto result = Execute({Numbered(1)}, "sleep 600\n", "", options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->not_run.size(), 1u);
}

std::string PassedLine(const Case& c, int done) {
  EarlierPasses earlier{
      .done = done, .base = 3, .samples = {}, .doubts = {}, .labels = {}, .measurement = {}};
  earlier.measurement.id = c.id();
  earlier.measurement.component = c.component;
  earlier.measurement.time_s = Interval{1, 0.9, 1.1};
  return DumpLine({{"event", "passed"}, {"id", c.id()}, {"earlier", ToJson(earlier)}});
}

Case InPasses(int n, int passes) {
  Case c = Numbered(n);
  c.precision.passes = passes;
  return c;
}

// The second worker gets what the first measured; a case without passes left is not run again.
TEST_F(SupervisorTest, TheNextWorkerGoesOnWithAPass) {
  const Case one = InPasses(1, 2);
  const Case two = InPasses(2, 2);
  const auto result =
      Execute({one, two}, Say(PassedLine(one, 1)) + Say(DoneLine(two)) + Say(R"({"event":"end"})"),
              Say(DoneLine(one)) + Say(R"({"event":"end"})"));
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_EQ(records_.size(), 2u);
  EXPECT_EQ(records_[0].id, two.id());
  EXPECT_EQ(records_[1].id, one.id());
  EXPECT_EQ(result->restarts, 0) << "a pass is no restart";
  EXPECT_TRUE(result->not_run.empty());
  std::ifstream file(folder_ + "/job");
  std::string line;
  std::getline(file, line);
  const Result<Job> job = JobFromJson(ParseJson(line).value());
  ASSERT_TRUE(job);
  ASSERT_EQ(job->cases.size(), 1u);
  ASSERT_TRUE(job->earlier.contains(one.id()));
  EXPECT_EQ(job->earlier.at(one.id()).base, 3);
  EXPECT_FALSE(job->earlier.contains(two.id()));
}

TEST_F(SupervisorTest, ACrashInAPassCostsOnlyItsCase) {
  const Case one = InPasses(1, 2);
  const Case two = InPasses(2, 2);
  const auto result = Execute(
      {one, two}, Say(PassedLine(one, 1)) + Say(PhaseLine(two, "sample")) + "kill -SEGV $$\n",
      Say(DoneLine(one)) + Say(R"({"event":"end"})"));
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_EQ(records_.size(), 2u);
  EXPECT_EQ(records_[0].id, two.id());
  EXPECT_EQ(records_[0].status, CaseStatus::kFailed);
  EXPECT_EQ(records_[1].id, one.id());
  EXPECT_EQ(records_[1].status, CaseStatus::kOk);
}

TEST_F(SupervisorTest, TheTimeLimitKeepsWhatOnePassMeasured) {
  const Case one = InPasses(1, 3);
  SuperviseOptions options;
  options.time_limit_s = 0.7;
  const auto result =
      Execute({one, InPasses(2, 3)}, Say(PassedLine(one, 1)) + "sleep 600\n", "", options);
  ASSERT_TRUE(result);
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_EQ(records_[0].status, CaseStatus::kUnconverged);
  EXPECT_THAT(records_[0].reason, HasSubstr("after 1 of 3 passes"));
  ASSERT_EQ(result->not_run.size(), 1u);
  EXPECT_EQ(result->not_run[0].id(), Numbered(2).id());
}

// What was interrupted is gone on with: half of its passes would stand in its way.
TEST_F(SupervisorTest, AnInterruptionDropsHalfMeasuredCases) {
  std::atomic<bool> interrupted = false;
  SuperviseOptions options;
  options.worker_command = {
      "/bin/bash", "-c",
      Say(R"({"event":"ready"})") + Say(PassedLine(InPasses(1, 3), 1)) + "sleep 600"};
  options.interrupted = &interrupted;
  const auto result = Supervise({.plugin_path = "",
                                 .plugin_name = "",
                                 .devices = 0,
                                 .axes = {},
                                 .seed = 1,
                                 .cases = {InPasses(1, 3)}},
                                options,
                                {.done = [this](Measurement m) -> Status {
                                   records_.push_back(std::move(m));
                                   return {};
                                 },
                                 .passed = [&](const Case&) { interrupted = true; }});
  ASSERT_TRUE(result);
  EXPECT_TRUE(records_.empty());
  EXPECT_EQ(result->not_run.size(), 1u);
}

TEST_F(SupervisorTest, AFullDiskEndsTheRunWithItsWords) {
  SuperviseOptions options;
  options.worker_command = {"/bin/bash", "-c",
                            Say(R"({"event":"ready"})") + Say(DoneLine(Numbered(1))) + "sleep 60"};
  const auto result = Supervise(
      {.plugin_path = "",
       .plugin_name = "",
       .devices = 0,
       .axes = {},
       .seed = 1,
       .cases = {Numbered(1)}},
      options,
      {.ready = {},
       .phase = {},
       .done = [](Measurement) -> Status { return Fail(Code::kDataLoss, "disk full", "r.jsonl"); },
       .tick = {}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "disk full");
}

}  // namespace
}  // namespace ridgeline::engine
