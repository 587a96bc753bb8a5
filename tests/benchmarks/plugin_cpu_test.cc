// Every benchmark on XLA's CPU plugin at small sizes: it compiles, its answer is right for several
// trip counts, and the compiled program is what was meant.
#include "benchmarks/cases.h"
#include "benchmarks/on_client.h"

namespace ridgeline::benchmarks {
namespace {

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

// A compiler that may choose the layouts inside the loop transposes once, before it, and copies in
// every round.
TEST(PluginCpu, RowsStayRowsInTheLoop) {
  for (const char* bench : {"transpose", "gather", "scatter"}) {
    SCOPED_TRACE(bench);
    const programs::Program program = MustBuild(bench, Bytes(3 << 16, "f32"));
    OnClient run(Client(), program);
    ASSERT_TRUE(run.Compile().has_value());
    const Result<hlo::Module> module = run.Optimized();
    ASSERT_TRUE(module.has_value());
    int matrices = 0;
    for (const hlo::Instruction& at : module->Entry().instructions) {
      if (at.opcode != "while") continue;
      for (const hlo::Shape& array : at.shape.tuple) {
        if (array.dims.size() != 2) continue;
        ++matrices;
        EXPECT_EQ(array.minor_to_major, (std::vector<int64_t>{1, 0})) << array.ToString();
      }
    }
    EXPECT_EQ(matrices, 2);
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
