#include "pjrt/compile_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridgeline::pjrt {
namespace {

using ::testing::HasSubstr;

std::string Bytes(std::initializer_list<int> values) {
  std::string result;
  for (int value : values) result.push_back(static_cast<char>(value));
  return result;
}

// Written by hand from the protobuf encoding and XLA's field numbers.
TEST(CompileOptionsTest, WireBytesOfTwoPartitions) {
  device::CompileRequest request;
  request.partitions = 2;
  request.devices = {1, 0};
  auto bytes = SerializeCompileOptions(request, {7, 9});
  ASSERT_TRUE(bytes.has_value()) << bytes.error().ToString();
  EXPECT_EQ(*bytes,
            Bytes({0x1a, 33,                                                          // 3: build
                   0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,  // 1: -1
                   0x20, 1,                    // 4: num_replicas
                   0x28, 2,                    // 5: num_partitions
                   0x30, 1,                    // 6: use_spmd_partitioning
                   0x4a, 14,                   // 9: device_assignment
                   0x08, 1,                    //   1: replica_count
                   0x10, 2,                    //   2: computation_count
                   0x1a, 3,    0x0a, 1,    9,  //   3: devices of partition 0, packed
                   0x1a, 3,    0x0a, 1,    7}));
}

TEST(CompileOptionsTest, ShardyIsField19) {
  device::CompileRequest request;
  request.devices = {0};
  request.shardy = true;
  auto with = SerializeCompileOptions(request, {0});
  request.shardy = false;
  auto without = SerializeCompileOptions(request, {0});
  ASSERT_TRUE(with && without);
  EXPECT_THAT(*with, HasSubstr(Bytes({0x98, 0x01, 1})));
  EXPECT_EQ(with->size(), without->size() + 3);
}

TEST(CompileOptionsTest, OverridesKeepTheirTypes) {
  device::CompileRequest request;
  request.devices = {0};
  request.xla_options = {{"a", std::string("x")}, {"b", true}, {"c", int64_t{5}}, {"d", 1.0}};
  auto bytes = SerializeCompileOptions(request, {0});
  ASSERT_TRUE(bytes.has_value());
  // 7: {1: key, 2: {1 text | 2 flag | 3 integer | 4 double}}
  EXPECT_THAT(*bytes, HasSubstr(Bytes({0x3a, 8, 0x0a, 1, 'a', 0x12, 3, 0x0a, 1, 'x'})));
  EXPECT_THAT(*bytes, HasSubstr(Bytes({0x3a, 7, 0x0a, 1, 'b', 0x12, 2, 0x10, 1})));
  EXPECT_THAT(*bytes, HasSubstr(Bytes({0x3a, 7, 0x0a, 1, 'c', 0x12, 2, 0x18, 5})));
  EXPECT_THAT(
      *bytes,
      HasSubstr(Bytes({0x3a, 14, 0x0a, 1, 'd', 0x12, 9, 0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f})));
}

TEST(CompileOptionsTest, BadDevicesAreRefused) {
  device::CompileRequest request;
  request.partitions = 2;
  request.devices = {0};
  EXPECT_EQ(SerializeCompileOptions(request, {0, 1}).error().code, Code::kInvalidArgument);
  request.devices = {0, 2};
  EXPECT_THAT(SerializeCompileOptions(request, {0, 1}).error().message, HasSubstr("no device 2"));
  request.devices = {0, -1};
  EXPECT_THAT(SerializeCompileOptions(request, {0, 1}).error().message, HasSubstr("no device -1"));
  request.devices = {1, 1};
  EXPECT_THAT(SerializeCompileOptions(request, {0, 1}).error().message, HasSubstr("twice"));
}

}  // namespace
}  // namespace ridgeline::pjrt
