// Faults of the functions that only ahead-of-time compiles call, injected before libtpu, or before
// the CPU plugin where the real function is never reached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "pjrt/aot.h"
#include "pjrt/discovery.h"

namespace ridgeline::pjrt {
namespace {

using ::testing::HasSubstr;

class AotFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/ridgeline-aot-faults-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A plugin before the named one. A file of its own each time: a process loads one path once.
  TopologyRequest Before(const std::string& name, const std::string& script) {
    const auto real = FindPlugin(name, SearchEnv::FromProcess());
    if (!real) return {};
    const std::string path = folder_ + "/" + std::to_string(++copies_) + ".so";
    std::filesystem::copy_file(RIDGELINE_FAULTY_PLUGIN_FILE, path);
    setenv("RIDGELINE_FAULTY_PLUGIN", real->library.c_str(), 1);
    setenv("RIDGELINE_FAULTY_SCRIPT", script.c_str(), 1);
    return {path, "v5e:2x2", {}};
  }

  static std::string FailureOf(const TopologyRequest& topology) {
    device::CompileRequest request;
    request.program = "module @m { func.func public @main() { return } }";
    request.partitions = 1;
    const auto program = CompileForTopology(topology, request);
    return program ? "no error" : program.error().ToString();
  }

  std::string folder_;
  int copies_ = 0;
};

TEST_F(AotFaults, TopologyThatCannotBeMade) {
  EXPECT_THAT(
      FailureOf(Before("cpu", "TopologyDescription_Create error code=INTERNAL text=broken")),
      HasSubstr("PJRT_TopologyDescription_Create: broken"));
  EXPECT_THAT(FailureOf(Before("cpu", "TopologyDescription_Create null")),
              HasSubstr("the plugin says it succeeded but gave no topology"));
  EXPECT_THAT(
      FailureOf(Before("cpu", "TopologyDescription_Create missing; api version value=0.38")),
      HasSubstr("plugin lacks PJRT_TopologyDescription_Create (API 0.38)"));
}

TEST_F(AotFaults, TopologyThatCannotBeUsed) {
  if (!FindPlugin("tpu", SearchEnv::FromProcess())) {
    const char* required = std::getenv("RIDGELINE_REQUIRE_TPU_PLUGIN");
    ASSERT_FALSE(required != nullptr && std::string(required) == "1") << "libtpu is not here";
    GTEST_SKIP() << "libtpu is not here";
  }
  const std::string devices = "TopologyDescription_GetDeviceDescriptions";
  EXPECT_THAT(FailureOf(Before("tpu", devices + " error code=INTERNAL text=broken")),
              HasSubstr("PJRT_" + devices + ": broken"));
  EXPECT_THAT(FailureOf(Before("tpu", devices + " null")), HasSubstr("no device"));
  EXPECT_THAT(FailureOf(Before("tpu", "Compile error code=INTERNAL text=broken")),
              HasSubstr("PJRT_Compile: broken"));
  EXPECT_THAT(FailureOf(Before("tpu", "Compile null")), HasSubstr("gave no executable"));
  EXPECT_THAT(FailureOf(Before("tpu",
                               "TopologyDescription_Destroy error code=INTERNAL; "
                               "Compile error code=INTERNAL text=told")),
              HasSubstr("PJRT_Compile: told"));
}

}  // namespace
}  // namespace ridgeline::pjrt
