// Predictions through libtpu's compiler, with no TPU here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "pjrt/discovery.h"
#include "predict/compile_cache.h"
#include "predict/prediction.h"
#include "predict/target_named.h"
#include "spec/shape.h"

namespace ridgeline::predict {
namespace {

using ::testing::HasSubstr;

class OnTpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto plugin = pjrt::FindPlugin("tpu", pjrt::SearchEnv::FromProcess());
    if (plugin) {
      library_ = plugin->library;
      return;
    }
    const char* required = std::getenv("RIDGELINE_REQUIRE_TPU_PLUGIN");
    if (required != nullptr && std::string(required) == "1") {
      FAIL() << "RIDGELINE_REQUIRE_TPU_PLUGIN is set, and there is no libtpu";
    }
    GTEST_SKIP() << "libtpu is not here";
  }

  TargetPrediction Predict(const Program& program, const std::string& target,
                           const CompileLimits& limits = {}) const {
    const Result<TargetPrediction> one =
        PredictProgram(program, TargetNamed(target), library_, limits);
    EXPECT_TRUE(one) << (one ? "" : one.error().ToString());
    return one.value_or(TargetPrediction{});
  }

  std::string library_;
};

// n x n products; every array takes 2 n^2 bytes.
Program Product(int64_t n, const std::string& type = "bf16") {
  return {fmt::format(R"(module @product {{
  func.func public @main(%a: tensor<{0}x{0}x{1}>, %b: tensor<{0}x{0}x{1}>) -> tensor<{0}x{0}x{1}> {{
    %v = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<{0}x{0}x{1}>, tensor<{0}x{0}x{1}>) -> tensor<{0}x{0}x{1}>
    return %v : tensor<{0}x{0}x{1}>
  }}
}})",
                      n, type),
          1,
          false,
          {}};
}

TEST_F(OnTpu, AProductFitsAndRunsNearThePeak) {
  const TargetPrediction one = Predict(Product(4096), "tpu-v5e:1x1");
  EXPECT_EQ(one.status, PredictionStatus::kPredicted) << one.reason;
  EXPECT_TRUE(one.fits.value_or(false));
  ASSERT_TRUE(one.memory && one.step && one.mfu);
  EXPECT_EQ(one.memory->arguments, 2 * 33554432);
  EXPECT_EQ(one.step->matrix_flops.at("bf16"), 2. * 4096 * 4096 * 4096);
  EXPECT_EQ(one.step->bound.first, "compute");
  EXPECT_LE(one.mfu->upper, 1);
  EXPECT_GT(one.mfu->lower, 0.5);
  EXPECT_THAT(one.compiler, HasSubstr("Built on"));
}

TEST_F(OnTpu, TheSameInputGivesTheSameOutput) {
  const auto once = [&] { return DumpPretty(ToJson(Predict(Product(1024), "tpu-v6e:1x1"))); };
  EXPECT_EQ(once(), once());
}

TEST_F(OnTpu, WhatDoesNotFitIsSaidInTheCompilersWords) {
  const TargetPrediction one = Predict(Product(65536), "tpu-v5e:1x1");  // 24 GiB
  EXPECT_EQ(one.status, PredictionStatus::kDoesNotFit);
  EXPECT_EQ(one.fits, false);
  EXPECT_EQ(one.peak_memory_bytes, 24. * (1 << 30));
  EXPECT_EQ(one.capacity_bytes, 15.75 * (1 << 30));
  EXPECT_THAT(one.reason, HasSubstr("Ran out of memory on HBM"));
  EXPECT_FALSE(one.step);
}

// The compiler aborts on this product for v4: its process ends, not ours.
TEST_F(OnTpu, ACompilerThatDiesIsAFailureInWords) {
  const TargetPrediction one = Predict(Product(1024, "i2"), "tpu-v4:2x2x1");
  EXPECT_EQ(one.status, PredictionStatus::kFailed);
  EXPECT_THAT(one.reason, HasSubstr("the compiler's process"));
}

TEST_F(OnTpu, ACompilerThatTakesTooLongIsAFailureInWords) {
  const TargetPrediction one =
      Predict(Product(4096), "tpu-v5e:1x1", {.seconds = 0.02, .memory_bytes = 0});
  EXPECT_EQ(one.status, PredictionStatus::kFailed);
  EXPECT_THAT(one.reason, HasSubstr("no answer within 0.02 s"));
}

TEST_F(OnTpu, TextThatIsNoProgramIsRefused) {
  const TargetPrediction one = Predict({"module {", 1, false}, "tpu-v5e:1x1");
  EXPECT_EQ(one.status, PredictionStatus::kRefused);
  EXPECT_FALSE(one.reason.empty());
}

TEST_F(OnTpu, TooManyDevicesAreAnError) {
  Program program = Product(1024);
  program.partitions = 5;
  const auto one = PredictProgram(program, TargetNamed("tpu-v5e:2x2"), library_, {});
  ASSERT_FALSE(one);
  EXPECT_THAT(one.error().message, HasSubstr("wants 5 devices; tpu-v5e:2x2 has 4"));
}

// Every generation's smallest and largest slice has as many devices as the spec says.
TEST_F(OnTpu, TheCompilerKnowsTheSlices) {
  const std::span<const TpuCompiler> compilers = TpuCompilers().value();
  for (const TpuCompiler& compiler : compilers) {
    const std::vector<spec::Shape> slices = Slices(TargetNamed(compiler.spec).spec);
    if (slices.empty()) continue;
    for (const spec::Shape& shape : {slices.front(), slices.back()}) {
      const Target target = TargetNamed(fmt::format("{}:{}", compiler.spec, spec::ToString(shape)));
      SCOPED_TRACE(target.name);
      const auto places = ListPlaces(TopologyOf(target, library_));
      ASSERT_TRUE(places) << places.error().ToString();
      EXPECT_EQ(static_cast<int64_t>(places->size()), target.machine.devices);
    }
  }
}

// A flag of the compiler changes what it makes; one that it does not know is named.
TEST_F(OnTpu, TheSameProgramUnderOtherFlags) {
  Program program = Product(8192);
  const TargetPrediction with_defaults = Predict(program, "tpu-v6e:1x1");
  program.flags = {{"xla_tpu_scoped_vmem_limit_kib", std::string("16384")}};
  const TargetPrediction with_less = Predict(program, "tpu-v6e:1x1");
  ASSERT_TRUE(with_defaults.step && with_less.step) << with_less.reason;
  // 4.90 instead of 2.98 million cycles: the tiles are smaller.
  EXPECT_NEAR(with_less.step->seconds.upper / with_defaults.step->seconds.upper, 4.90 / 2.98, 0.05);
  program.flags = {{"xla_tpu_no_such_flag", std::string("1")}};
  const TargetPrediction refused = Predict(program, "tpu-v6e:1x1");
  EXPECT_EQ(refused.status, PredictionStatus::kRefused);
  EXPECT_THAT(refused.reason, HasSubstr("xla_tpu_no_such_flag"));
}

TEST_F(OnTpu, WhatWasKeptIsTheSamePrediction) {
  std::string folder = ::testing::TempDir() + "ridgeline-kept-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto once = [&](int found, const Program& program) {
    CompileCache cache(folder, "test");
    const Result<TargetPrediction> one =
        PredictProgram(program, TargetNamed("tpu-v5e:1x1"), library_, {}, &cache);
    EXPECT_EQ(cache.found(), found);
    EXPECT_TRUE(cache.warnings().empty());
    return DumpPretty(ToJson(one.value()));
  };
  // What does not fit is kept too, a compiler that died is not.
  for (const int64_t n : {1024, 65536}) {
    const std::string compiled = once(0, Product(n));
    EXPECT_EQ(once(1, Product(n)), compiled);
  }
  std::filesystem::remove_all(folder);
}

// Eight devices in two slices: a sum over all of them inside each slice, between them, inside.
TEST_F(OnTpu, SlicesAreJoinedByTheDataCentreNetwork) {
  const Program program = {R"(module @sum attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%a: tensor<8x1024x1024xf32> {mhlo.sharding = "{devices=[8,1,1]<=[8]}"}) -> (tensor<1024x1024xf32> {mhlo.sharding = "{replicated}"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %v = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<1024x1024xf32>
    return %v : tensor<1024x1024xf32>
  }
})",
                           8,
                           false,
                           {}};
  const TargetPrediction one = Predict(program, "tpu-v5e:2x2,slices=2");
  ASSERT_TRUE(one.step) << one.reason;
  double dcn = 0;
  for (const WireRow& row : one.step->wire) {
    if (row.axes == "dcn") dcn += row.payload_bytes;
  }
  // 4 MiB over four chips of a slice: each carries a quarter across.
  EXPECT_EQ(dcn, 1048576);
  ASSERT_TRUE(one.cost);
  EXPECT_THAT(one.cost->basis, HasSubstr("8 chips"));
}

}  // namespace
}  // namespace ridgeline::predict
