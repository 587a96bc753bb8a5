// Predictions through XLA's CUDA compiler, with no GPU here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "pjrt/discovery.h"
#include "predict/prediction.h"
#include "predict/target_named.h"

namespace ridgeline::predict {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto plugin = pjrt::FindPlugin("cuda", pjrt::SearchEnv::FromProcess());
    if (plugin) {
      library_ = plugin->library;
      return;
    }
    const char* required = std::getenv("RIDGELINE_REQUIRE_CUDA_PLUGIN");
    if (required != nullptr && std::string(required) == "1") {
      FAIL() << "RIDGELINE_REQUIRE_CUDA_PLUGIN is set, and there is no CUDA plugin";
    }
    GTEST_SKIP() << "the CUDA plugin is not here; `./dev plugins cuda` fetches it";
  }

  TargetPrediction Predict(const Program& program, const std::string& target) const {
    const Result<TargetPrediction> one = PredictProgram(program, TargetNamed(target), library_, {});
    EXPECT_TRUE(one) << (one ? "" : one.error().ToString());
    return one.value_or(TargetPrediction{});
  }

  std::string library_;
};

Program Product(int64_t n, const std::string& type = "bf16") {
  return {fmt::format(R"(module @product {{
  func.func public @main(%a: tensor<{0}x{0}x{1}>, %b: tensor<{0}x{0}x{1}>) -> tensor<{0}x{0}x{1}> {{
    %v = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<{0}x{0}x{1}>, tensor<{0}x{0}x{1}>) -> tensor<{0}x{0}x{1}>
    return %v : tensor<{0}x{0}x{1}>
  }}
}})",
                      n, type),
          1, false};
}

// Every GPU of data/targets takes a product; with a toolkit on the machine or without one.
TEST_F(OnGpu, EveryGpuTakesAProduct) {
  const std::span<const GpuCompiler> gpus = GpuCompilers().value();
  for (const GpuCompiler& gpu : gpus) {
    SCOPED_TRACE(gpu.spec);
    const TargetPrediction one = Predict(Product(2048, "f16"), gpu.spec);
    EXPECT_EQ(one.status, PredictionStatus::kPredicted) << one.reason;
    EXPECT_EQ(one.fits, true);
    ASSERT_TRUE(one.memory && one.step && one.mfu);
    EXPECT_EQ(one.memory->arguments, 2 * 8388608);
    EXPECT_GE(one.memory->outputs, 8388608);
    EXPECT_EQ(one.step->matrix_flops.at("f16"), 2. * 2048 * 2048 * 2048);
    EXPECT_LT(one.mfu->upper, 1);
    EXPECT_GT(one.mfu->lower, 0.1);
  }
}

TEST_F(OnGpu, TheSameInputGivesTheSameOutput) {
  const auto once = [&] { return DumpPretty(ToJson(Predict(Product(1024), "h100-sxm"))); };
  EXPECT_EQ(once(), once());
}

// The compiler has no check of its own.
TEST_F(OnGpu, WhatDoesNotFitIsSaidWithWhatTakesIt) {
  const TargetPrediction one = Predict(Product(131072), "h100-sxm");  // 96 GiB
  EXPECT_EQ(one.status, PredictionStatus::kDoesNotFit);
  EXPECT_EQ(one.fits, false);
  EXPECT_GE(one.peak_memory_bytes.value_or(0), 96. * (1 << 30));
  EXPECT_EQ(one.capacity_bytes, 84942979072.);
  EXPECT_THAT(one.reason, HasSubstr("of 79.11 GiB on each device"));
  ASSERT_TRUE(one.memory && !one.memory->largest.empty());
  EXPECT_EQ(one.memory->largest.front().bytes, int64_t{1} << 35);
}

TEST_F(OnGpu, AnAllReduceAcrossTwoHostsIsPriced) {
  const std::string module = R"(module @sum {
  func.func public @main(%x: tensor<16x1048576xf32> {mhlo.sharding = "{devices=[16,1]<=[16]}"}) -> (tensor<1048576xf32> {mhlo.sharding = "{replicated}"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x1048576xf32>, tensor<f32>) -> tensor<1048576xf32>
    return %sum : tensor<1048576xf32>
  }
})";
  const TargetPrediction one = Predict({module, 16, false}, "h100-sxm:16");
  ASSERT_TRUE(one.step) << one.reason;
  ASSERT_EQ(one.step->wire.size(), 1u);
  EXPECT_EQ(one.step->wire[0].collective, "all_reduce");
  EXPECT_EQ(one.step->wire[0].axes, "dcn+node");
  EXPECT_EQ(one.step->wire[0].payload_bytes, 4194304);
}

// Nothing of the compiler's dump stays behind.
TEST_F(OnGpu, NoFolderIsLeft) {
  const auto folders = [] {
    size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::temp_directory_path())) {
      count += entry.path().filename().string().starts_with("ridgeline-dump-");
    }
    return count;
  };
  const size_t before = folders();
  Predict(Product(256), "a100-sxm-40");
  EXPECT_LE(folders(), before);
}

TEST_F(OnGpu, TextThatIsNoProgramIsRefused) {
  const TargetPrediction one = Predict({"module {", 1, false}, "a100-sxm-80");
  EXPECT_EQ(one.status, PredictionStatus::kRefused);
  EXPECT_FALSE(one.reason.empty());
}

}  // namespace
}  // namespace ridgeline::predict
