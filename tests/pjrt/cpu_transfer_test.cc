#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "pjrt/cpu_plugin.h"

namespace ridgeline::pjrt {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CpuTransferTest, DevicesAndPlatformAreTold) {
  auto client = CpuClient(3);
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(client->platform().name, "cpu");
  EXPECT_EQ(client->platform().api_major, 0);
  EXPECT_GE(client->platform().api_minor, 81);
  ASSERT_EQ(client->devices().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const auto& device = client->devices()[static_cast<size_t>(i)];
    EXPECT_EQ(device.id, i);
    EXPECT_EQ(device.kind, "cpu");
    EXPECT_EQ(device.process, 0);
    EXPECT_TRUE(device.addressable);
    int defaults = 0;
    std::vector<std::string> kinds;
    for (const auto& memory : device.memories) {
      kinds.push_back(memory.kind);
      defaults += memory.is_default ? 1 : 0;
    }
    EXPECT_THAT(kinds, Contains("pinned_host"));
    EXPECT_EQ(defaults, 1);
  }
}

TEST(CpuTransferTest, UnknownCreateOptionIsThePluginsOwnError) {
  auto plugin = FindPlugin("cpu", SearchEnv::FromProcess());
  ASSERT_TRUE(plugin.has_value()) << plugin.error().ToString();
  auto client = CreateClient({plugin->library, {{"no_such_option", std::string("x")}}});
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, Code::kInvalidArgument);
  EXPECT_EQ(client.error().where, "PJRT_Client_Create");
  EXPECT_THAT(client.error().message, HasSubstr("no_such_option"));
}

class DTypeTest : public ::testing::TestWithParam<DType> {};

// Bytes that differ from element to element and cross 3 dimensions, so that a wrong stride, type or
// packing cannot come back right.
TEST_P(DTypeTest, RoundTrip) {
  auto client = CpuClient(2);
  ASSERT_NE(client, nullptr);
  HostTensor tensor(Shape{GetParam(), {3, 2, 5}});
  for (int64_t i = 0; i < tensor.shape.elements(); ++i) {
    tensor.set(i,
               static_cast<double>(
                   (i * 5) % 13 -
                   (Info(GetParam()).kind == DTypeKind::kSigned || IsFloat(GetParam()) ? 6 : 0)));
  }
  for (int device : {0, 1}) {
    auto buffer = Put(*client, tensor, device);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(buffer->shape(), tensor.shape);
    EXPECT_EQ(Values(Read(*buffer)), Values(tensor));
    // The upper half of an s4's byte is nobody's: plugins fill it with zeros or the sign.
    if (GetParam() != DType::kS4) {
      EXPECT_EQ(Read(*buffer).bytes, tensor.bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DTypeTest,
                         ::testing::Values(DType::kPred, DType::kS4, DType::kS8, DType::kS32,
                                           DType::kS64, DType::kU8, DType::kU32, DType::kF8E4M3FN,
                                           DType::kF8E5M2, DType::kBF16, DType::kF16, DType::kF32,
                                           DType::kF64),
                         [](const auto& one) { return std::string(Name(one.param)); });

TEST(CpuTransferTest, ScalarAndEmptyArrayRoundTrip) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  auto scalar = Put(*client, Tensor({DType::kS32, {}}, {-7}));
  EXPECT_THAT(Values(Read(*scalar)), ElementsAre(-7));
  auto empty = Put(*client, Tensor({DType::kF32, {0, 4}}, {}));
  EXPECT_EQ(empty->shape().elements(), 0);
  EXPECT_TRUE(Read(*empty).bytes.empty());
}

TEST(CpuTransferTest, EveryMemoryKindTakesDataOrSaysWhyNot) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  const HostTensor tensor = Tensor({DType::kF32, {4}}, {1, 2, 3, 4});
  for (const auto& memory : client->devices()[0].memories) {
    auto buffer = Put(*client, tensor, 0, memory.kind);
    ASSERT_NE(buffer, nullptr) << memory.kind;
    EXPECT_THAT(Values(Read(*buffer)), ElementsAre(1, 2, 3, 4)) << memory.kind;
  }
  auto bad = client->StartPut({tensor.bytes, tensor.shape, 0, "core_rope", {}});
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code, Code::kInvalidArgument);
  EXPECT_THAT(bad.error().message, HasSubstr("core_rope"));
  EXPECT_THAT(bad.error().message, HasSubstr("pinned_host"));
}

// A zero-copy put of aligned memory is the host memory itself; the other two are copies, so a
// change of the host memory after the transfer does not reach them.
TEST(CpuTransferTest, SemanticsDifferInWhetherTheyAlias) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  constexpr size_t kElements = 1024;
  alignas(64) static float host[kElements];
  using device::HostSemantics;
  for (HostSemantics semantics :
       {HostSemantics::kImmutableOnlyDuringCall, HostSemantics::kImmutableUntilTransferCompletes,
        HostSemantics::kImmutableZeroCopy}) {
    for (float& value : host) value = 1;
    auto buffer = client->StartPut(
        {std::as_bytes(std::span(host)), {DType::kF32, {kElements}}, 0, "", semantics});
    ASSERT_TRUE(buffer.has_value()) << buffer.error().ToString();
    ASSERT_TRUE((*buffer)->Await().has_value());
    const bool zero_copy = semantics == HostSemantics::kImmutableZeroCopy;
    auto aliases = (*buffer)->Aliases(host);
    ASSERT_TRUE(aliases.has_value()) << aliases.error().ToString();
    EXPECT_EQ(*aliases, zero_copy);
    if (!zero_copy) {
      for (float& value : host) value = 2;
      EXPECT_EQ(Values(Read(**buffer)), std::vector<double>(kElements, 1));
    }
  }
}

TEST(CpuTransferTest, WrongSizesAndDevicesAreRefused) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  std::vector<std::byte> bytes(16);
  const std::span<const std::byte> data(bytes);
  const Shape shape{DType::kF32, {4}};
  EXPECT_EQ(client->StartPut({data.first(15), shape, 0, "", {}}).error().code,
            Code::kInvalidArgument);
  EXPECT_EQ(client->StartPut({data, shape, 1, "", {}}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(client->StartPut({data, shape, -1, "", {}}).error().code, Code::kInvalidArgument);
  auto buffer = client->StartPut({data, shape, 0, "", {}});
  ASSERT_TRUE(buffer.has_value());
  EXPECT_EQ((*buffer)->StartRead(std::span(bytes).first(15)).error().code, Code::kInvalidArgument);
}

TEST(CpuTransferTest, BuffersOutliveTheirClient) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  auto buffer = Put(*client, Tensor({DType::kF32, {2}}, {5, 6}));
  client.reset();
  EXPECT_THAT(Values(Read(*buffer)), ElementsAre(5, 6));
}

}  // namespace
}  // namespace ridgeline::pjrt
