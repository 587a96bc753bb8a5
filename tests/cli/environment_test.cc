// What doctor says of machines that are folders.
#include "cli/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ridgeline::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EnvironmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/ridgeline-doctor-XXXXXX";
    root_.path = mkdtemp(pattern);
  }
  void TearDown() override { fs::remove_all(root_.path); }

  void Write(const std::string& name, const std::string& text) {
    const fs::path path = fs::path(root_.path) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  static DoctorLine Find(const std::vector<DoctorLine>& lines, const std::string& what) {
    for (const DoctorLine& line : lines) {
      if (line.what == what) return line;
    }
    ADD_FAILURE() << "no line '" << what << "'";
    return {};
  }

  SystemRoot root_;
};

TEST_F(EnvironmentTest, NoTpuAnywhere) {
  const DoctorLine line = Find(TpuLines(root_, false), "TPU");
  EXPECT_EQ(line.state, "missing");
  EXPECT_THAT(line.next, HasSubstr("./dev plugins tpu"));
}

TEST_F(EnvironmentTest, TpuNodesAreSeenBothWays) {
  EXPECT_FALSE(HasTpuNodes(root_));
  Write("dev/accel0", "");
  EXPECT_TRUE(HasTpuNodes(root_));
  fs::remove_all(root_.path + "/dev");
  Write("sys/bus/pci/devices/0000:00:05.0/vendor", "0x1ae0\n");
  Write("sys/bus/pci/devices/0000:00:05.0/class", "0x020000\n");
  EXPECT_FALSE(HasTpuNodes(root_)) << "a network card of the same vendor is no TPU";
  Write("sys/bus/pci/devices/0000:00:05.0/class", "0x120000\n");
  EXPECT_TRUE(HasTpuNodes(root_));
}

// reports.md F1.
TEST_F(EnvironmentTest, AStaleLockFileIsNamedWithTheWayToClearIt) {
  Write("dev/accel0", "");
  Write("tmp/libtpu_lockfile", "");
  const DoctorLine line = Find(TpuLines(root_, true), "libtpu lock file");
  EXPECT_EQ(line.state, "warning");
  EXPECT_THAT(line.detail, HasSubstr("no process"));
  EXPECT_THAT(line.next, HasSubstr("rm "));
}

TEST_F(EnvironmentTest, ALockFileWithAnOwnerNamesTheProcess) {
  Write("dev/accel0", "");
  Write("tmp/libtpu_lockfile", "");
  Write("proc/4242/comm", "python3\n");
  fs::create_directories(root_.path + "/proc/4242/fd");
  fs::create_symlink(root_.path + "/tmp/libtpu_lockfile", root_.path + "/proc/4242/fd/7");
  const DoctorLine line = Find(TpuLines(root_, true), "libtpu lock file");
  EXPECT_THAT(line.detail, HasSubstr("4242"));
  EXPECT_THAT(line.detail, HasSubstr("python3"));
}

// reports.md F2.
TEST_F(EnvironmentTest, AFailedStartAwayFromATpuNamesTheVariables) {
  pjrt::PluginInfo tpu;
  tpu.name = "tpu";
  const Error error = ExplainStart({Code::kUnavailable, "no answer", "", ""}, tpu, root_);
  EXPECT_THAT(error.next, HasSubstr("TPU_SKIP_MDS_QUERY=1"));
  EXPECT_THAT(error.message, HasSubstr("no TPU device nodes"));
}

TEST_F(EnvironmentTest, OtherPluginsErrorsStayAsTheyAre) {
  pjrt::PluginInfo cpu;
  cpu.name = "cpu";
  EXPECT_EQ(ExplainStart({Code::kUnavailable, "no answer", "", ""}, cpu, root_).message,
            "no answer");
}

TEST_F(EnvironmentTest, DriversAreRead) {
  EXPECT_EQ(GpuLines(root_).front().state, "missing");
  Write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX 580.1\nGCC 12\n");
  const DoctorLine line = Find(GpuLines(root_), "NVIDIA driver");
  EXPECT_EQ(line.state, "ok");
  EXPECT_EQ(line.detail, "NVRM version: NVIDIA UNIX 580.1");
}

TEST_F(EnvironmentTest, PowersaveIsAWarning) {
  Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(Find(HostLines(root_), "CPU governor").state, "warning");
}

}  // namespace
}  // namespace ridgeline::cli
