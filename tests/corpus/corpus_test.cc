// Every workload of the corpus through the real CPU plugin and the analyser, held to index.json.
#include "corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "hlo/analysis.h"
#include "hlo/reader.h"
#include "pjrt/discovery.h"
#include "pjrt/program.h"

namespace ridgeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kPrograms = CORPUS_DIR "/programs";

std::string Plugin() {
  const auto plugin = pjrt::FindPlugin("cpu", pjrt::SearchEnv::FromProcess());
  EXPECT_TRUE(plugin) << plugin.error().ToString();
  return plugin ? plugin->library : "";
}

std::string ReadText(const std::string& name) {
  std::ifstream file(kPrograms + "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

hlo::Analysis AnalyseFile(const std::string& name, int64_t devices = 1) {
  const auto module = hlo::ReadModule(ReadText(name));
  EXPECT_TRUE(module) << name << ": " << module.error().ToString();
  if (!module) return {};
  const auto analysis = hlo::Analyse(*module, {.devices = devices});
  EXPECT_TRUE(analysis) << name;
  return *analysis;
}

TEST(Corpus, EveryWorkloadAgreesWithWhatIsKnownOfIt) {
  const auto rows = tools::CheckCorpus(kPrograms, Plugin());
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_EQ(rows->size(), 123u);
  size_t products = 0, collectives = 0;
  for (const tools::CorpusRow& row : *rows) {
    EXPECT_THAT(row.misses, ElementsAre()) << row.name;
    products += row.flops_checked && row.flops > 0 ? 1 : 0;
    collectives += row.collectives.empty() ? 0 : 1;
  }
  // The comparison did not pass for want of figures.
  EXPECT_GT(products, 100u);
  EXPECT_EQ(collectives, 21u);
}

TEST(Corpus, TheTableSeesAMiss) {
  const std::string folder = ::testing::TempDir() + "corpus_miss";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(kPrograms + "/gemm_chain_loop100.mlir",
                             folder + "/gemm_chain_loop100.mlir",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(folder + "/index.json")
      << R"({"workloads": [{"name": "gemm_chain_loop100", "devices": 1, "analytic_flops": 1,
             "jaxpr_dot_conv_flops": 1, "hbm_bytes_lower_bound": 1}]})";
  const auto rows = tools::CheckCorpus(folder, Plugin());
  ASSERT_TRUE(rows) << rows.error().ToString();
  ASSERT_EQ(rows->size(), 1u);
  ASSERT_EQ((*rows)[0].misses.size(), 2u);
  EXPECT_THAT((*rows)[0].misses[0], HasSubstr("counted 1717986918400, known 1"));
  EXPECT_THAT((*rows)[0].misses[1], HasSubstr("bytes: 1 is not in"));
}

// The same program as text and as proto, from the same dump.
TEST(Corpus, TextAndProtoAgree) {
  for (const std::string stem :
       {"gemm_bf16_8192.before_optimizations", "gemm_bf16_8192.cpu_after_optimizations",
        "llama3_8b_decode_b1_ctx8192.before_optimizations",
        "llama3_8b_decode_b1_ctx8192.cpu_after_optimizations",
        "llama3_8b_train.before_optimizations", "llama3_8b_train.cpu_after_optimizations"}) {
    Json text = ToJson(AnalyseFile(stem + ".hlo.txt"));
    Json proto = ToJson(AnalyseFile(stem + ".hlo.pb"));
    EXPECT_EQ(text["ops"].size(), proto["ops"].size()) << stem;
    // Among equals their order follows the file's.
    for (Json* one : {&text, &proto}) one->erase("ops");
    EXPECT_EQ(DumpPretty(text), DumpPretty(proto)) << stem;
  }
}

TEST(Corpus, OptimisationKeepsTheProducts) {
  EXPECT_EQ(AnalyseFile("llama3_8b_train.before_optimizations.hlo.txt").matrix_flops(),
            AnalyseFile("llama3_8b_train.cpu_after_optimizations.hlo.txt").matrix_flops());
  const hlo::Analysis after = AnalyseFile("gemm_bf16_8192.cpu_after_optimizations.hlo.pb");
  EXPECT_TRUE(after.hbm.exact);
  EXPECT_EQ(after.hbm.unfused, 536870912);
  EXPECT_EQ(after.hbm.compulsory, 536870912);
}

// The dump's text after the partitioner, read directly, and the same form made by the plugin.
TEST(Corpus, PartitionedTextEqualsThePluginsOwn) {
  for (const std::string name : {"llama3_8b_train_fsdp_tp_shardy", "moe_all_to_all_fwd",
                                 "ring_attention_16", "coll_reduce_scatter_16"}) {
    const auto program = pjrt::ReadProgram(ReadText(name + ".mlir"), {.plugin_path = Plugin()});
    ASSERT_TRUE(program) << program.error().ToString();
    const hlo::Analysis text = AnalyseFile(name + ".after_spmd_partitioning.hlo.txt", 16);
    EXPECT_EQ(text.matrix_flops(), program->device.matrix_flops()) << name;
    EXPECT_EQ(text.wire_bytes(), program->device.wire_bytes()) << name;
    EXPECT_EQ(text.collectives.size(), program->device.collectives.size()) << name;
  }
}

TEST(Corpus, EveryFormOfOneProgramCountsTheSame) {
  for (const auto& [file, form] : std::vector<std::pair<std::string, std::string>>{
           {"gemm_bf16_8192.mlir", "StableHLO text"},
           {"gemm_bf16_8192.mlirbc", "StableHLO bytecode"},
           {"gemm_bf16_8192.jaxexport", "jax.export artifact"},
           {"gemm_bf16_8192.before_optimizations.hlo.pb", "HLO proto"},
           {"gemm_bf16_8192.before_optimizations.hlo.txt", "HLO text"}}) {
    const auto program = pjrt::ReadProgram(ReadText(file), {.plugin_path = Plugin()});
    ASSERT_TRUE(program) << file << ": " << program.error().ToString();
    EXPECT_EQ(program->form, form) << file;
    EXPECT_EQ(program->device.matrix.at("bf16"), 1099511627776) << file;
    EXPECT_EQ(program->device.hbm.compulsory, 536870912) << file;
  }
}

// Reports.md C8 and the loops of jax: rounds that only the data knows.
TEST(Corpus, AnUnknownLoopMakesALowerBound) {
  const auto read = [&](std::optional<double> trips) {
    return pjrt::ReadProgram(ReadText("greedy_decode_while_eos.mlir"),
                             {.plugin_path = Plugin(), .unknown_trips = trips});
  };
  const auto once = read(std::nullopt);
  ASSERT_TRUE(once) << once.error().ToString();
  EXPECT_TRUE(once->device.lower_bound());
  ASSERT_EQ(once->device.loops.size(), 1u);
  EXPECT_EQ(once->device.loops[0].at_most, 256);
  EXPECT_THAT(once->device.uncounted[0].why,
              HasSubstr("per iteration; trip count unknown, at most 256"));
  const auto ten = read(10);
  ASSERT_TRUE(ten);
  EXPECT_FALSE(ten->device.lower_bound());
  EXPECT_EQ(ten->device.matrix_flops(), 10 * once->device.matrix_flops());
}

TEST(Corpus, ADecoderWritesOneTokenOfItsCache) {
  const hlo::Analysis decode =
      AnalyseFile("llama3_8b_decode_b1_ctx8192.before_optimizations.hlo.pb");
  // Weights, cache read and logits are 16.1 GB; the cache alone is 1 GiB.
  EXPECT_NEAR(decode.hbm.compulsory, 16084243464, 1e6);
}

}  // namespace
}  // namespace ridgeline
