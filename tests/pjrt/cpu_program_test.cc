#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "pjrt/cpu_plugin.h"

namespace ridgeline::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Shape kCounter{DType::kS32, {}};

// The loop of design.md section 3.2 around one line of StableHLO, over one operand %b#1 and one
// carried result %v, both tensor<Nxf32>.
std::string Loop(int partitions, int64_t elements, const std::string& op) {
  const std::string type = fmt::format("tensor<{}xf32>", elements);
  const std::string sharding = partitions > 1 ? "mhlo.sharding = \"{manual}\"" : "";
  const std::string only = partitions > 1 ? " {" + sharding + "}" : "";
  return fmt::format(
      R"(module @test attributes {{mhlo.num_partitions = {0} : i32, mhlo.num_replicas = 1 : i32}} {{
  func.func public @main(%n: tensor<i32>{1}, %in: {2}{1},
      %out: {2} {{{3}tf.aliasing_output = 0 : i32}}) -> ({2}{1}) {{
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %w:4 = stablehlo.while(%i = %zero, %limit = %n, %a = %in, %c = %out)
        : tensor<i32>, tensor<i32>, {2}, {2}
    cond {{
      %more = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    }} do {{
      %b:2 = stablehlo.optimization_barrier %i, %a : tensor<i32>, {2}
      {4}
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %b#0, %one : tensor<i32>
      stablehlo.return %next, %limit, %b#1, %v : tensor<i32>, tensor<i32>, {2}, {2}
    }}
    return %w#3 : {2}
  }}
}}
)",
      partitions, only, type, partitions > 1 ? sharding + ", " : "", op);
}

std::string AddToItself(int64_t elements) {
  return fmt::format("%v = stablehlo.add %b#1, %b#1 : tensor<{}xf32>", elements);
}

std::string AllReduce(int partitions, int64_t elements) {
  std::vector<int> ids(static_cast<size_t>(partitions));
  std::iota(ids.begin(), ids.end(), 0);
  return fmt::format(
      R"(%v = "stablehlo.all_reduce"(%b#1) <{{replica_groups = dense<[[{0}]]> : tensor<1x{1}xi64>,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          use_global_device_ids}}> ({{
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %s = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }}) : (tensor<{2}xf32>) -> tensor<{2}xf32>)",
      fmt::join(ids, ", "), partitions, elements);
}

device::CompileRequest Request(std::string program, int partitions = 1) {
  device::CompileRequest request;
  request.program = std::move(program);
  request.partitions = partitions;
  request.devices.resize(static_cast<size_t>(partitions));
  std::iota(request.devices.begin(), request.devices.end(), 0);
  return request;
}

std::unique_ptr<device::Executable> Compile(device::Client& client,
                                            const device::CompileRequest& request) {
  auto executable = client.Compile(request);
  EXPECT_TRUE(executable.has_value()) << executable.error().ToString();
  return executable ? std::move(*executable) : nullptr;
}

// The outputs of one loop run with the trip count `n`, one value a partition: every operand is
// `partition + 1` all over, every carried array -1. EXPECTs that each output is one value all over.
std::vector<double> RunLoop(device::Client& client, device::Executable& executable, int partitions,
                            int64_t elements, int n) {
  const Shape shape{DType::kF32, {elements}};
  std::vector<std::unique_ptr<device::Buffer>> owned;
  device::ArgumentGrid grid;
  for (int p = 0; p < partitions; ++p) {
    const size_t first = owned.size();
    owned.push_back(Put(client, Tensor(kCounter, {static_cast<double>(n)}), p));
    owned.push_back(
        Put(client, Tensor(shape, std::vector<double>(static_cast<size_t>(elements), p + 1)), p));
    owned.push_back(
        Put(client, Tensor(shape, std::vector<double>(static_cast<size_t>(elements), -1)), p));
    grid.push_back({owned[first].get(), owned[first + 1].get(), owned[first + 2].get()});
  }
  auto outputs = executable.Run(grid);
  EXPECT_TRUE(outputs.has_value()) << outputs.error().ToString();
  std::vector<double> result;
  if (!outputs) return result;
  for (auto& row : *outputs) {
    const std::vector<double> values = Values(Read(*row[0]));
    EXPECT_EQ(values, std::vector<double>(static_cast<size_t>(elements), values[0]));
    result.push_back(values[0]);
  }
  return result;
}

TEST(CpuProgramTest, LoopRunsAsOftenAsAsked) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  auto executable = Compile(*client, Request(Loop(1, 1000, AddToItself(1000))));
  ASSERT_NE(executable, nullptr);
  EXPECT_THAT(RunLoop(*client, *executable, 1, 1000, 0), ElementsAre(-1));
  EXPECT_THAT(RunLoop(*client, *executable, 1, 1000, 1), ElementsAre(2));
  EXPECT_THAT(RunLoop(*client, *executable, 1, 1000, 5), ElementsAre(2));
}

TEST(CpuProgramTest, AllReduceOverEightVirtualDevices) {
  auto client = CpuClient(8);
  ASSERT_NE(client, nullptr);
  auto executable = Compile(*client, Request(Loop(8, 1024, AllReduce(8, 1024)), 8));
  ASSERT_NE(executable, nullptr);
  for (int n : {1, 2, 20}) {
    EXPECT_THAT(RunLoop(*client, *executable, 8, 1024, n),
                ElementsAre(36, 36, 36, 36, 36, 36, 36, 36));
  }
}

// Partition p runs on the device that the request names: a buffer of another device is refused.
TEST(CpuProgramTest, PartitionsRunWhereTheRequestSays) {
  auto client = CpuClient(3);
  ASSERT_NE(client, nullptr);
  device::CompileRequest request = Request(Loop(1, 8, AddToItself(8)));
  request.devices = {2};
  auto executable = Compile(*client, request);
  ASSERT_NE(executable, nullptr);
  for (int device : {2, 0}) {
    auto n = Put(*client, Tensor(kCounter, {1}), device);
    auto in = Put(*client, Tensor({DType::kF32, {8}}, std::vector<double>(8, 3)), device);
    auto out = Put(*client, Tensor({DType::kF32, {8}}, std::vector<double>(8, 0)), device);
    auto outputs = executable->Run({{n.get(), in.get(), out.get()}});
    ASSERT_EQ(outputs.has_value(), device == 2) << device;
    if (outputs) {
      EXPECT_EQ(Values(Read(*(*outputs)[0][0])), std::vector<double>(8, 6));
    }
  }
}

TEST(CpuProgramTest, DonatedArgumentIsDeadAfterwardsAndItsErrorHasText) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  auto executable = Compile(*client, Request(Loop(1, 8, AddToItself(8))));
  ASSERT_NE(executable, nullptr);
  auto n = Put(*client, Tensor(kCounter, {1}));
  auto in = Put(*client, Tensor({DType::kF32, {8}}, std::vector<double>(8, 3)));
  auto out = Put(*client, Tensor({DType::kF32, {8}}, std::vector<double>(8, 0)));
  ASSERT_TRUE(executable->Run({{n.get(), in.get(), out.get()}}).has_value());
  EXPECT_EQ(Values(Read(*in)), std::vector<double>(8, 3));
  auto again = executable->Run({{n.get(), in.get(), out.get()}});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().where, "PJRT_LoadedExecutable_Execute");
  EXPECT_THAT(again.error().message, HasSubstr("donated"));
}

TEST(CpuProgramTest, BackToBackGivesTheLastOutputs) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  auto executable = Compile(*client, Request(R"(module @m {
  func.func public @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = stablehlo.add %a, %a : tensor<4xf32>
    %p = stablehlo.multiply %a, %a : tensor<4xf32>
    return %s, %p : tensor<4xf32>, tensor<4xf32>
  }
})"));
  ASSERT_NE(executable, nullptr);
  auto a = Put(*client, Tensor({DType::kF32, {4}}, {1, 2, 3, 4}));
  auto outputs = executable->RunBackToBack({{a.get()}}, 50);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().ToString();
  EXPECT_THAT(Values(Read(*(*outputs)[0][0])), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(Values(Read(*(*outputs)[0][1])), ElementsAre(1, 4, 9, 16));
}

// The plugin keeps this result column-major; the host gets it row-major.
TEST(CpuProgramTest, ResultInAnotherDeviceLayoutIsReadRowMajor) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  auto executable = Compile(*client, Request(R"(module @m {
  func.func public @main(%a: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) {
    %s = stablehlo.add %a, %a : tensor<2x3xf32>
    return %s : tensor<2x3xf32>
  }
})"));
  ASSERT_NE(executable, nullptr);
  auto a = Put(*client, Tensor({DType::kF32, {2, 3}}, {1, 2, 3, 4, 5, 6}));
  auto outputs = executable->Run({{a.get()}});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().ToString();
  EXPECT_THAT(Values(Read(*(*outputs)[0][0])), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST(CpuProgramTest, OptimizedProgramIsGivenBack) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  auto executable = Compile(*client, Request(Loop(1, 8, AddToItself(8))));
  ASSERT_NE(executable, nullptr);
  auto program = executable->OptimizedProgram();
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  EXPECT_EQ(program->format, "hlo_with_config");
  EXPECT_THAT(program->bytes, HasSubstr("while"));
}

TEST(CpuProgramTest, CompilerErrorsKeepCodeAndText) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  auto bad =
      client->Compile(Request("module @m { func.func @main() { return %x : tensor<f32> } }"));
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().where, "PJRT_Client_Compile");
  EXPECT_THAT(bad.error().message, HasSubstr("undeclared SSA value"));
  device::CompileRequest unknown = Request(Loop(1, 8, AddToItself(8)));
  unknown.xla_options["xla_no_such_flag"] = true;
  auto refused = client->Compile(unknown);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("xla_no_such_flag"));
}

TEST(CpuProgramTest, WrongNumberOfArgumentsIsAnError) {
  auto client = CpuClient(1);
  ASSERT_NE(client, nullptr);
  auto executable = Compile(*client, Request(Loop(1, 8, AddToItself(8))));
  ASSERT_NE(executable, nullptr);
  auto n = Put(*client, Tensor(kCounter, {1}));
  EXPECT_FALSE(executable->Run({{n.get()}}).has_value());
}

}  // namespace
}  // namespace ridgeline::pjrt
