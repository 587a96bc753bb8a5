#include "pjrt/sharding.h"

#include <gtest/gtest.h>

namespace ridgeline::pjrt {
namespace {

TEST(DevicesOfShardings, ShardyMeshAndGspmdTiles) {
  EXPECT_EQ(DevicesOfShardings("module {}"), 1);
  EXPECT_EQ(DevicesOfShardings(R"(sdy.mesh @mesh = <["x"=4, "y"=2]> mesh<["x"=4, "y"=4]>)"), 16);
  EXPECT_EQ(DevicesOfShardings(R"(mesh<[\"x\"=4, \"y\"=2]>)"), 8);
  // The last tile dimension, over which the array is replicated, counts devices too.
  EXPECT_EQ(DevicesOfShardings("{devices=[2,1,4]<=[8] last_tile_dim_replicate}"), 8);
  EXPECT_EQ(DevicesOfShardings("{devices=[2]<=[2]} {devices=[4,4]0,1,2} {replicated}"), 16);
  EXPECT_EQ(DevicesOfShardings("{maximal device=0} devices=[x"), 1);
}

TEST(DevicesOfShardings, NumbersWithoutMeasureAreBounded) {
  EXPECT_EQ(DevicesOfShardings("{devices=[99999999,99999999]"), kMaxPartitions + 1);
  EXPECT_EQ(DevicesOfShardings("{devices=[0,4]"), kMaxPartitions + 1);
  EXPECT_EQ(DevicesOfShardings("mesh<[\"x\"=-3]>"), kMaxPartitions + 1);
  EXPECT_EQ(DevicesOfShardings("mesh<[\"x\"=65536]>"), kMaxPartitions);
}

}  // namespace
}  // namespace ridgeline::pjrt
