#include "pjrt/aot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "pjrt/discovery.h"

namespace ridgeline::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// libtpu is not ours to hand out: without it there is nothing to try, unless
// RIDGELINE_REQUIRE_TPU_PLUGIN=1 says that it has to be here.
class AotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plugin = FindPlugin("tpu", SearchEnv::FromProcess());
    if (!plugin) {
      const char* required = std::getenv("RIDGELINE_REQUIRE_TPU_PLUGIN");
      if (required != nullptr && std::string(required) == "1") FAIL() << plugin.error().ToString();
      GTEST_SKIP() << plugin.error().ToString();
    }
    topology_ = {plugin->library, "v5e:2x2", {}};
  }
  TopologyRequest topology_;
};

TEST_F(AotTest, DevicesOfATopology) {
  auto devices = ListTopologyDevices(topology_);
  ASSERT_TRUE(devices.has_value()) << devices.error().ToString();
  ASSERT_EQ(devices->size(), 4u);
  EXPECT_EQ((*devices)[0].kind, "TPU v5 lite");
  EXPECT_THAT((*devices)[0].coords, ElementsAre(0, 0, 0));
  EXPECT_THAT((*devices)[3].coords, ElementsAre(1, 1, 0));
  EXPECT_FALSE((*devices)[0].addressable);
}

TEST_F(AotTest, CompilesForDevicesThatAreNotHere) {
  device::CompileRequest request;
  request.partitions = 4;
  request.program = R"(module @m attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%a: tensor<1024xf32> {mhlo.sharding = "{manual}"})
      -> (tensor<1024xf32> {mhlo.sharding = "{manual}"}) {
    %v = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<1024xf32>) -> tensor<1024xf32>
    return %v : tensor<1024xf32>
  }
})";
  auto program = CompileForTopology(topology_, request);
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  EXPECT_EQ(program->text.format, "hlo_with_config");
  EXPECT_THAT(program->text.bytes, HasSubstr("all-reduce"));
  ASSERT_TRUE(program->memory.has_value());
  EXPECT_GE(program->memory->peak, program->memory->arguments);
  EXPECT_EQ(program->memory->arguments, 4096);  // 1024 f32, on each device
  EXPECT_THAT(program->compiler, HasSubstr("Built"));
  request.partitions = 5;
  EXPECT_EQ(CompileForTopology(topology_, request).error().code, Code::kInvalidArgument);
}

TEST_F(AotTest, UnknownTopologyAndOptionAreErrors) {
  topology_.name = "v99:2x2";
  EXPECT_FALSE(ListTopologyDevices(topology_).has_value());
  topology_.name = "v5e:2x2";
  topology_.options["nosuchopt"] = std::string("1");
  auto devices = ListTopologyDevices(topology_);
  ASSERT_FALSE(devices.has_value());
  EXPECT_THAT(devices.error().message, HasSubstr("nosuchopt"));
}

}  // namespace
}  // namespace ridgeline::pjrt
