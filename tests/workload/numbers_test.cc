#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/workload.h"

namespace ridgeline::workload {
namespace {

using ::testing::HasSubstr;

TEST(Numbers, FlopsAndBytes) {
  const auto workload = FromNumbers({.flops = 2e12, .bytes = 1e10, .wire_bytes = 3e8});
  ASSERT_TRUE(workload.has_value());
  const Work total = workload->Total();
  EXPECT_EQ(total.matrix_flops, (std::map<DType, double>{{DType::kBF16, 2e12}}));
  EXPECT_EQ(total.hbm_bytes, 1e10);
  EXPECT_EQ(total.wire_bytes, 3e8);
  EXPECT_EQ(workload->MainDType(), DType::kBF16);
  EXPECT_EQ(workload->MostHbmBytes(), 1e10);
}

TEST(Numbers, IntensityStandsForTheAbsentOne) {
  EXPECT_EQ(FromNumbers({.flops = 4e12, .intensity = 100})->Total().hbm_bytes, 4e10);
  EXPECT_EQ(FromNumbers({.bytes = 2e9, .intensity = 100})->Total().total_matrix_flops(), 2e11);
  const auto alone = FromNumbers({.intensity = 240});
  EXPECT_EQ(alone->Total().total_matrix_flops(), 240e9);
  EXPECT_THAT(alone->notes, ::testing::Contains(HasSubstr("1 GB")));
}

TEST(Numbers, APatternIsThatOfAllBytes) {
  const auto workload = FromNumbers({.bytes = 1e9, .pattern = Pattern::kGather});
  EXPECT_EQ(workload->Total().hbm_bytes_by(Pattern::kGather), 1e9);
  EXPECT_EQ(workload->Total().hbm_bytes_by(Pattern::kSequential), 0);
}

TEST(Numbers, WhatContradictsItselfOrSaysNothing) {
  const auto message = [](const Numbers& numbers) {
    const auto workload = FromNumbers(numbers);
    return workload ? "accepted" : workload.error().ToString();
  };
  EXPECT_THAT(message({.flops = 1, .bytes = 1, .intensity = 1}),
              HasSubstr("give two of the three"));
  EXPECT_THAT(message({.flops = 1, .intensity = 0}), HasSubstr("--intensity 0"));
  EXPECT_THAT(message({}), HasSubstr("every figure is 0"));
}

}  // namespace
}  // namespace ridgeline::workload
