// Runs `ridgeline compile` over programs.yaml: what the benchmarks write is what libtpu's compiler
// takes, the loop stays, and the audit knows the forms that a TPU gives the operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "base/json.h"
#include "pjrt/discovery.h"

namespace ridgeline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Answer {
  int exit_code = -1;
  std::string output;
};

Answer Compile(const std::string& arguments) {
  Answer answer;
  std::FILE* pipe = popen((std::string(RIDGELINE_PROGRAM) + " compile " + arguments).c_str(), "r");
  if (pipe == nullptr) return answer;
  char buffer[4096];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    answer.output.append(buffer, n);
  const int status = pclose(pipe);
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

class AotProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (pjrt::FindPlugin("tpu", pjrt::SearchEnv::FromProcess())) return;
    const char* required = std::getenv("RIDGELINE_REQUIRE_TPU_PLUGIN");
    if (required != nullptr && std::string(required) == "1") {
      FAIL() << "RIDGELINE_REQUIRE_TPU_PLUGIN is set, and there is no libtpu";
    }
    GTEST_SKIP() << "libtpu is not here";
  }
};

TEST_F(AotProgramsTest, EveryBenchmarkCompilesAndKeepsItsLoop) {
  const Answer answer = Compile(RIDGELINE_SOURCE_DIR
                                "/tests/aot/programs.yaml --target tpu-v5e:2x2 --no-cache --json");
  EXPECT_EQ(answer.exit_code, 0) << answer.output;
  const Result<Json> report = ParseJson(answer.output);
  ASSERT_TRUE(report) << report.error().ToString();
  const Json& target = report->at("targets").at(0);
  int compiled = 0;
  for (const Json& program : target.at("cases")) {
    SCOPED_TRACE(DumpPretty(program));
    const std::string id = StringOr(program, "id");
    if (id.starts_with("host_to_device/")) {
      EXPECT_EQ(StringOr(program, "outcome"), "no program");
      continue;
    }
    if (id.starts_with("send_recv/")) {
      EXPECT_EQ(StringOr(program, "outcome"), "unsupported");
      continue;
    }
    EXPECT_EQ(StringOr(program, "outcome"), "compiled");
    // A collective large enough to be counted by its bytes is the one that was asked for.
    if (id.find("bytes=1024,") == std::string::npos) {
      EXPECT_THAT(DumpLine(program), Not(HasSubstr("is executed as")));
    }
    EXPECT_TRUE(BoolOr(program, "loop_kept"));
    ++compiled;
  }
  EXPECT_EQ(compiled, 33);
  EXPECT_EQ(IntegerOr(target, "compiled"), compiled);
}

TEST_F(AotProgramsTest, ASliceThatDoesNotExistIsAUsageError) {
  EXPECT_EQ(Compile("--target tpu-v99:2x2").exit_code, 2);
  EXPECT_EQ(Compile("--target tpu-v5e:3x2").exit_code, 2);
  EXPECT_EQ(Compile("--target l4:8").exit_code, 2);
}

// Nothing compiles in so little time: the compiler's process is stopped, and that is told.
TEST_F(AotProgramsTest, AProgramThatTakesTooLongFails) {
  const Answer answer = Compile(RIDGELINE_SOURCE_DIR
                                "/tests/aot/programs.yaml --target tpu-v5e:2x2 --filter attention "
                                "--time-limit 0.05 --no-cache --json");
  EXPECT_EQ(answer.exit_code, 4) << answer.output;
  EXPECT_THAT(answer.output, HasSubstr("no answer within 0.05 s"));
}

int64_t Count(const Answer& answer, std::string_view name) {
  const Result<Json> report = ParseJson(answer.output);
  return report ? IntegerOr(report->at("targets").at(0), name, -1) : -1;
}

// Two targets of suite `standard`, by parts of it that take seconds: all of it is minutes.
TEST_F(AotProgramsTest, PartsOfTheStandardSuiteAreReady) {
  // 65280 pairs of 256 devices and the 256 neighbours, each kind by its first and its last.
  const Answer pairs = Compile("standard --filter pair/ --target tpu-v6e:16x16 --no-cache --json");
  EXPECT_EQ(pairs.exit_code, 0) << pairs.output;
  EXPECT_EQ(Count(pairs, "compiled"), 4);
  EXPECT_EQ(Count(pairs, "stands_for"), 65280 + 256);
  // Collectives of 7x run on its SparseCore: the audit finds them there.
  const Answer gathers =
      Compile("standard --filter all_gather/bytes=4194304 --target tpu-7x:2x2x1 --no-cache --json");
  EXPECT_EQ(gathers.exit_code, 0) << gathers.output;
  EXPECT_GE(Count(gathers, "compiled"), 3);
  EXPECT_EQ(Count(gathers, "failed"), 0);
  EXPECT_EQ(Count(gathers, "refused"), 0);
}

// f64 is made of several bf16 products: emulated, not refused.
TEST_F(AotProgramsTest, AnEmulatedTypeIsSaidToBeOne) {
  const Answer answer =
      Compile("standard --filter gemm/dtype=f64 --target tpu-v5e:1x1 --no-cache --json");
  EXPECT_EQ(answer.exit_code, 0) << answer.output;
  EXPECT_EQ(Count(answer, "refused"), 0);
  EXPECT_THAT(answer.output, HasSubstr("f64 computed as bf16"));
}

// attention.mlir: tools/export_pallas.py --kernel own --length 1024 --heads 4, with jax 0.10.2.
TEST_F(AotProgramsTest, AnExportedKernelIsACase) {
  const std::string suite = ::testing::TempDir() + "/exported.yaml";
  std::ofstream(suite) << "version: 1\ncases:\n  - {bench: imported, file: "
                       << RIDGELINE_SOURCE_DIR "/tests/aot/attention.mlir}\n";
  const Answer answer = Compile(suite + " --target tpu-v5e:1x1 --no-cache --json");
  EXPECT_EQ(answer.exit_code, 0) << answer.output;
  EXPECT_EQ(Count(answer, "compiled"), 1);
}

}  // namespace
}  // namespace ridgeline
