// Collectives: sizes, formulas (facts: nccl-tests' doc/PERFORMANCE.md), groups, and known answers
// that tell a right result from a wrong one.
#include <gmock/gmock.h>

#include <numeric>

#include "benchmarks/harness.h"
#include "core/collective_bytes.h"

namespace ridgeline::benchmarks {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kCollectives = {"all_reduce", "all_gather", "reduce_scatter",
                                               "all_to_all", "collective_permute"};

Given Bytes(int64_t bytes, const std::string& dtype = "f32", Given more = {}) {
  more.insert({{"bytes", bytes}, {"dtype", dtype}});
  return more;
}

std::vector<int64_t> Range(int64_t first, int64_t count) {
  std::vector<int64_t> range(static_cast<size_t>(count));
  std::iota(range.begin(), range.end(), first);
  return range;
}

// What every rank must hold, straight from the definitions.
Outputs Answer(const std::string& bench, const programs::Program& program,
               const std::vector<std::vector<int64_t>>& groups) {
  const HostRun inputs(program, {});
  std::vector<std::vector<std::vector<double>>> values(static_cast<size_t>(program.partitions));
  for (size_t p = 0; p < values.size(); ++p) {
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      values[p].push_back(inputs.Input(static_cast<int>(p), static_cast<int>(i)).Values());
    }
  }
  Outputs outputs(values.size());
  for (const auto& group : groups) {
    const auto n = static_cast<int64_t>(group.size());
    for (int64_t rank = 0; rank < n; ++rank) {
      auto& mine = outputs[static_cast<size_t>(group[static_cast<size_t>(rank)])];
      for (size_t o = 0; o < program.outputs.size(); ++o) {
        HostTensor out(program.outputs[o]);
        const int64_t size = out.shape.elements();
        const auto from = [&](int64_t source, int64_t index) {
          const auto partition = group[static_cast<size_t>((source + n) % n)];
          return values[static_cast<size_t>(partition)][o][static_cast<size_t>(index)];
        };
        const auto sum = [&](int64_t index) {
          double total = 0;
          for (int64_t source = 0; source < n; ++source) total += from(source, index);
          return total;
        };
        for (int64_t i = 0; i < size; ++i) {
          if (bench == "all_reduce") out.set(i, sum(i));
          if (bench == "reduce_scatter") out.set(i, sum(rank * size + i));
          if (bench == "all_gather") out.set(i, from(i / (size / n), i % (size / n)));
          if (bench == "all_to_all") {
            out.set(i, from(i / (size / n), rank * (size / n) + i % (size / n)));
          }
          // Up comes from the rank below, down from the rank above.
          if (bench == "collective_permute") out.set(i, from(rank + (o == 0 ? -1 : 1), i));
        }
        mine.push_back(std::move(out));
      }
    }
  }
  return outputs;
}

TEST(CollectiveBytes, NcclTestsFormulas) {
  constexpr double kBytes = 4e8;
  constexpr double kSeconds = 0.01;
  const auto busbw = [](Collective collective) {
    return BusBytes(collective, 4, kBytes) / kSeconds;
  };
  EXPECT_DOUBLE_EQ(kBytes / kSeconds, 40e9);
  EXPECT_DOUBLE_EQ(busbw(Collective::kAllGather), 30e9);
  EXPECT_DOUBLE_EQ(busbw(Collective::kReduceScatter), 30e9);
  EXPECT_DOUBLE_EQ(busbw(Collective::kAllReduce), 60e9);
  EXPECT_DOUBLE_EQ(busbw(Collective::kBroadcast), 40e9);
  EXPECT_DOUBLE_EQ(busbw(Collective::kPermute), 40e9);
  // 16 ranks, 1.6 GB each, 64 ms.
  EXPECT_NEAR(BusBytes(Collective::kAllToAll, 16, 1.6e9) / 0.064, 23.44e9, 0.01e9);
  EXPECT_EQ(BusFactor(Collective::kAllReduce, 1), 0);
}

TEST(Network, RatesAndWireBytesOfAProgram) {
  const std::map<std::string, double> factors = {{"all_reduce", 1.5},
                                                 {"all_gather", 0.75},
                                                 {"reduce_scatter", 0.75},
                                                 {"all_to_all", 0.75},
                                                 {"collective_permute", 1}};
  for (const auto& [bench, factor] : factors) {
    const programs::Program program = MustBuild(bench, Bytes(400'000'000), {.devices = 4});
    ASSERT_EQ(program.rates.size(), 2u);
    EXPECT_EQ(program.rates[0].name, "algbw");
    EXPECT_EQ(program.rates[0].amount, 4e8);
    EXPECT_EQ(program.rates[1].name, "busbw");
    EXPECT_EQ(program.rates[1].amount, factor * 4e8) << bench;
    EXPECT_EQ(program.work.wire_bytes, factor * 4e8) << bench;
    EXPECT_EQ(program.partitions, 4);
    EXPECT_EQ(program.scope, Scope::kDevice);
    EXPECT_THAT(program.labels, Contains("shared memory, not a network"));
    EXPECT_THAT(MustBuild(bench, Bytes(4096), {.devices = 4, .platform = "tpu"}).labels,
                Not(Contains("shared memory, not a network")));
  }
}

TEST(Network, BothWaysCountsBothMessages) {
  const Given both = Bytes(4096, "f32", {{"direction", std::string("both_ways")}});
  for (const std::string bench : {"collective_permute", "pair"}) {
    const programs::Program program = MustBuild(bench, both, {.devices = 4});
    EXPECT_EQ(program.rates[0].amount, 8192) << bench;
    EXPECT_THAT(program.labels, Contains("both directions counted: two messages a round"));
  }
}

TEST(Network, OneDeviceIsNotApplicable) {
  for (const std::string& bench : kCollectives) {
    const auto program = TryBuild(bench, Bytes(4096));
    ASSERT_FALSE(program.has_value()) << bench;
    EXPECT_EQ(program.error().code, Code::kFailedPrecondition);
    EXPECT_THAT(program.error().message, HasSubstr("needs 2 devices"));
  }
  const auto pair = TryBuild("pair", {{"target", int64_t{5}}}, {.devices = 4});
  ASSERT_FALSE(pair.has_value());
  EXPECT_EQ(pair.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(pair.error().message, HasSubstr("needs 6 devices"));
  EXPECT_EQ(TryBuild("pair", {{"target", int64_t{0}}}, {.devices = 4}).error().code,
            Code::kInvalidArgument);
}

TEST(Network, TooFewBytesNameTheMinimum) {
  for (const std::string bench : {"all_gather", "reduce_scatter", "all_to_all"}) {
    const auto program = TryBuild(bench, Bytes(8), {.devices = 8});
    ASSERT_FALSE(program.has_value()) << bench;
    EXPECT_EQ(program.error().code, Code::kOutOfRange);
    EXPECT_THAT(program.error().message, HasSubstr("at least 32 B on 8 devices"));
    EXPECT_TRUE(TryBuild(bench, Bytes(32), {.devices = 8}).has_value());
  }
  EXPECT_EQ(TryBuild("all_reduce", Bytes(3), {.devices = 8}).error().code, Code::kOutOfRange);
}

TEST(Network, OddSizesKeepAskedAndMovedBytes) {
  const auto moved = [](const std::string& bench, int64_t elements, int devices) {
    return MustBuild(bench, Bytes(4 * elements), {.devices = devices});
  };
  EXPECT_EQ(moved("all_reduce", 1'000'003, 4).rates[0].amount, 4'000'012);
  EXPECT_EQ(moved("all_reduce", 1'000'003, 4).labels.size(), 1u);
  for (const std::string bench : {"all_gather", "reduce_scatter", "all_to_all"}) {
    const programs::Program program = moved(bench, 1'000'003, 4);
    EXPECT_EQ(program.rates[0].amount, 4'000'016) << bench;
    EXPECT_THAT(program.labels, Contains("moved bytes: 4000016 (asked 4000012)"));
    EXPECT_EQ(moved(bench, 9'437'186, 8).rates[0].amount, 4 * 9'437'192) << bench;
  }
  EXPECT_EQ(MustBuild("all_reduce", Bytes(5), {.devices = 2}).rates[0].amount, 8);
}

TEST(Network, GroupsReachTheProgramAndTheAudit) {
  const Given halves = Bytes(4096, "f32", {{"group", std::string("halves")}});
  const programs::Program program = MustBuild("all_reduce", halves, {.devices = 4});
  EXPECT_THAT(program.stablehlo,
              HasSubstr("replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"));
  const std::vector<std::vector<int64_t>> groups = {{0, 1}, {2, 3}};
  EXPECT_EQ(program.expected.groups, groups);
  EXPECT_EQ(program.rates[1].amount, 4096) << "two ranks: bus factor 1";
  const auto unknown =
      TryBuild("all_reduce", Bytes(64, "f32", {{"group", std::string("hafves")}}), {.devices = 4});
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean 'halves'"));
}

struct AnswerCase {
  std::string dtype;
  std::string group;
  int devices;
};

class NetworkAnswer : public ::testing::TestWithParam<AnswerCase> {};

TEST_P(NetworkAnswer, TellsRightFromWrong) {
  const AnswerCase& c = GetParam();
  const int64_t half = c.devices / 2;
  std::vector<std::vector<int64_t>> groups = {Range(0, c.devices)};
  if (c.group == "halves") groups = {Range(0, half), Range(half, half)};
  for (const std::string& bench : kCollectives) {
    SCOPED_TRACE(bench);
    const programs::Program program =
        MustBuild(bench, Bytes(1000, c.dtype, {{"group", c.group}}), {.devices = c.devices});
    const Outputs right = Answer(bench, program, groups);
    const programs::CheckResult passed = CheckOutputs(program, right);
    ASSERT_TRUE(passed.passed) << passed.detail;
    // One wrong element on one rank, anywhere.
    for (size_t p = 0; p < right.size(); ++p) {
      HostTensor wrong = right[p][0];
      for (const int64_t i : {int64_t{0}, wrong.shape.elements() / 2, wrong.shape.elements() - 1}) {
        Outputs mutated = right;
        mutated[p][0].set(i, wrong.at(i) + 1);
        EXPECT_FALSE(CheckOutputs(program, mutated).passed) << "device " << p << " element " << i;
      }
    }
    // The op never ran.
    EXPECT_FALSE(CheckOutputs(program, InitialOutputs(program, c.devices)).passed);
    if (bench == "all_reduce" || bench == "all_gather") continue;  // the same on every rank
    Outputs swapped = right;
    std::swap(swapped[0], swapped[1]);
    if (bench != "collective_permute" || half > 2) {
      EXPECT_FALSE(CheckOutputs(program, swapped).passed) << "two ranks' outputs swapped";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, NetworkAnswer,
    ::testing::Values(AnswerCase{"f32", "all", 4}, AnswerCase{"bf16", "all", 8},
                      AnswerCase{"s8", "all", 8}, AnswerCase{"u8", "all", 3},
                      AnswerCase{"f64", "halves", 8}, AnswerCase{"s32", "halves", 6}),
    [](const auto& c) {
      return c.param.dtype + "_" + c.param.group + std::to_string(c.param.devices);
    });

TEST(Network, SumsNeedEveryContributionAndTheRightGroup) {
  for (const std::string bench : {"all_reduce", "reduce_scatter"}) {
    const programs::Program program = MustBuild(bench, Bytes(1024), {.devices = 4});
    EXPECT_TRUE(CheckOutputs(program, Answer(bench, program, {{0, 1, 2, 3}})).passed);
    Outputs missing = Answer(bench, program, {{0, 1, 2, 3}});
    const HostRun inputs(program, {});
    for (size_t p = 0; p < 4; ++p) {
      HostTensor& out = missing[p][0];
      const auto first = bench == "all_reduce" ? 0 : static_cast<int64_t>(p) * out.shape.elements();
      for (int64_t i = 0; i < out.shape.elements(); ++i) {
        out.set(i, out.at(i) - inputs.Input(3, 0)(first + i));
      }
    }
    EXPECT_FALSE(CheckOutputs(program, missing).passed) << "rank 3 is missing";
  }
  const programs::Program program = MustBuild("all_reduce", Bytes(1024), {.devices = 4});
  EXPECT_FALSE(CheckOutputs(program, Answer("all_reduce", program, {{0, 1}, {2, 3}})).passed);
}

// Inputs of ones, as the data mode `ones` makes them.
class RunOfOnes : public HostRun {
 public:
  RunOfOnes(const programs::Program& program, Outputs outputs)
      : HostRun(program, std::move(outputs)), spec_(program.inputs[0]) {}
  programs::InputSource Input(int partition, int input) const override {
    return {spec_, input, partition, kTestSeed, "ones"};
  }

 private:
  programs::TensorSpec spec_;
};

TEST(Network, IntegerSumsWrapAsTheDeviceDoes) {
  const programs::Program program = MustBuild("all_reduce", Bytes(16, "s8"), {.devices = 200});
  Outputs outputs = InitialOutputs(program, 200);
  for (auto& device : outputs) {
    for (int64_t i = 0; i < 16; ++i) device[0].set(i, 200 - 256);
  }
  const programs::CheckResult result = program.check(RunOfOnes(program, outputs));
  EXPECT_TRUE(result.passed) << result.detail;
}

TEST(Network, ShiftedRingFails) {
  const programs::Program program =
      MustBuild("collective_permute", Bytes(256, "f32", {{"direction", std::string("both_ways")}}),
                {.devices = 4});
  Outputs outputs = Answer("collective_permute", program, {{0, 1, 2, 3}});
  EXPECT_TRUE(CheckOutputs(program, outputs).passed);
  Outputs shifted = outputs;
  std::rotate(shifted.begin(), shifted.begin() + 1, shifted.end());
  EXPECT_FALSE(CheckOutputs(program, shifted).passed);
  for (auto& device : outputs) std::swap(device[0], device[1]);
  EXPECT_FALSE(CheckOutputs(program, outputs).passed) << "up and down swapped";
}

TEST(Network, PairDeliversToItsTargetAlone) {
  const programs::Program program = MustBuild(
      "pair", Bytes(256, "f32", {{"source", int64_t{3}}, {"target", int64_t{1}}}), {.devices = 4});
  EXPECT_THAT(program.stablehlo, HasSubstr("source_target_pairs = dense<[[3, 1]]>"));
  Outputs outputs = InitialOutputs(program, 4);
  EXPECT_FALSE(CheckOutputs(program, outputs).passed);
  const HostRun inputs(program, {});
  outputs[1][0] = inputs.Input(3, 0).Materialize();
  EXPECT_TRUE(CheckOutputs(program, outputs).passed);
  Outputs elsewhere = outputs;
  elsewhere[2][0].set(7, 1);
  EXPECT_FALSE(CheckOutputs(program, elsewhere).passed) << "a device that takes no part got data";
  outputs[1][0] = inputs.Input(0, 0).Materialize();
  EXPECT_FALSE(CheckOutputs(program, outputs).passed) << "from the wrong source";
}

TEST(Network, SendRecvComparesItsTarget) {
  const programs::Program program = MustBuild("send_recv", Bytes(256), {.devices = 4});
  EXPECT_THAT(program.stablehlo, HasSubstr("stablehlo.send"));
  Outputs outputs = InitialOutputs(program, 4);
  EXPECT_FALSE(CheckOutputs(program, outputs).passed);
  outputs[1][0] = HostRun(program, {}).Input(0, 0).Materialize();
  EXPECT_TRUE(CheckOutputs(program, outputs).passed);
}

}  // namespace
}  // namespace ridgeline::benchmarks
