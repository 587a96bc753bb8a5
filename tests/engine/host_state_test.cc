#include "engine/host_state.h"

#include <gtest/gtest.h>

namespace ridgeline::engine {
namespace {

TEST(HostStateTest, FreeMemoryIsMoreThanNothingAndLessThanTheMachine) {
  const Json host = DescribeHost();
  const int64_t free = FreeHostMemory();
  EXPECT_GT(free, 0);
  EXPECT_LE(free, host["memory_bytes"].get<int64_t>());
}

TEST(HostStateTest, OwnWorkCountsAsOwn) {
  const CpuTimes start = ReadCpuTimes();
  double sum = 0;
  while (ReadCpuTimes().own - start.own < 0.1) {
    for (int i = 0; i < 100000; ++i) sum += i * 1e-9;
  }
  EXPECT_GT(sum, 0);
  const Json load = LoadSince(start);
  EXPECT_GT(load["own_cpus"].get<double>(), 0.05);
  EXPECT_GE(load["other_cpus"].get<double>(), 0);
}

TEST(HostStateTest, CachesGrowWithTheLevel) {
  const std::vector<int64_t> caches = DataCacheBytes();
  for (size_t i = 1; i < caches.size(); ++i) EXPECT_GE(caches[i], caches[i - 1]);
}

}  // namespace
}  // namespace ridgeline::engine
