#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/transformer_work.h"
#include "workload/workload.h"

namespace ridgeline::workload {
namespace {

using ::testing::HasSubstr;

Workload Must(const std::string& text) {
  auto workload = ReadWorkload(text, "w.yaml");
  EXPECT_TRUE(workload.has_value()) << (workload ? "" : workload.error().ToString());
  return workload.value_or(Workload{});
}

std::string ErrorOf(const std::string& text) {
  const auto workload = ReadWorkload("version: 1\n" + text, "w.yaml");
  return workload ? "accepted" : workload.error().ToString();
}

TEST(WorkloadFile, PlainFigures) {
  const Workload w = Must(
      "version: 1\nname: step\ndevices: 8\ndtype: bf16\nflops: 1.5e12\nvector_flops: {f32: 2e9}\n"
      "transcendentals: 1e6\nbytes: 2 GiB\npattern: {gather: 1e9}\nhost_bytes: 4 KiB\nlaunches: "
      "3\n");
  EXPECT_EQ(w.name, "step");
  EXPECT_EQ(w.devices, 8);
  ASSERT_EQ(w.operations.size(), 1u);
  const Work total = w.Total();
  EXPECT_EQ(total.matrix_flops, (std::map<DType, double>{{DType::kBF16, 1.5e12}}));
  EXPECT_EQ(total.vector_flops, (std::map<DType, double>{{DType::kF32, 2e9}}));
  EXPECT_EQ(total.transcendentals, 1e6);
  EXPECT_EQ(total.hbm_bytes, 2147483648.0);
  EXPECT_EQ(total.hbm_bytes_by(Pattern::kGather), 1e9);
  EXPECT_EQ(total.hbm_bytes_by(Pattern::kSequential), 1147483648.0);
  EXPECT_EQ(total.host_bytes, 4096);
  EXPECT_EQ(total.launches, 3);
}

TEST(WorkloadFile, OperationsAddUpByTheirCounts) {
  const Workload w = Must(
      "version: 1\nmesh: {x: 4, y: 2}\ndtype: bf16\noperations:\n"
      "  - {name: mlp, count: 32, gemm: {m: 1024, n: 4096, k: 512}}\n"
      "  - {name: norm, count: 2, vector_flops: 1000, bytes: 8000, most_bytes: 9000}\n"
      "  - {name: gather, wire: [{collective: all_gather, axis: x, payload: 1 MiB, calls: 2}]}\n"
      "  - {name: grads, wire: [{collective: all_reduce, axis: x+y, payload: 8 MiB}]}\n");
  EXPECT_EQ(w.devices, 8);
  const Work total = w.Total();
  EXPECT_EQ(total.matrix_flops.at(DType::kBF16), 32 * 2.0 * 1024 * 4096 * 512);
  // Both inputs and the result once, 2 B an element.
  const double gemm_bytes = 2.0 * (1024 * 512 + 512 * 4096 + 1024 * 4096);
  EXPECT_EQ(total.hbm_bytes, 32 * gemm_bytes + 2 * 8000);
  EXPECT_EQ(w.MostHbmBytes(), 32 * gemm_bytes + 2 * 9000);
  ASSERT_EQ(total.wire.size(), 2u);
  // (n-1)/n of the gathered array, twice; 2(n-1)/n of the reduced one over all 8.
  EXPECT_EQ(total.wire[0].wire_bytes, 2 * 0.75 * 1048576);
  EXPECT_EQ(total.wire[0].payload_bytes, 2 * 1048576.0);
  EXPECT_EQ(total.wire[0].calls, 2);
  EXPECT_EQ(total.wire[1].axis, "x+y");
  EXPECT_EQ(total.wire[1].wire_bytes, 1.75 * 8 * 1048576);
  EXPECT_EQ(total.wire_bytes, total.wire[0].wire_bytes + total.wire[1].wire_bytes);
}

TEST(WorkloadFile, ATransformerIsTheWorkOfTheModel) {
  const Workload w = Must(
      "version: 1\nname: train\n"
      "transformer: {layers: 2, d_model: 256, d_ff: 512, heads: 4, kv_heads: 2, vocab: 1000}\n"
      "phase: train\nbatch: 8\nsequence: 128\nremat: none\n"
      "mesh: {x: {size: 4, use: fsdp}, y: {size: 2, use: tensor}}\n");
  model::TransformerJob job;
  job.shape = {.d_model = 256,
               .d_ff = 512,
               .layers = 2,
               .heads = 4,
               .kv_heads = 2,
               .head_dim = 64,
               .vocab = 1000};
  job.batch = 8;
  job.sequence = 128;
  job.remat = "none";
  job.mesh = {{"x", 4, model::MeshUse::kFsdp}, {"y", 2, model::MeshUse::kTensor}};
  const auto need = model::NeedOf(job);
  ASSERT_TRUE(need.has_value());
  EXPECT_EQ(w.Total(), need->work);
  EXPECT_EQ(w.devices, 8);
  EXPECT_EQ(w.memory_bytes, need->memory.total());
  EXPECT_EQ(w.mesh, (std::vector<MeshAxis>{{"x", 4}, {"y", 2}}));
}

TEST(WorkloadFile, TransformerErrors) {
  const std::string shape =
      "transformer: {layers: 2, d_model: 256, d_ff: 512, heads: 4, vocab: 1000}\n";
  EXPECT_THAT(ErrorOf(shape + "phase: training\nbatch: 1\nsequence: 1"),
              HasSubstr("w.yaml:3:8: unknown phase 'training'"));
  EXPECT_THAT(ErrorOf(shape + "phase: train\nsequence: 1"), HasSubstr("has no 'batch'"));
  EXPECT_THAT(ErrorOf("transformer: {layers: 2}\nphase: train"), HasSubstr("has no 'd_model'"));
  EXPECT_THAT(ErrorOf("transformer: {layer: 2}"), HasSubstr("did you mean 'layers'?"));
  EXPECT_THAT(
      ErrorOf(shape + "phase: train\nbatch: 4\nsequence: 1\nmesh: {x: {size: 3, use: fsdp}}"),
      HasSubstr("does not divide"));
  EXPECT_THAT(
      ErrorOf(shape + "phase: train\nbatch: 4\nsequence: 1\nmesh: {x: {size: 2, use: rows}}"),
      HasSubstr("allowed: data, fsdp, tensor"));
  EXPECT_THAT(ErrorOf(shape + "phase: train\nbatch: 4\nsequence: 1\nbytes: 4"),
              HasSubstr("unknown key of a transformer workload 'bytes'"));
}

TEST(EmbeddedWorkloads, AllAreRead) {
  EXPECT_FALSE(ListEmbeddedWorkloads().empty());
  for (const std::string_view name : ListEmbeddedWorkloads()) {
    const Workload w = Must(std::string(FindEmbeddedWorkload(name).value()));
    EXPECT_EQ(w.name, name);
    EXPECT_NE(w.Total(), Work{}) << name;
  }
  EXPECT_THAT(FindEmbeddedWorkload("llama3-8b-trian").error().ToString(),
              HasSubstr("did you mean 'llama3-8b-train'"));
}

TEST(WorkloadFile, ErrorsNameThePlaceAndWhatIsAllowed) {
  EXPECT_THAT(ErrorOf("flops: 1e12"), HasSubstr("w.yaml:2:8: 'flops' needs a dtype"));
  EXPECT_THAT(ErrorOf("flop: 1e12"), HasSubstr("w.yaml:2:1: unknown key of a workload 'flop'"));
  EXPECT_THAT(ErrorOf("flop: 1e12"), HasSubstr("did you mean 'flops'?"));
  EXPECT_THAT(ErrorOf("dtype: bf17\nflops: 1"), HasSubstr("w.yaml:2:8: unknown dtype 'bf17'"));
  EXPECT_THAT(ErrorOf("bytes: 12 parsecs"), HasSubstr("w.yaml:2:8: 'bytes'"));
  EXPECT_THAT(ErrorOf("bytes: 8\npattern: random"),
              HasSubstr("w.yaml:3:10: unknown access pattern"));
  EXPECT_THAT(ErrorOf("bytes: 8\npattern: {gather: 9}"),
              HasSubstr("the patterns add up to 9 B of 8 B"));
  EXPECT_THAT(ErrorOf("bytes: .nan"), HasSubstr("w.yaml:2:8"));
  EXPECT_THAT(ErrorOf("bytes: -1"), HasSubstr("w.yaml:2:8"));
  EXPECT_THAT(ErrorOf("bytes: 8\nmost_bytes: 7"), HasSubstr("less than the 8 B"));
  EXPECT_THAT(ErrorOf("name: idle"), HasSubstr("needs nothing"));
  EXPECT_THAT(ErrorOf("bytes: 8\noperations: [{bytes: 8}]"),
              HasSubstr("'bytes' stands beside 'operations'"));
  EXPECT_THAT(ErrorOf("devices: 4\nmesh: {x: 2}\nbytes: 1"),
              HasSubstr("devices is 4, the mesh has 2"));
  EXPECT_THAT(ErrorOf("gemm: {m: 1, n: 1}\ndtype: f32"), HasSubstr("'gemm' has no 'k'"));
  EXPECT_THAT(ErrorOf("wire: [{collective: allreduce, payload: 1}]"),
              HasSubstr("did you mean 'all_reduce'?"));
  EXPECT_THAT(ErrorOf("wire: [{collective: all_reduce, axis: z, payload: 1}]"),
              HasSubstr("the mesh has no axis 'z'"));
}

}  // namespace
}  // namespace ridgeline::workload
