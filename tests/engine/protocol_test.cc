#include "engine/protocol.h"

#include <gtest/gtest.h>

namespace ridgeline::engine {
namespace {

Case Example() {
  Case c;
  c.component = Component::kNetwork;
  c.bench = "all_reduce";
  c.params.Set("bytes", int64_t{1} << 32);
  c.params.Set("dtype", std::string("f32"));
  c.params.Set("flag", true);
  c.params.Set("ratio", 0.5);
  c.placement.device = 3;
  c.precision.max_blocks = 9;
  c.precision.passes = 3;
  c.data_mode = "ones";
  return c;
}

EarlierPasses OnePass() {
  EarlierPasses earlier{.done = 1,
                        .base = 7,
                        .samples = {{7, 0.25, 0, 0}, {14, 0.1 + 0.2, 0, 0}},
                        .doubts = {"throttled"},
                        .labels = {"2 blocks left out"},
                        .measurement = {}};
  earlier.measurement.id = Example().id();
  earlier.measurement.wall_s = 1.5;
  earlier.measurement.state = {{"passes", {{{"cpu_mhz", 2100}}}}};
  return earlier;
}

TEST(ProtocolTest, JobSurvivesTheWay) {
  const Job job{.plugin_path = "/p.so",
                .plugin_name = "cpu",
                .devices = 4,
                .axes = {{"x", 2}, {"y", 2}},
                .seed = 42,
                .cases = {Example()},
                .earlier = {{Example().id(), OnePass()}}};
  const Result<Json> json = ParseJson(DumpLine(ToJson(job)));
  ASSERT_TRUE(json);
  const Result<Job> read = JobFromJson(*json);
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->plugin_path, "/p.so");
  EXPECT_EQ(read->devices, 4);
  EXPECT_EQ(read->axes, job.axes);
  EXPECT_EQ(read->seed, 42u);
  ASSERT_EQ(read->cases.size(), 1u);
  EXPECT_EQ(read->cases[0].id(), Example().id());
  EXPECT_EQ(read->cases[0].params, Example().params);
  EXPECT_EQ(read->cases[0].precision.max_blocks, 9);
  EXPECT_EQ(read->cases[0].precision.passes, 3);
  ASSERT_EQ(read->earlier.size(), 1u);
  EXPECT_EQ(ToJson(read->earlier.begin()->second), ToJson(OnePass()));
  EXPECT_EQ(read->earlier.begin()->second.samples[1].seconds, 0.1 + 0.2);
}

TEST(ProtocolTest, ASampleOfAnotherFormIsRefused) {
  Json json = ToJson(OnePass());
  json["samples"][1] = {7, "0.25", 0, 0};
  const Result<EarlierPasses> read = EarlierPassesFromJson(json);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("[count, seconds, block, pass]"), std::string::npos);
}

TEST(ProtocolTest, ErrorsKeepCodeAndWords) {
  const Error error{Code::kUnimplemented, "plugin lacks X (API 0.38)", "PJRT_X", "another plugin"};
  const Error read = ErrorFromEvent(FailedEvent(error));
  EXPECT_EQ(read.code, error.code);
  EXPECT_EQ(read.message, error.message);
  EXPECT_EQ(read.where, error.where);
  EXPECT_EQ(read.next, error.next);
}

}  // namespace
}  // namespace ridgeline::engine
