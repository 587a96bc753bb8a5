#include "base/shape.h"

#include <gtest/gtest.h>

namespace ridgeline {
namespace {

TEST(Shape, E2_SizesBeyond32Bits) {
  const Shape bytes{DType::kS8, {2147483656}};
  EXPECT_EQ(bytes.elements(), 2147483656);
  EXPECT_EQ(bytes.device_bytes(), 2147483656);
  EXPECT_EQ(bytes.host_bytes(), 2147483656);
  EXPECT_EQ(bytes.ToStableHlo(), "tensor<2147483656xi8>");
  const Shape floats{DType::kF32, {1073741826}};
  EXPECT_EQ(floats.device_bytes(), 4294967304);
  EXPECT_EQ((Shape{DType::kF32, {32768, 32768}}.device_bytes()), int64_t{4} << 30);
}

TEST(Shape, Names) {
  const Shape shape{DType::kBF16, {4, 8}};
  EXPECT_EQ(shape.ToStableHlo(), "tensor<4x8xbf16>");
  EXPECT_EQ(shape.ToString(), "bf16[4,8]");
  EXPECT_EQ((Shape{DType::kS32, {}}.ToStableHlo()), "tensor<i32>");
  EXPECT_EQ((Shape{DType::kS32, {}}.elements()), 1);
  EXPECT_EQ((Shape{DType::kF32, {3, 0}}.elements()), 0);
}

TEST(Shape, HostTensorHoldsValues) {
  HostTensor tensor(Shape{DType::kF16, {2, 3}});
  ASSERT_EQ(tensor.bytes.size(), 12u);
  tensor.set(5, 0.1);
  EXPECT_NEAR(tensor.at(5), 0.1, 1e-4);
  EXPECT_EQ(tensor.at(4), 0);
}

}  // namespace
}  // namespace ridgeline
