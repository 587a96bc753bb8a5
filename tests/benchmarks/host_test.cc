// Host transfers: what the engine is asked to move, the bytes that count, and the comparison of
// what arrived.
#include <gmock/gmock.h>

#include "benchmarks/harness.h"

namespace ridgeline::benchmarks {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using programs::TransferDirection;

Outputs Arrived(const programs::Program& program) {
  const HostRun inputs(program, {});
  Outputs outputs(static_cast<size_t>(program.partitions));
  for (size_t p = 0; p < outputs.size(); ++p) {
    const HostTensor data = inputs.Input(static_cast<int>(p), 0).Materialize();
    outputs[p].assign(program.outputs.size(), data);
  }
  return outputs;
}

TEST(Host, D1_SaysWhatIsMovedAndInWhichMemory) {
  const std::map<std::string, TransferDirection> directions = {
      {"host_to_device", TransferDirection::kToDevice},
      {"device_to_host", TransferDirection::kFromDevice},
      {"host_both", TransferDirection::kBoth}};
  for (const auto& [bench, direction] : directions) {
    const programs::Program program =
        MustBuild(bench, {{"bytes", int64_t{4096}}, {"memory_kind", std::string("pinned_host")}});
    EXPECT_EQ(program.repeat, programs::Repeat::kTransfers);
    EXPECT_EQ(program.transfer.direction, direction);
    EXPECT_EQ(program.transfer.shape, (Shape{DType::kF32, {1024}}));
    EXPECT_EQ(program.transfer.memory_kind, "pinned_host");
    EXPECT_THAT(program.stablehlo, IsEmpty());
    const double bytes = direction == TransferDirection::kBoth ? 8192 : 4096;
    ASSERT_EQ(program.rates.size(), 1u);
    EXPECT_EQ(program.rates[0].name, "host_bw");
    EXPECT_EQ(program.rates[0].amount, bytes);
    EXPECT_EQ(program.work.host_bytes, bytes);
    EXPECT_EQ(program.outputs.size(), direction == TransferDirection::kBoth ? 2u : 1u);
    EXPECT_THAT(program.labels, Contains("host RAM, not a link"));
    EXPECT_EQ(program.scope, Scope::kDevice);
  }
}

TEST(Host, AllDevicesAtOnceAddUp) {
  const programs::Program program =
      MustBuild("host_both", {{"bytes", int64_t{4096}}}, {.devices = 4, .all = true});
  EXPECT_EQ(program.scope, Scope::kAll);
  EXPECT_EQ(program.rates[0].amount, 4 * 8192);
  EXPECT_EQ(program.work.host_bytes, 8192) << "per device";
  EXPECT_THAT(program.labels, Contains("both directions at once, sum"));
}

TEST(Host, SemanticsBelongToTransfersToTheDevice) {
  const Given zero_copy = {{"semantics", std::string("zero_copy")}};
  const programs::Program program = MustBuild("host_to_device", zero_copy);
  EXPECT_EQ(program.transfer.semantics, "zero_copy");
  EXPECT_THAT(program.labels, Contains(HasSubstr("zero-copy")));
  EXPECT_FALSE(TryBuild("device_to_host", zero_copy).has_value());
  EXPECT_FALSE(TryBuild("host_both", {{"semantics", std::string("sometimes")}}).has_value());
}

TEST(Host, SizesRoundUpToElements) {
  const programs::Program program = MustBuild("device_to_host", {{"bytes", int64_t{6}}});
  EXPECT_EQ(program.rates[0].amount, 8);
  EXPECT_THAT(program.labels, Contains("moved bytes: 8 (asked 6)"));
  const auto small = TryBuild("device_to_host", {{"bytes", int64_t{3}}});
  ASSERT_FALSE(small.has_value());
  EXPECT_EQ(small.error().code, Code::kOutOfRange);
  EXPECT_THAT(small.error().message, HasSubstr("at least 4 B"));
}

TEST(Host, EveryElementIsCompared) {
  for (const std::string bench : {"host_to_device", "device_to_host", "host_both"}) {
    const programs::Program program =
        MustBuild(bench, {{"bytes", int64_t{40000}}}, {.devices = 2, .all = true});
    const Outputs right = Arrived(program);
    EXPECT_TRUE(CheckOutputs(program, right).passed);
    for (size_t p = 0; p < right.size(); ++p) {
      for (size_t o = 0; o < right[p].size(); ++o) {
        for (const int64_t i : {0, 4095, 4096, 9999}) {
          Outputs wrong = right;
          Spoil(wrong[p][o], i);
          EXPECT_FALSE(CheckOutputs(program, wrong).passed) << bench << " element " << i;
        }
      }
    }
    Outputs swapped = right;
    std::swap(swapped[0], swapped[1]);
    EXPECT_FALSE(CheckOutputs(program, swapped).passed) << "two devices' arrays swapped";
  }
}

}  // namespace
}  // namespace ridgeline::benchmarks
