#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "programs/program.h"

namespace ridgeline::programs {
namespace {

TensorSpec Spec(DType dtype, int64_t elements, Fill fill = {}) {
  return {"x", {dtype, {elements}}, fill};
}

std::vector<double> ValuesOf(const TensorSpec& spec, int stream = 0, int device = 0,
                             uint64_t seed = 1, std::string_view mode = "normal") {
  return InputSource(spec, stream, device, seed, mode).Values();
}

TEST(Inputs, OneByOneReadAndMaterializedAreTheSame) {
  for (const DTypeInfo& info : AllDTypes()) {
    for (const FillKind kind : {FillKind::kNormal, FillKind::kIndex, FillKind::kPermutation,
                                FillKind::kZeros, FillKind::kOnes}) {
      const TensorSpec spec = Spec(info.dtype, 100, {.kind = kind, .limit = 5});
      SCOPED_TRACE(info.name);
      const InputSource source(spec, 2, 3, 4, "normal");
      const HostTensor tensor = source.Materialize();
      std::vector<double> some(20);
      source.Read(30, some);
      for (int64_t i = 0; i < 100; ++i) {
        ASSERT_EQ(tensor.at(i), source(i)) << i;
        if (i >= 30 && i < 50) {
          ASSERT_EQ(some[static_cast<size_t>(i - 30)], source(i)) << i;
        }
      }
    }
  }
}

// More elements than one chunk of the fill.
TEST(Inputs, ChunksJoin) {
  const InputSource source(Spec(DType::kF32, 10000), 0, 0, 1, "normal");
  const HostTensor tensor = source.Materialize();
  for (const int64_t i : {0, 4095, 4096, 4097, 8191, 8192, 9999})
    EXPECT_EQ(tensor.at(i), source(i));
}

TEST(Inputs, SeedsStreamsAndDevicesDiffer) {
  const TensorSpec spec = Spec(DType::kF32, 16);
  const auto base = ValuesOf(spec);
  EXPECT_EQ(ValuesOf(spec), base);
  EXPECT_NE(ValuesOf(spec, 1), base);
  EXPECT_NE(ValuesOf(spec, 0, 1), base);
  EXPECT_NE(ValuesOf(spec, 0, 0, 2), base);
  const TensorSpec shared = Spec(DType::kF32, 16, {.same_on_all_devices = true});
  EXPECT_EQ(ValuesOf(shared, 0, 0), ValuesOf(shared, 0, 7));
}

// Zero or repeated data draws less power and runs faster: it is had on request only.
TEST(Inputs, C12_NormalDataIsDistinctAndHasNoZeros) {
  constexpr int64_t kCount = 1 << 18;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const auto values = ValuesOf(Spec(dtype, kCount));
    const std::set<double> distinct(values.begin(), values.end());
    EXPECT_GT(static_cast<double>(distinct.size()), 0.99 * kCount) << Name(dtype);
    for (const double v : values) {
      ASSERT_NE(v, 0);
      ASSERT_TRUE(std::isnormal(v));
    }
  }
  for (const DType dtype : {DType::kF8E4M3FN, DType::kF8E5M2, DType::kF16, DType::kBF16}) {
    for (const double v : ValuesOf(Spec(dtype, kCount))) {
      ASSERT_TRUE(std::isfinite(v)) << Name(dtype);
      ASSERT_GE(std::fabs(v), MinNormal(dtype)) << Name(dtype);
    }
  }
}

TEST(Inputs, C12_DataModesReplaceFreeValuesOnly) {
  const TensorSpec normal = Spec(DType::kF32, 4);
  EXPECT_EQ(ValuesOf(normal, 0, 0, 1, "zeros"), std::vector<double>(4, 0.0));
  EXPECT_EQ(ValuesOf(normal, 0, 0, 1, "ones"), std::vector<double>(4, 1.0));
  const TensorSpec order = Spec(DType::kS32, 4, {.kind = FillKind::kPermutation});
  EXPECT_EQ(ValuesOf(order, 0, 0, 1, "zeros"), ValuesOf(order));
}

TEST(Inputs, FillsFollowTheirParameters) {
  double sum = 0;
  for (const double v : ValuesOf(Spec(DType::kF32, 10000, {.scale = 0.5, .mean = 3}))) {
    ASSERT_NEAR(v, 3, 0.5 * 4.2);
    sum += v;
  }
  EXPECT_NEAR(sum / 10000, 3, 0.02);
  std::set<double> seen;
  for (const double v : ValuesOf(Spec(DType::kS8, 1000, {.limit = 2}))) seen.insert(v);
  EXPECT_EQ(seen, (std::set<double>{-2, -1, 0, 1, 2}));
  seen.clear();
  for (const double v : ValuesOf(Spec(DType::kS32, 1000, {.kind = FillKind::kIndex, .limit = 3}))) {
    seen.insert(v);
  }
  EXPECT_EQ(seen, (std::set<double>{0, 1, 2}));
  const auto order = ValuesOf(Spec(DType::kS32, 50, {.kind = FillKind::kPermutation}));
  EXPECT_EQ(std::set<double>(order.begin(), order.end()).size(), 50u);
}

TEST(Inputs, BytesOnTheDevice) {
  Program program;
  program.inputs = {Spec(DType::kF32, 100), Spec(DType::kS4, 7)};
  program.carried = {Spec(DType::kF32, 10)};
  program.outputs = {program.carried[0].shape};
  EXPECT_EQ(program.device_bytes(), 400 + 4 + 40);
  program.repeat = Repeat::kCalls;
  program.carried.clear();
  EXPECT_EQ(program.device_bytes(), 400 + 4 + 40);
}

}  // namespace
}  // namespace ridgeline::programs
