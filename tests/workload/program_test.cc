#include "workload/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/reader.h"

namespace ridgeline::workload {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Workload FromText(const std::string& text) {
  const hlo::Module module = hlo::ReadModule(text).value();
  return FromAnalysis(hlo::Analyse(module).value(), "step", 1);
}

constexpr const char* kDot = R"(HloModule step

ENTRY main {
  a = f32[64,128]{1,0} parameter(0)
  b = f32[128,32]{1,0} parameter(1)
  dot = f32[64,32]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT tanh = f32[64,32]{1,0} tanh(dot)
}
)";

TEST(Program, IsTheWorkOfItsAnalysis) {
  const Workload w = FromText(kDot);
  const Work total = w.Total();
  EXPECT_EQ(total.matrix_flops.at(DType::kF32), 2.0 * 64 * 128 * 32);
  EXPECT_EQ(total.transcendentals, 64 * 32);
  EXPECT_EQ(total.hbm_bytes, 4.0 * (64 * 128 + 128 * 32 + 64 * 32));
  // Unfused, the product goes to memory and back.
  EXPECT_EQ(w.MostHbmBytes(), total.hbm_bytes + 2 * 4.0 * 64 * 32);
  EXPECT_TRUE(w.uncounted.empty());
  ASSERT_FALSE(w.operations.empty());
  EXPECT_EQ(w.operations[0].work.matrix_flops.at(DType::kF32), 2.0 * 64 * 128 * 32);
}

TEST(Program, WhatCannotBeCountedIsListed) {
  const Workload w = FromText(R"(HloModule step

ENTRY main {
  a = f32[64]{0} parameter(0)
  ROOT k = f32[64]{0} custom-call(a), custom_call_target="my_kernel"
}
)");
  EXPECT_THAT(w.uncounted, Contains(HasSubstr("my_kernel")));
}

}  // namespace
}  // namespace ridgeline::workload
