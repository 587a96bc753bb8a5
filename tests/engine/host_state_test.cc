#include "engine/host_state.h"

#include <gtest/gtest.h>
#include <sched.h>

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

// One tick of the kernel's clock in a short window is not many CPUs.
TEST(HostStateTest, NoMoreCpusAreBusyThanThereAre) {
  for (int i = 0; i < 200; ++i) {
    const CpuTimes start = ReadCpuTimes();
    while (ReadCpuTimes().wall - start.wall < 0.001) {
    }
    EXPECT_LE(LoadSince(start)["other_cpus"].get<double>(), sysconf(_SC_NPROCESSORS_ONLN));
  }
}

TEST(HostStateTest, D2_TheCpuSetAndTheMemoryNodesAreRecorded) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Json host = DescribeHost();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(host["cpu_set"], std::to_string(first));
  EXPECT_TRUE(host["memory_nodes"].is_string());
}

TEST(HostStateTest, CachesGrowWithTheLevel) {
  const std::vector<int64_t> caches = DataCacheBytes();
  for (size_t i = 1; i < caches.size(); ++i) EXPECT_GE(caches[i], caches[i - 1]);
}

}  // namespace
}  // namespace ridgeline::engine
