#include "pjrt/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ridgeline::pjrt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class DiscoveryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ridgeline_discovery_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    top_ = pattern;
    env_.cache = (top_ / "cache").string();
    env_.root = (top_ / "root").string();
    env_.home = (top_ / "home").string();
  }
  void TearDown() override { fs::remove_all(top_); }

  std::string Write(const fs::path& relative, const std::string& text = "library") {
    const fs::path path = top_ / relative;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  void WriteCache(const std::string& name) {
    Write("cache/plugins/" + name + "/lib.so");
    Write("cache/plugins/" + name + "/plugin.json",
          R"({"name": ")" + name +
              R"(", "library": "lib.so", "package": "p", "version": "1.2", "sha256": "ab",)"
              R"( "licence": "Apache-2.0"})");
  }

  std::string Found(std::string_view requested) {
    auto found = FindPlugin(requested, env_);
    return found ? found->library : "error: " + found.error().ToString();
  }

  fs::path top_;
  SearchEnv env_;
};

TEST_F(DiscoveryTest, CacheGivesWhatTheManifestSays) {
  WriteCache("cpu");
  auto found = FindPlugin("", env_);
  ASSERT_TRUE(found.has_value()) << found.error().ToString();
  EXPECT_EQ(found->name, "cpu");
  EXPECT_EQ(found->library, (top_ / "cache/plugins/cpu/lib.so").string());
  EXPECT_EQ(found->source, "cache");
  EXPECT_EQ(found->package, "p");
  EXPECT_EQ(found->version, "1.2");
  EXPECT_EQ(found->sha256, "ab");
  EXPECT_EQ(found->licence, "Apache-2.0");
}

// Each step takes away the place that was found before.
TEST_F(DiscoveryTest, OrderOfThePlaces) {
  WriteCache("tpu");
  const std::string python_path = Write("pp/libtpu/libtpu.so");
  const std::string venv = Write("venv/lib/python3.11/site-packages/libtpu/libtpu.so");
  const std::string home = Write("home/.local/lib/python3.11/site-packages/libtpu/libtpu.so");
  const std::string usr = Write("root/usr/lib/python3/dist-packages/libtpu/libtpu.so");
  const std::string local = Write("root/usr/local/lib/python3.11/dist-packages/libtpu/libtpu.so");
  const std::string by_path = Write("somewhere/mine.so");
  env_.python_path = (top_ / "empty").string() + "::" + (top_ / "pp").string();
  env_.virtual_env = (top_ / "venv").string();
  env_.plugin = by_path;
  EXPECT_EQ(Found("tpu"), python_path);  // what is asked for beats the environment
  EXPECT_EQ(Found(""), by_path);
  env_.plugin = "tpu";
  EXPECT_EQ(Found(""), python_path);
  EXPECT_EQ(Found(by_path), by_path);
  env_.python_path.clear();
  EXPECT_EQ(Found(""), venv);
  env_.virtual_env.clear();
  Write("conda/bin/python3");
  const std::string conda = Write("conda/lib/python3.12/site-packages/libtpu/libtpu.so");
  env_.path = (top_ / "empty/bin").string() + ":" + (top_ / "conda/bin").string();
  EXPECT_EQ(Found(""), conda);
  env_.path.clear();
  EXPECT_EQ(Found(""), home);
  fs::remove(home);
  EXPECT_EQ(Found(""), usr);
  fs::remove(usr);
  EXPECT_EQ(Found(""), local);
  fs::remove(local);
  EXPECT_EQ(Found(""), (top_ / "cache/plugins/tpu/lib.so").string());
}

TEST_F(DiscoveryTest, PackagesThatRegisterWithJaxPlugins) {
  const std::string base = "root/usr/lib/python3/dist-packages/jax_plugins/";
  const std::string cuda = Write(base + "xla_cuda13/xla_cuda_plugin.so");
  Write(base + "xla_cuda13/_helpers.so");
  const std::string rocm = Write(base + "xla_rocm7/xla_rocm_plugin.so");
  const std::string other = Write(base + "mlx/lib/libpjrt_mlx.so");
  EXPECT_EQ(Found("cuda"), cuda);
  EXPECT_EQ(Found("rocm"), rocm);
  EXPECT_EQ(Found("mlx"), other);
  EXPECT_EQ(ListPlugins(env_).size(), 3u);
}

TEST_F(DiscoveryTest, AnInstalledPackageIsNamedByTheListOfItsFiles) {
  const std::string base = "root/usr/lib/python3/dist-packages/";
  Write(base + "libtpu/libtpu.so");
  Write(base + "jax_plugins/xla_cuda13/xla_cuda_plugin.so");
  Write(base + "other-1.0.dist-info/RECORD", "other/a.py,sha256=x,1\n");
  Write(base + "other-1.0.dist-info/METADATA", "Name: other\nVersion: 1.0\n");
  Write(base + "libtpu-0.0.52.dist-info/RECORD",
        "libtpu/__init__.py,sha256=x,1\nlibtpu/libtpu.so,sha256=y,2\n");
  Write(base + "libtpu-0.0.52.dist-info/METADATA",
        "Metadata-Version: 2.1\nName: libtpu\nVersion: 0.0.52\nLicense: its own\n\nVersion: no\n");
  const auto tpu = FindPlugin("tpu", env_);
  ASSERT_TRUE(tpu.has_value());
  EXPECT_EQ(tpu->package, "libtpu");
  EXPECT_EQ(tpu->version, "0.0.52");
  EXPECT_EQ(tpu->licence, "its own");
  const auto cuda = FindPlugin("cuda", env_);
  ASSERT_TRUE(cuda.has_value());
  EXPECT_EQ(cuda->version, "");  // no list of files names it
}

TEST_F(DiscoveryTest, ListKeepsEveryPlaceInOrder) {
  WriteCache("cpu");
  WriteCache("tpu");
  const std::string installed = Write("root/usr/lib/python3/dist-packages/libtpu/libtpu.so");
  const auto plugins = ListPlugins(env_);
  ASSERT_EQ(plugins.size(), 3u);
  EXPECT_EQ(plugins[0].library, installed);
  EXPECT_EQ(plugins[0].source, "python");
  EXPECT_EQ(plugins[1].name, "cpu");
  EXPECT_EQ(plugins[2].name, "tpu");
}

TEST_F(DiscoveryTest, NothingFoundSaysWhereItLookedAndWhatToDo) {
  fs::create_directories(top_ / "root/usr/lib/python3/dist-packages");
  auto found = FindPlugin("", env_);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, Code::kNotFound);
  EXPECT_THAT(found.error().message, HasSubstr("'cpu'"));
  EXPECT_THAT(found.error().message, HasSubstr((top_ / "cache/plugins").string()));
  EXPECT_THAT(found.error().message,
              HasSubstr((top_ / "root/usr/lib/python3/dist-packages").string()));
  EXPECT_THAT(found.error().next, HasSubstr("./dev plugins cpu"));
}

// Only what has a row in tools/plugins.lock can be fetched.
TEST_F(DiscoveryTest, NobodyIsSentToFetchWhatIsNotPinned) {
  EXPECT_TRUE(IsFetchable("tpu"));
  EXPECT_FALSE(IsFetchable("header"));
  EXPECT_FALSE(IsFetchable(""));
  EXPECT_FALSE(IsFetchable("tpu cuda"));
  for (const std::string_view name : {"rocm", "header", "\x1b[2J"}) {
    const auto found = FindPlugin(name, env_);
    ASSERT_FALSE(found.has_value());
    EXPECT_THAT(found.error().next, Not(HasSubstr("./dev plugins")));
    EXPECT_THAT(found.error().next, HasSubstr("a Python package that carries the plugin"));
    EXPECT_THAT(found.error().message, Not(HasSubstr("\x1b")));
  }
}

TEST_F(DiscoveryTest, UnknownNameListsWhatThereIs) {
  WriteCache("cpu");
  env_.plugin = "abacus";
  auto found = FindPlugin("", env_);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().where, "RIDGELINE_PLUGIN");
  EXPECT_THAT(found.error().message, HasSubstr("'abacus'"));
  EXPECT_THAT(found.error().message, HasSubstr("found: cpu"));
}

TEST_F(DiscoveryTest, MissingPathIsAnErrorThatNamesIt) {
  for (const char* path : {"./no/such/plugin.so", "plugin.so", "/nowhere/at/all"}) {
    auto found = FindPlugin(path, env_);
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, Code::kNotFound);
    EXPECT_THAT(found.error().message, HasSubstr(path));
  }
}

TEST_F(DiscoveryTest, BrokenManifestIsPassedOverAndNamedInTheError) {
  Write("cache/plugins/bad/plugin.json", "{");
  Write("cache/plugins/gone/plugin.json", R"({"name": "gone", "library": "away.so"})");
  EXPECT_TRUE(ListPlugins(env_).empty());
  auto found = FindPlugin("gone", env_);
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().message, HasSubstr("bad/plugin.json"));
  EXPECT_THAT(found.error().message, HasSubstr("away.so"));
}

}  // namespace
}  // namespace ridgeline::pjrt
