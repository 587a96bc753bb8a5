// A plugin that works on threads of its own: nothing of ours touches what they use before the
// plugin's events say that they have ended. ThreadSanitizer sees it when that breaks.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "pjrt/api.h"
#include "pjrt/client.h"
#include "pjrt/table_plugin.h"

namespace ridgeline::pjrt {
namespace {

const Shape kBytes = {DType::kS8, {64}};

class ThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Api::Open(&plugin_.table, "table");
    ASSERT_TRUE(opened.has_value());
    api_ = std::make_unique<Api>(std::move(*opened));
    auto client = CreateClient(*api_, {});
    ASSERT_TRUE(client.has_value()) << client.error().ToString();
    client_ = std::move(*client);
  }
  void TearDown() override {
    client_.reset();
    EXPECT_EQ(plugin_.alive(), 0);
  }

  std::unique_ptr<device::Buffer> Put(const std::vector<std::byte>& data) {
    auto buffer = client_->StartPut({.data = data, .shape = kBytes, .memory_kind = {}});
    EXPECT_TRUE(buffer.has_value()) << buffer.error().ToString();
    return buffer ? std::move(*buffer) : nullptr;
  }

  TablePlugin plugin_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<device::Client> client_;
};

TEST_F(ThreadsTest, HostMemoryIsFreeOnceTheBufferIsReady) {
  std::vector<std::byte> data(64, std::byte{5});
  const auto buffer = Put(data);
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(buffer->Await());
  data[0] = std::byte{6};
  std::vector<std::byte> back(64);
  auto pending = buffer->StartRead(back);
  ASSERT_TRUE(pending.has_value());
  ASSERT_TRUE((*pending)->Await());
  EXPECT_EQ(back[63], std::byte{5});
}

TEST_F(ThreadsTest, HostMemoryIsFreeOnceBufferAndReadAreGone) {
  auto data = std::make_unique<std::vector<std::byte>>(64, std::byte{5});
  auto back = std::make_unique<std::vector<std::byte>>(64);
  {
    const auto buffer = Put(*data);
    ASSERT_TRUE(buffer);
  }
  data.reset();
  const std::vector<std::byte> other(64, std::byte{7});
  const auto buffer = Put(other);
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(buffer->Await());
  ASSERT_TRUE(buffer->StartRead(*back).has_value());  // nobody waits for it
  EXPECT_EQ(back->front(), std::byte{7});
}

// What each device writes stands when the run is over, also when one of them failed.
TEST_F(ThreadsTest, EveryDeviceHasEndedWhenTheRunHas) {
  auto executable =
      client_->Compile({.program = "", .partitions = 2, .devices = {0, 1}, .xla_options = {}});
  ASSERT_TRUE(executable.has_value()) << executable.error().ToString();
  std::array<int, 2> rounds = {0, 0};
  plugin_.work = [&rounds](size_t device) { ++rounds[device]; };
  EXPECT_TRUE((*executable)->Run({{}, {}}).has_value());
  EXPECT_EQ(rounds, (std::array{1, 1}));
  plugin_.execute = TablePlugin::Execute::kFailsOnOneDevice;
  plugin_.failing_device = 0;
  EXPECT_FALSE((*executable)->Run({{}, {}}).has_value());
  EXPECT_EQ(rounds, (std::array{2, 2}));
}

TEST(LoadThreadsTest, PluginsAreLoadedFromSeveralThreads) {
  std::array<bool, 4> refused = {};
  {
    std::vector<std::jthread> threads;
    for (bool& one : refused) {
      threads.emplace_back([&one] { one = !Api::Load("libm.so.6").has_value(); });
    }
  }
  EXPECT_EQ(refused, (std::array{true, true, true, true}));
}

}  // namespace
}  // namespace ridgeline::pjrt
