// Counts and known answers of the hbm benchmarks; the right outputs come from plain loops.
#include <gmock/gmock.h>

#include <cmath>

#include "base/text.h"
#include "benchmarks/cases.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Program;
using ::testing::Contains;
using ::testing::HasSubstr;

// `element` gives element i of the result from the inputs' values.
using Element = std::function<double(const std::vector<std::vector<double>>& in, int64_t i)>;

Outputs Evaluate(const Program& program, const Element& element) {
  Outputs outputs;
  for (int partition = 0; partition < program.partitions; ++partition) {
    std::vector<std::vector<double>> in;
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      in.push_back(programs::InputSource(program.inputs[i], static_cast<int>(i), partition,
                                         kTestSeed, "normal")
                       .Values());
    }
    HostTensor result(program.outputs[0]);
    for (int64_t i = 0; i < result.shape.elements(); ++i) result.set(i, element(in, i));
    outputs.push_back({std::move(result)});
  }
  return outputs;
}

void ExpectCatches(const std::string& bench, const Given& more, const Element& element) {
  for (const char* dtype : {"f32", "f64", "bf16", "f16", "s32", "s8"}) {
    if (bench == "read" && Info(ParseDType(dtype).value()).bits < 32) continue;
    SCOPED_TRACE(bench + " " + dtype);
    Given given = Bytes(3 << 13, dtype);
    for (const auto& [key, value] : more) given[key] = value;
    const Program program = MustBuild(bench, given, {.devices = 2, .all = true});
    ExpectCheckCatches(program, Evaluate(program, element));
  }
}

size_t At(int64_t i) { return static_cast<size_t>(i); }

TEST(Hbm, Copy) {
  ExpectCatches("copy", {}, [](const auto& in, int64_t i) { return in[0][At(i)]; });
}

TEST(Hbm, Scale) {
  ExpectCatches("scale", {}, [](const auto& in, int64_t i) { return 3 * in[0][At(i)]; });
}

TEST(Hbm, Add) {
  ExpectCatches("add", {}, [](const auto& in, int64_t i) { return in[0][At(i)] + in[1][At(i)]; });
}

TEST(Hbm, Triad) {
  ExpectCatches("triad", {},
                [](const auto& in, int64_t i) { return in[0][At(i)] + 3 * in[1][At(i)]; });
  // The product rounded before the sum is right too; b + 2·c and c + 3·b are not.
  const Program program = MustBuild("triad", Bytes(1 << 12, "bf16"));
  const auto passes = [&](const Element& element) {
    return CheckOutputs(program, Evaluate(program, element)).passed;
  };
  EXPECT_TRUE(passes([](const auto& in, int64_t i) {
    return in[0][At(i)] + RoundTo(DType::kBF16, 3 * in[1][At(i)]);
  }));
  EXPECT_FALSE(passes([](const auto& in, int64_t i) { return in[0][At(i)] + 2 * in[1][At(i)]; }));
  EXPECT_FALSE(passes([](const auto& in, int64_t i) { return in[1][At(i)] + 3 * in[0][At(i)]; }));
}

TEST(Hbm, Read) {
  const Element sum = [](const auto& in, int64_t column) {
    double total = 0;
    const int64_t columns = 1024;
    for (size_t i = At(column); i < in[0].size(); i += columns) total += in[0][i];
    return total;
  };
  ExpectCatches("read", {}, sum);
  // One row left out.
  const Program program = MustBuild("read", Bytes(1 << 20, "f32"));
  EXPECT_FALSE(CheckOutputs(program, Evaluate(program,
                                              [&](const auto& in, int64_t column) {
                                                return sum(in, column) -
                                                       in[0][At(5 * 1024 + column)];
                                              }))
                   .passed);
}

TEST(Hbm, Write) {
  ExpectCatches("write", {}, [](const auto& in, int64_t) { return in[0][0]; });
}

TEST(Hbm, Transpose) {
  for (const char* dtype : {"f32", "f64", "bf16", "s8"}) {
    const Program program =
        MustBuild("transpose", Bytes(3 << 13, dtype), {.devices = 2, .all = true});
    const int64_t rows = program.inputs[0].shape.dims[0];
    const int64_t columns = program.inputs[0].shape.dims[1];
    ASSERT_GT(rows, 1);
    EXPECT_EQ(program.outputs[0].dims, (std::vector{columns, rows}));
    ExpectCheckCatches(program, Evaluate(program, [&](const auto& in, int64_t i) {
                         return in[0][At(i % rows * columns + i / rows)];
                       }));
    // Not transposed at all.
    EXPECT_FALSE(CheckOutputs(program, Evaluate(program, [](const auto& in,
                                                            int64_t i) { return in[0][At(i)]; }))
                     .passed);
  }
}

TEST(Hbm, TransposeIsAsSquareAsItCanBe) {
  EXPECT_EQ(MustBuild("transpose", Bytes(64 << 20, "f32")).inputs[0].shape.dims,
            (std::vector<int64_t>{4096, 4096}));
  EXPECT_EQ(MustBuild("transpose", Bytes(4 * 6, "f32")).inputs[0].shape.dims,
            (std::vector<int64_t>{2, 3}));
  const auto prime = TryBuild("transpose", Bytes(4 * 101, "f32"));
  ASSERT_FALSE(prime.has_value());
  EXPECT_EQ(prime.error().code, Code::kInvalidArgument);
}

TEST(Hbm, Strided) {
  ExpectCatches("strided", {{"stride", Whole(5)}},
                [](const auto& in, int64_t i) { return in[0][At(5 * i)]; });
  const Program program = MustBuild("strided", Bytes(4 * 101, "f32", {{"stride", Whole(10)}}));
  EXPECT_EQ(program.outputs[0].dims, (std::vector<int64_t>{11}));
  EXPECT_EQ(program.work.hbm_bytes, 2 * 11 * 4);
  EXPECT_THAT(program.labels, Contains(HasSubstr("picked elements only")));
}

TEST(Hbm, Gather) {
  const int64_t row_bytes = 64;
  for (const char* dtype : {"f32", "bf16", "s8"}) {
    const int64_t width = row_bytes / HostBytesPerElement(ParseDType(dtype).value());
    const Program program =
        MustBuild("gather", Bytes(1 << 14, dtype, {{"row_bytes", Whole(row_bytes)}}),
                  {.devices = 2, .all = true});
    ExpectCheckCatches(program, Evaluate(program, [&](const auto& in, int64_t i) {
                         const double row = in[1][At(i / width)];
                         return in[0][At(static_cast<int64_t>(row) * width + i % width)];
                       }));
    EXPECT_EQ(program.work.hbm_bytes, 2 * (1 << 14) + 4 * 256);
  }
}

TEST(Hbm, Scatter) {
  const int64_t row_bytes = 64;
  for (const char* dtype : {"f32", "bf16", "s8"}) {
    const int64_t width = row_bytes / HostBytesPerElement(ParseDType(dtype).value());
    const Program program =
        MustBuild("scatter", Bytes(1 << 14, dtype, {{"row_bytes", Whole(row_bytes)}}),
                  {.devices = 2, .all = true});
    Outputs right;
    for (int partition = 0; partition < 2; ++partition) {
      const programs::InputSource updates(program.inputs[0], 0, partition, kTestSeed, "normal");
      const programs::InputSource index(program.inputs[1], 1, partition, kTestSeed, "normal");
      HostTensor table(program.outputs[0]);
      for (int64_t i = 0; i < table.shape.elements(); ++i) {
        table.set(static_cast<int64_t>(index(i / width)) * width + i % width, updates(i));
      }
      right.push_back({std::move(table)});
    }
    ExpectCheckCatches(program, right);
    // Gathered by the same indices: another permutation.
    EXPECT_FALSE(
        CheckOutputs(program,
                     Evaluate(program,
                              [&](const auto& in, int64_t i) {
                                const double row = in[1][At(i / width)];
                                return in[0][At(static_cast<int64_t>(row) * width + i % width)];
                              }))
            .passed);
  }
}

// likwid#262: 2^27 f32 in 0.1 s is 16.11 GB/s, with the arrays named and no write-allocate.
TEST(Hbm, C17_TriadCountsThreeArrays) {
  const Program program = MustBuild("triad", Bytes(int64_t{4} << 27, "f32"));
  EXPECT_EQ(program.work.hbm_bytes, 3.0 * 4 * (1 << 27));
  EXPECT_EQ(FormatRate(program.rates[0].amount / 0.1, "B/s"), "16.11 GB/s");
  EXPECT_THAT(program.labels, Contains("3 arrays: b, c read, a written"));
  EXPECT_EQ(program.working_set_bytes, int64_t{3} * 4 * (1 << 27));
}

TEST(Hbm, BytesOfEachPattern) {
  const auto bytes = [](const char* bench) {
    return MustBuild(bench, Bytes(1 << 20, "f32")).work.hbm_bytes;
  };
  EXPECT_EQ(bytes("copy"), 2 << 20);
  EXPECT_EQ(bytes("scale"), 2 << 20);
  EXPECT_EQ(bytes("add"), 3 << 20);
  EXPECT_EQ(bytes("read"), (1 << 20) + 4096);
  EXPECT_EQ(bytes("write"), 1 << 20);
  EXPECT_EQ(bytes("transpose"), 2 << 20);
  EXPECT_EQ(bytes("strided"), 2.0 * (1 << 20) / 16);
}

TEST(Hbm, RatesCountEveryDevice) {
  const Program program = MustBuild("copy", Bytes(1 << 20, "f32"), {.devices = 4, .all = true});
  EXPECT_EQ(program.scope, Scope::kAll);
  EXPECT_EQ(program.work.hbm_bytes, 2 << 20);
  EXPECT_EQ(program.rates[0].amount, 4.0 * (2 << 20));
}

// memtestG80#3, ompi#10094: counts beyond 32 bits.
TEST(Hbm, E2_SizesBeyond32Bits) {
  const Program bytes = MustBuild("copy", Bytes(2147483656, "s8"));
  EXPECT_EQ(bytes.work.hbm_bytes, 2.0 * 2147483656);
  EXPECT_THAT(bytes.stablehlo, HasSubstr("tensor<2147483656xi8>"));
  const Program floats = MustBuild("triad", Bytes(4294967304, "f32"));
  EXPECT_EQ(floats.outputs[0].elements(), 1073741826);
  EXPECT_EQ(floats.working_set_bytes, 3 * int64_t{4294967304});
  const Program gather =
      MustBuild("gather", Bytes(int64_t{16} << 30, "s8", {{"row_bytes", Whole(4)}}));
  EXPECT_EQ(gather.inputs[1].shape.dtype, DType::kS64);
  EXPECT_EQ(gather.inputs[1].fill.limit, int64_t{4} << 30);
}

TEST(Hbm, SizesThatAreNotWholeElements) {
  for (const auto& [bench, given] : {std::pair{"copy", Bytes(1001, "bf16")},
                                     {"gather", Bytes(1000, "f32", {{"row_bytes", Whole(512)}})},
                                     {"scatter", Bytes(1024, "f32", {{"row_bytes", Whole(6)}})}}) {
    const auto wrong = TryBuild(bench, given);
    ASSERT_FALSE(wrong.has_value()) << bench;
    EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
    EXPECT_THAT(wrong.error().message, HasSubstr("bytes'"));
  }
}

}  // namespace
}  // namespace ridgeline::benchmarks
