#include "device/fake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ridgeline::device {
namespace {

using ::testing::ElementsAre;

constexpr char kLoop[] = "… %out0: tensor<4xf32> {tf.aliasing_output = 0 : i32} …";

HostTensor Tensor(Shape shape, const std::vector<double>& values) {
  HostTensor tensor(std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.set(static_cast<int64_t>(i), values[i]);
  return tensor;
}

std::unique_ptr<Buffer> Put(Client& client, const HostTensor& tensor, int device = 0) {
  auto buffer = client.StartPut({tensor.bytes, tensor.shape, device, "", {}});
  EXPECT_TRUE(buffer.has_value()) << buffer.error().ToString();
  return buffer ? std::move(*buffer) : nullptr;
}

std::vector<double> Read(Buffer& buffer) {
  HostTensor tensor(buffer.shape());
  auto pending = buffer.StartRead(tensor.bytes);
  EXPECT_TRUE(pending.has_value() && (*pending)->Await().has_value());
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.shape.elements(); ++i) values.push_back(tensor.at(i));
  return values;
}

CompileRequest Request(std::string program, std::vector<int> devices = {0}) {
  CompileRequest request;
  request.program = std::move(program);
  request.partitions = static_cast<int>(devices.size());
  request.devices = std::move(devices);
  return request;
}

// Runs the loop once with trip count `n`; the time that the clock says it took.
double TimeOf(FakeClient& client, Executable& executable, int n) {
  auto count = Put(client, Tensor({DType::kS32, {}}, {static_cast<double>(n)}));
  auto carried = Put(client, Tensor({DType::kF32, {4}}, {1, 2, 3, 4}));
  EXPECT_TRUE(count->Await() && carried->Await());
  const double before = client.Now();
  EXPECT_TRUE(executable.Run({{count.get(), carried.get()}}).has_value());
  return client.Now() - before;
}

FakeOptions Linear() {
  FakeOptions options;
  options.seconds = [](const std::string&, int64_t n) {
    return 5e-6 + 2e-6 * static_cast<double>(n);
  };
  return options;
}

TEST(FakeTest, RunsTakeTheScriptedTime) {
  FakeClient client(Linear());
  auto executable = client.Compile(Request(kLoop));
  ASSERT_TRUE(executable.has_value());
  EXPECT_DOUBLE_EQ(TimeOf(client, **executable, 0), 5e-6);
  EXPECT_NEAR(TimeOf(client, **executable, 10), 25e-6, 1e-15);
  EXPECT_EQ(client.calls(FakeCall::kRun), 2);
}

TEST(FakeTest, NoiseIsOfTheAskedSizeAndTheSameForTheSameSeed) {
  FakeOptions options = Linear();
  options.noise = 0.1;
  auto times = [&](uint64_t seed) {
    options.seed = seed;
    FakeClient client(options);
    auto executable = client.Compile(Request(kLoop));
    std::vector<double> result;
    for (int i = 0; i < 400; ++i) result.push_back(TimeOf(client, **executable, 10) / 25e-6 - 1);
    return result;
  };
  const auto first = times(1);
  EXPECT_EQ(first, times(1));
  EXPECT_NE(first, times(2));
  double sum = 0;
  double squares = 0;
  for (double x : first) {
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 400, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / 400), 0.1, 0.015);
}

TEST(FakeTest, DriftGrowsWithTheClock) {
  FakeOptions options;
  options.seconds = [](const std::string&, int64_t) { return 1.0; };
  options.drift_per_s = 0.5;
  options.put_bytes_per_s = 1e30;
  FakeClient client(options);
  auto executable = client.Compile(Request(kLoop));
  EXPECT_NEAR(TimeOf(client, **executable, 1), 1.0, 1e-12);
  EXPECT_NEAR(TimeOf(client, **executable, 1), 1.5, 1e-12);
}

TEST(FakeTest, TransfersQueueOnTheirOwnLink) {
  FakeOptions options;
  options.devices = FakeDevices(2);
  options.put_bytes_per_s = 16;
  options.read_bytes_per_s = 32;
  options.transfer_latency_s = 0.25;
  FakeClient client(options);
  const HostTensor tensor = Tensor({DType::kF32, {4}}, {1, 2, 3, 4});  // 16 bytes
  auto put = [&](int device, HostSemantics semantics) {
    return std::move(*client.StartPut({tensor.bytes, tensor.shape, device, "", semantics}));
  };
  auto a = put(0, HostSemantics::kImmutableUntilTransferCompletes);
  auto b = put(0, HostSemantics::kImmutableUntilTransferCompletes);
  auto other = put(1, HostSemantics::kImmutableUntilTransferCompletes);
  EXPECT_EQ(client.Now(), 0);
  ASSERT_TRUE(other->Await());
  EXPECT_EQ(client.Now(), 1.25);
  ASSERT_TRUE(b->Await());
  EXPECT_EQ(client.Now(), 2.5);
  ASSERT_TRUE(a->Await());
  EXPECT_EQ(client.Now(), 2.5);
  EXPECT_THAT(Read(*a), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(client.Now(), 3.25);
  put(1, HostSemantics::kImmutableOnlyDuringCall);
  EXPECT_EQ(client.Now(), 4.5);
}

TEST(FakeTest, MemoryIsCountedAndLimited) {
  FakeOptions options;
  options.memory_limit = 40;
  FakeClient client(options);
  const HostTensor tensor = Tensor({DType::kF32, {4}}, {1, 2, 3, 4});
  auto a = Put(client, tensor);
  auto b = Put(client, tensor);
  EXPECT_EQ(client.MemoryInUse(0)->in_use, 32);
  EXPECT_EQ(client.MemoryInUse(0)->limit, 40);
  auto c = client.StartPut({tensor.bytes, tensor.shape, 0, "", {}});
  ASSERT_FALSE(c.has_value());
  EXPECT_EQ(c.error().code, Code::kResourceExhausted);
  b.reset();
  EXPECT_EQ(client.MemoryInUse(0)->in_use, 16);
  EXPECT_TRUE(client.StartPut({tensor.bytes, tensor.shape, 0, "", {}}).has_value());
  EXPECT_EQ(client.MemoryInUse(1), std::nullopt);
}

TEST(FakeTest, DonatedArgumentsAreDeadAndTheirMemoryIsTheOutputs) {
  FakeClient client;
  auto executable = client.Compile(Request(kLoop));
  auto n = Put(client, Tensor({DType::kS32, {}}, {3}));
  auto carried = Put(client, Tensor({DType::kF32, {4}}, {1, 2, 3, 4}));
  EXPECT_EQ(client.MemoryInUse(0)->in_use, 20);
  auto outputs = (*executable)->Run({{n.get(), carried.get()}});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().ToString();
  EXPECT_EQ(client.MemoryInUse(0)->in_use, 20);
  EXPECT_THAT(Read(*(*outputs)[0][0]), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(carried->Await().has_value());
  EXPECT_FALSE((*executable)->Run({{n.get(), carried.get()}}).has_value());
  EXPECT_TRUE((*executable)->Run({{n.get(), (*outputs)[0][0].get()}}).has_value());
  EXPECT_TRUE(n->Await().has_value());
}

TEST(FakeTest, OutputsAreComputedAndThenSpoiled) {
  FakeOptions options;
  options.devices = FakeDevices(2);
  options.compute = [](const std::string&, const TensorRefGrid& arguments) {
    const double sum = arguments[0][0]->at(0) + arguments[1][0]->at(0);
    return TensorGrid{{Tensor({DType::kF32, {}}, {sum})}, {Tensor({DType::kF32, {}}, {sum})}};
  };
  options.corrupt = [](int run, TensorGrid& outputs) {
    if (run == 2) outputs[1][0].set(0, -1);
  };
  FakeClient client(options);
  auto executable = client.Compile(Request("sum", {1, 0}));
  auto a = Put(client, Tensor({DType::kF32, {}}, {2}), 1);
  auto b = Put(client, Tensor({DType::kF32, {}}, {5}), 0);
  auto first = (*executable)->Run({{a.get()}, {b.get()}});
  EXPECT_THAT(Read(*(*first)[1][0]), ElementsAre(7));
  auto second = (*executable)->Run({{a.get()}, {b.get()}});
  EXPECT_THAT(Read(*(*second)[0][0]), ElementsAre(7));
  EXPECT_THAT(Read(*(*second)[1][0]), ElementsAre(-1));
  // Arguments on the wrong device.
  EXPECT_EQ((*executable)->Run({{b.get()}, {a.get()}}).error().code, Code::kInvalidArgument);
}

TEST(FakeTest, BackToBackIsThatManyRuns) {
  FakeOptions options;
  options.seconds = [](const std::string&, int64_t) { return 0.5; };
  FakeClient client(options);
  auto executable = client.Compile(Request("call"));
  ASSERT_TRUE((*executable)->RunBackToBack({{}}, 4).has_value());
  EXPECT_EQ(client.Now(), 2.0);
  EXPECT_FALSE((*executable)->RunBackToBack({{}}, 0).has_value());
}

TEST(FakeTest, TheNthCallFails) {
  for (FakeCall call : {FakeCall::kCompile, FakeCall::kPut, FakeCall::kRead, FakeCall::kRun}) {
    FakeOptions options;
    options.failures = {{call, 2, {Code::kUnavailable, "gone", "here", ""}}};
    FakeClient client(options);
    const HostTensor tensor = Tensor({DType::kF32, {4}}, {1, 2, 3, 4});
    std::vector<bool> worked;
    for (int i = 0; i < 3; ++i) {
      auto executable = client.Compile(Request("call"));
      auto buffer = client.StartPut({tensor.bytes, tensor.shape, 0, "", {}});
      if (!executable || !buffer) {
        worked.push_back(false);
        continue;
      }
      HostTensor back(tensor.shape);
      worked.push_back((*executable)->Run({{}}).has_value() &&
                       (*buffer)->StartRead(back.bytes).has_value());
    }
    EXPECT_THAT(worked, ElementsAre(true, false, true)) << static_cast<int>(call);
  }
}

TEST(FakeTest, FailedRunTakesItsDonatedArgumentsWithIt) {
  FakeOptions options;
  options.failures = {{FakeCall::kRun, 1, {Code::kInternal, "lost", "", ""}}};
  FakeClient client(options);
  auto executable = client.Compile(Request(kLoop));
  auto n = Put(client, Tensor({DType::kS32, {}}, {3}));
  auto carried = Put(client, Tensor({DType::kF32, {4}}, {1, 2, 3, 4}));
  EXPECT_EQ((*executable)->Run({{n.get(), carried.get()}}).error().code, Code::kInternal);
  EXPECT_FALSE(carried->Await().has_value());
  EXPECT_TRUE(n->Await().has_value());
  EXPECT_EQ(client.MemoryInUse(0)->in_use, 4);
}

TEST(FakeTest, ZeroCopyAliasesOnlyWhenScripted) {
  const HostTensor tensor = Tensor({DType::kF32, {4}}, {1, 2, 3, 4});
  for (bool aliases : {false, true}) {
    FakeOptions options;
    options.zero_copy_aliases = aliases;
    FakeClient client(options);
    auto buffer =
        client.StartPut({tensor.bytes, tensor.shape, 0, "", HostSemantics::kImmutableZeroCopy});
    ASSERT_TRUE(buffer.has_value());
    EXPECT_EQ(*(*buffer)->Aliases(tensor.bytes.data()), aliases);
    EXPECT_FALSE(*(*buffer)->Aliases(&client));
  }
}

TEST(FakeTest, OptimizedProgramComesFromTheScript) {
  FakeOptions options;
  options.optimized = [](const CompileRequest& request) -> Result<ProgramText> {
    return ProgramText{"hlo", request.program + "!"};
  };
  FakeClient scripted(options);
  EXPECT_EQ((*scripted.Compile(Request("p")))->OptimizedProgram()->bytes, "p!");
  FakeClient plain;
  EXPECT_EQ((*plain.Compile(Request("p")))->OptimizedProgram().error().code, Code::kUnimplemented);
}

}  // namespace
}  // namespace ridgeline::device
