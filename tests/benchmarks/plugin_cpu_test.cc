// Every benchmark on XLA's CPU plugin at small sizes: it compiles, its answer is right for several
// trip counts, and the compiled program is what was meant.
#include <set>

#include "benchmarks/on_client.h"

namespace ridgeline::benchmarks {
namespace {

constexpr int kDevices = 4;

struct Row {
  std::string bench;
  Given given;
  bool all = false;          // on every device, as collectives always are
  bool unsupported = false;  // refused, as unimplemented
};

constexpr char kImported[] = R"(module @imported {
  func.func public @main(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}
)";

ParamValue Text(const char* text) { return std::string(text); }
ParamValue Whole(int64_t value) { return value; }

Given Gemm(const char* dtype, Given more = {}) {
  more.insert({{"m", Whole(48)}, {"n", Whole(40)}, {"k", Whole(72)}, {"dtype", Text(dtype)}});
  return more;
}

Given Image(const char* dtype, Given more = {}) {
  more.insert({{"batch", Whole(2)},
               {"height", Whole(9)},
               {"width", Whole(7)},
               {"in_channels", Whole(5)},
               {"out_channels", Whole(6)},
               {"dtype", Text(dtype)}});
  return more;
}

Given Bytes(int64_t bytes, const char* dtype, Given more = {}) {
  more.insert({{"bytes", Whole(bytes)}, {"dtype", Text(dtype)}});
  return more;
}

Given Heads(Given more = {}) {
  more.insert({{"batch", Whole(2)},
               {"heads", Whole(4)},
               {"kv_heads", Whole(2)},
               {"q_len", Whole(128)},
               {"kv_len", Whole(256)},
               {"head_dim", Whole(64)}});
  return more;
}

std::vector<Row> Rows() {
  std::vector<Row> rows;
  for (const char* name :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute"}) {
    rows.push_back({name, Bytes(4096, "f32"), true});
  }
  rows.push_back({"all_reduce", Bytes(4096, "f32", {{"group", Text("halves")}}), true});
  rows.push_back({"pair", Bytes(4096, "f32"), true});
  rows.push_back({"send_recv", Bytes(4096, "f32"), true, true});
  for (const char* dtype : {"f32", "f64", "s8", "bf16", "f16", "f8e4m3fn", "f8e5m2"}) {
    rows.push_back({"gemm", Gemm(dtype)});
  }
  rows.push_back({"gemm", Gemm("s4"), false, true});
  rows.push_back({"gemm", Gemm("f32", {{"transpose_a", true}}), true});
  rows.push_back({"gemm", Gemm("f32", {{"transpose_b", true}})});
  rows.push_back({"gemm", Gemm("bf16", {{"out_dtype", Text("f32")}})});
  rows.push_back({"gemm", Gemm("f32", {{"precision", Text("default")}})});
  rows.push_back({"gemm", Gemm("f32", {{"precision", Text("tf32")}})});
  rows.push_back({"gemm", Gemm("f32", {{"precision", Text("bf16x3")}})});
  for (const char* dtype : {"f32", "bf16", "s8"}) {
    rows.push_back({"batched_gemm", Gemm(dtype, {{"batch", Whole(3)}})});
    rows.push_back({"convolution", Image(dtype)});
  }
  rows.push_back({"convolution",
                  Image("f32", {{"stride", Whole(2)}, {"padding", Whole(0)}, {"kernel", Whole(2)}}),
                  true});
  for (const char* op : {"add", "multiply", "exponential", "tanh", "rsqrt"}) {
    for (const char* dtype : {"f32", "f64", "bf16", "f16"}) {
      rows.push_back({"vector", Bytes(1 << 14, dtype, {{"op", Text(op)}})});
    }
  }
  for (const char* name :
       {"copy", "scale", "add", "triad", "write", "transpose", "strided", "gather", "scatter"}) {
    for (const char* dtype : {"f32", "f64", "bf16", "f16", "s32", "s8"}) {
      rows.push_back({name, Bytes(3 << 16, dtype)});
    }
    rows.push_back({name, Bytes(1 << 16, "f32"), true});
  }
  for (const char* dtype : {"f32", "f64", "s32"}) {
    rows.push_back({"read", Bytes(3 << 16, dtype), dtype == std::string("f64")});
  }
  for (const char* name : {"host_to_device", "device_to_host", "host_both"}) {
    rows.push_back({name, Bytes(1 << 16, "f32"), true});
  }
  for (const char* form : {"materialised", "tiled"}) {
    for (const char* direction : {"forward", "backward", "forward_backward"}) {
      rows.push_back({"attention", Heads({{"form", Text(form)},
                                          {"direction", Text(direction)},
                                          {"causal", true},
                                          {"block", Whole(64)}})});
    }
  }
  rows.push_back({"imported", {{"file", Text("small.mlir")}}});
  return rows;
}

std::string Name(const Row& row) {
  std::string name = row.bench;
  for (const auto& [key, value] : row.given) name += " " + key + "=" + ToString(value);
  return name + (row.all ? " on all" : "");
}

void PrintTo(const Row& row, std::ostream* out) { *out << Name(row); }

// Letters, digits and '_' only, as GoogleTest wants it.
std::string TestName(const ::testing::TestParamInfo<Row>& row) {
  std::string name = row.param.bench;
  for (const auto& [key, value] : row.param.given) {
    if (std::holds_alternative<std::string>(value)) name += "_" + ToString(value);
  }
  std::erase_if(name,
                [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_'; });
  return fmt::format("{}_{}", name, row.index);
}

device::Client& Client() {
  static const std::unique_ptr<device::Client> client = pjrt::CpuClient(kDevices);
  return *client;
}

// Which narrow types a CPU computes in itself differs from one to the next.
bool IsNarrow(DType dtype) { return Info(dtype).bits < 32; }

void CheckAudit(const programs::Program& program, OnClient& run) {
  const Result<hlo::AuditResult> audit = run.Audit();
  ASSERT_TRUE(audit.has_value()) << audit.error().ToString();
  if (!IsNarrow(program.dtype)) {
    EXPECT_EQ(audit->executed_as, "");
  }
  for (const hlo::Finding& finding : audit->findings) {
    EXPECT_NE(finding.level, hlo::FindingLevel::kRefused) << finding.text;
    if (audit->executed_as.empty()) {
      EXPECT_NE(finding.level, hlo::FindingLevel::kWarning) << finding.text;
    }
  }
}

void RunAndCheck(const programs::Program& program) {
  OnClient run(Client(), program);
  const Status compiled = run.Compile();
  ASSERT_TRUE(compiled.has_value()) << compiled.error().ToString() << program.stablehlo;
  CheckAudit(program, run);
  for (const int64_t trips : {1, 3}) {
    const Result<Outputs> outputs = run.Run(trips);
    ASSERT_TRUE(outputs.has_value()) << outputs.error().ToString();
    ASSERT_EQ(outputs->size(), static_cast<size_t>(program.partitions));
    if (!program.check) continue;
    const programs::CheckResult result = CheckOutputs(program, *outputs);
    EXPECT_TRUE(result.passed) << trips << " rounds: " << result.detail;
  }
  if (program.repeat != programs::Repeat::kLoop) return;
  const Result<Outputs> never = run.Run(0);
  ASSERT_TRUE(never.has_value()) << never.error().ToString();
  EXPECT_FALSE(CheckOutputs(program, *never).passed) << "no round at all passes the check";
}

TEST(PluginCpu, EveryBenchmarkStandsInTheTable) {
  std::set<std::string> covered;
  for (const Row& row : Rows()) covered.insert(row.bench);
  for (const Benchmark& benchmark : AllBenchmarks()) {
    EXPECT_TRUE(covered.contains(benchmark.name)) << benchmark.name;
  }
}

class PluginCpuRow : public ::testing::TestWithParam<Row> {};

TEST_P(PluginCpuRow, ComputesWhatItSays) {
  const Row& row = GetParam();
  SCOPED_TRACE(Name(row));
  const Result<programs::Program> program =
      TryBuild(row.bench, row.given, {.devices = kDevices, .all = row.all, .text = kImported});
  if (row.unsupported) {
    const Status refused =
        program ? OnClient(Client(), *program).Compile() : Status(tl::unexpected(program.error()));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::kUnimplemented) << refused.error().ToString();
    return;
  }
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  if (program->repeat == programs::Repeat::kTransfers) {
    const programs::CheckResult result = CheckOutputs(*program, Transferred(Client(), *program));
    EXPECT_TRUE(result.passed) << result.detail;
    return;
  }
  RunAndCheck(*program);
}

INSTANTIATE_TEST_SUITE_P(All, PluginCpuRow, ::testing::ValuesIn(Rows()), TestName);

}  // namespace
}  // namespace ridgeline::benchmarks
