#include "predict/compile_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ridgeline::predict {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Cache : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ridgeline-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    Write(root_ / "plugin.so", "plugin");
    topology_ = {.plugin_path = (root_ / "plugin.so").string(), .name = "v5e:2x2", .options = {}};
  }
  void TearDown() override { fs::remove_all(root_); }

  static void Write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  fs::path folder() const { return root_ / "compiles"; }
  CompileCache Open(const std::string& version = "1") const { return {folder().string(), version}; }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder())) files.push_back(entry.path());
    return files;
  }

  fs::path root_;
  pjrt::TopologyRequest topology_;
  device::CompileRequest request_{.program = "module {\n}\n",
                                  .partitions = 4,
                                  .devices = {},
                                  .xla_options = {},
                                  .shardy = false};
};

TEST_F(Cache, TheSameQuestionHasTheSameAnswer) {
  const std::string answer = "a line\nand bytes \0 with a zero";
  CompileCache first = Open();
  EXPECT_EQ(first.Find(first.Ask(topology_, request_)), std::nullopt);
  first.Keep(first.Ask(topology_, request_), answer);
  CompileCache second = Open();
  EXPECT_EQ(second.Find(second.Ask(topology_, request_)), answer);
  EXPECT_EQ(second.found(), 1);
  EXPECT_THAT(second.warnings(), IsEmpty());
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(Cache, WhateverTheAnswerHangsOnIsAskedAnew) {
  CompileCache cache = Open();
  cache.Keep(cache.Ask(topology_, request_), "answer");
  const auto known = [&](const CompileCache& asked, const pjrt::TopologyRequest& topology,
                         const device::CompileRequest& request) {
    CompileCache copy = asked;
    return copy.Find(copy.Ask(topology, request)).has_value();
  };
  ASSERT_TRUE(known(cache, topology_, request_));
  device::CompileRequest request = request_;
  request.program += " ";
  EXPECT_FALSE(known(cache, topology_, request));
  request = request_;
  request.partitions = 2;
  EXPECT_FALSE(known(cache, topology_, request));
  request = request_;
  request.devices = {3, 2, 1, 0};
  EXPECT_FALSE(known(cache, topology_, request));
  request = request_;
  request.shardy = true;
  EXPECT_FALSE(known(cache, topology_, request));
  request = request_;
  request.xla_options["xla_tpu_scoped_vmem_limit_kib"] = std::string("65536");
  EXPECT_FALSE(known(cache, topology_, request));
  pjrt::TopologyRequest topology = topology_;
  topology.name = "v5e:4x4";
  EXPECT_FALSE(known(cache, topology, request_));
  topology = topology_;
  topology.options["num_slices"] = int64_t{2};
  EXPECT_FALSE(known(cache, topology, request_));
  EXPECT_FALSE(known(Open("2"), topology_, request_));
  setenv("XLA_FLAGS", "--xla_dump_to=/nowhere", 1);
  EXPECT_FALSE(known(cache, topology_, request_));
  unsetenv("XLA_FLAGS");
  EXPECT_TRUE(known(cache, topology_, request_));
  Write(root_ / "plugin.so", "another plugin");
  EXPECT_FALSE(known(cache, topology_, request_));
}

TEST_F(Cache, ADamagedEntryIsCompiledAnewWithAWord) {
  for (const char* damage : {"cut", "changed", "empty"}) {
    SCOPED_TRACE(damage);
    CompileCache cache = Open();
    cache.Keep(cache.Ask(topology_, request_), "answer");
    const fs::path file = Files().front();
    if (*damage == 'e') Write(file, "");
    if (damage[1] == 'u') fs::resize_file(file, fs::file_size(file) - 1);
    if (damage[1] == 'h') {
      std::fstream(file, std::ios::in | std::ios::out | std::ios::ate).seekp(-1, std::ios::end)
          << 'X';
    }
    EXPECT_EQ(cache.Find(cache.Ask(topology_, request_)), std::nullopt);
    EXPECT_THAT(cache.warnings(), ElementsAre(HasSubstr("is damaged: compiled anew")));
    cache.Keep(cache.Ask(topology_, request_), "answer");
    EXPECT_EQ(cache.Find(cache.Ask(topology_, request_)), "answer");
  }
}

TEST_F(Cache, AFolderThatCannotBeWrittenIsOneWarning) {
  Write(folder(), "a file where the folder should be");
  CompileCache cache = Open();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cache.Find(cache.Ask(topology_, request_)), std::nullopt);
    cache.Keep(cache.Ask(topology_, request_), "answer");
  }
  EXPECT_THAT(cache.warnings(), ElementsAre(HasSubstr("compiles are not kept")));
}

TEST_F(Cache, TheLeastRecentlyUsedMakesRoom) {
  CompileCache cache(folder().string(), "1", /*most_bytes=*/20'000);
  const auto ask = [&](int number) {
    device::CompileRequest request = request_;
    request.program = std::to_string(number);
    return cache.Ask(topology_, request);
  };
  for (int i = 0; i < 8; ++i) {
    cache.Keep(ask(i), std::string(3000, 'x'));
    // Older by as many hours as they came before.
    fs::last_write_time(ask(i).file,
                        fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
    if (i == 3) {
      EXPECT_TRUE(cache.Find(ask(0)));  // used now
    }
  }
  cache.Keep(ask(8), std::string(3000, 'x'));
  EXPECT_TRUE(cache.Find(ask(0)));
  EXPECT_FALSE(cache.Find(ask(1)));
  EXPECT_TRUE(cache.Find(ask(8)));
  // Too large to be worth the others.
  cache.Keep(ask(9), std::string(6000, 'x'));
  EXPECT_FALSE(cache.Find(ask(9)));
}

}  // namespace
}  // namespace ridgeline::predict
