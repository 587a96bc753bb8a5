// Counts against definitions, on HLO text small enough to count by hand. Names such as C7 are items
// of the list of public reports that each became a test.
#include "hlo/analysis.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/cost.h"
#include "hlo/reader.h"

namespace ridgeline::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Analysis Count(const std::string& body, const AnalysisOptions& options = {},
               const std::string& before = "") {
  const auto module =
      ReadModule("HloModule test\n\n" + before + "\nENTRY main {\n" + body + "\n}\n");
  EXPECT_TRUE(module) << module.error().ToString();
  if (!module) return {};
  const auto analysis = Analyse(*module, options);
  EXPECT_TRUE(analysis) << analysis.error().ToString();
  return analysis ? *analysis : Analysis{};
}

constexpr const char* kAdd =
    "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n";

std::string Dot(int64_t n, const std::string& type) {
  return fmt::format(R"(
  x = {1}[{0},{0}] parameter(0)
  y = {1}[{0},{0}] parameter(1)
  ROOT d = {1}[{0},{0}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}})",
                     n, type);
}

TEST(Dots, C7CountsAPlainProductExactly) {
  const Analysis analysis = Count(Dot(2048, "f32"));
  EXPECT_EQ(analysis.matrix.at("f32"), 17179869184);
  EXPECT_EQ(analysis.vector_flops(), 0);
  EXPECT_FALSE(analysis.lower_bound());
}

TEST(Dots, BatchAndSeveralContractedDimensions) {
  const Analysis analysis = Count(R"(
  x = bf16[3,4,5,6] parameter(0)
  y = bf16[3,6,7,5] parameter(1)
  ROOT d = f32[3,4,7] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2,3}, rhs_contracting_dims={3,1})");
  EXPECT_EQ(analysis.matrix.at("bf16"), 2.0 * 3 * 4 * 7 * 5 * 6);
}

TEST(Dots, AComplexProductIsEightReal) {
  const Analysis analysis = Count(Dot(16, "c64"));
  EXPECT_EQ(analysis.matrix.at("f32"), 8.0 * 16 * 16 * 16);
}

TEST(Dots, OfMixedOperandsTheWider) {
  const Analysis analysis = Count(R"(
  x = s8[4,8] parameter(0)
  y = bf16[8,2] parameter(1)
  ROOT d = bf16[4,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
  EXPECT_EQ(analysis.matrix.at("bf16"), 2.0 * 4 * 2 * 8);
}

// E4: attention with 16 query heads and 4 kv heads, B=2, S=8192, D=128.
TEST(Dots, E4SharedHeadsCostBytesNotFlops) {
  const Analysis analysis = Count(R"(
  q = bf16[2,4,4,8192,128] parameter(0)
  k = bf16[2,4,8192,128] parameter(1)
  v = bf16[2,4,8192,128] parameter(2)
  s = f32[2,4,4,8192,8192] dot(q, k), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={4}, rhs_contracting_dims={3}
  c = bf16[2,4,4,8192,8192] convert(s)
  ROOT o = bf16[2,4,4,8192,128] dot(c, v), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={4}, rhs_contracting_dims={2})");
  EXPECT_EQ(analysis.matrix_flops(), 4.0 * 2 * 16 * 8192 * 8192 * 128);
  EXPECT_EQ(analysis.hbm.compulsory, 167772160);
}

// E5: with the axes swapped the program's own dots say so.
TEST(Dots, E5SwappedAxesShow) {
  const auto scores = [](int64_t contracted_q, int64_t contracted_k, const std::string& shape) {
    return Count(fmt::format(R"(
  q = bf16[4,512,128] parameter(0)
  k = bf16[4,512,128] parameter(1)
  ROOT s = f32[4,{2}] dot(q, k), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{{0}}}, rhs_contracting_dims={{{1}}})",
                             contracted_q, contracted_k, shape))
        .matrix_flops();
  };
  EXPECT_EQ(scores(2, 2, "512,512"), 2.0 * 4 * 512 * 512 * 128);
  EXPECT_EQ(scores(1, 1, "128,128"), 2.0 * 4 * 128 * 128 * 512);
}

// (output, tap) pairs one by one.
double PairsByHand(int64_t inputs, int64_t outputs, const WindowDimension& window) {
  double pairs = 0;
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t k = 0; k < window.size; ++k) {
      const int64_t at = o * window.stride - window.padding_low + k * window.window_dilation;
      const int64_t span = (inputs - 1) * window.base_dilation + 1;
      pairs += at >= 0 && at < span && at % window.base_dilation == 0 ? 1 : 0;
    }
  }
  return pairs;
}

TEST(Convolutions, TapsAreThoseThatReadAnElement) {
  for (const int64_t inputs : {1, 2, 7, 28}) {
    for (const int64_t size : {1, 2, 3, 7}) {
      for (const int64_t stride : {1, 2, 3}) {
        for (const int64_t base : {1, 2, 4}) {
          for (const int64_t dilation : {1, 2, 3}) {
            for (const int64_t low : {-1, 0, 1, 6}) {
              WindowDimension window;
              window.size = size;
              window.stride = stride;
              window.base_dilation = base;
              window.window_dilation = dilation;
              window.padding_low = window.padding_high = low;
              const int64_t room = (inputs - 1) * base + 1 + 2 * low - ((size - 1) * dilation + 1);
              const int64_t outputs = room < 0 ? 0 : room / stride + 1;
              ASSERT_EQ(ValidTaps(inputs, outputs, window), PairsByHand(inputs, outputs, window))
                  << inputs << ' ' << size << ' ' << stride << ' ' << base << ' ' << dilation << ' '
                  << low;
            }
          }
        }
      }
    }
  }
}

TEST(Convolutions, HugeSizesTakeNoTime) {
  WindowDimension window;
  window.size = 3;
  window.padding_low = window.padding_high = 1;
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(ValidTaps(huge, huge, window), 3.0 * static_cast<double>(huge) - 2);
  window.base_dilation = std::numeric_limits<int64_t>::max();
  EXPECT_GT(ValidTaps(huge, huge, window), 0);
}

TEST(Convolutions, GroupsDivideTheInputFeatures) {
  const auto flops = [](int64_t groups) {
    return Count(fmt::format(R"(
  x = f32[2,8,8,16] parameter(0)
  k = f32[3,3,{},32] parameter(1)
  ROOT c = f32[2,6,6,32] convolution(x, k), window={{size=3x3}}, dim_labels=b01f_01io->b01f, feature_group_count={})",
                             16 / groups, groups))
        .matrix_flops();
  };
  EXPECT_EQ(flops(1), 2.0 * 2 * 36 * 32 * 16 * 9);
  EXPECT_EQ(flops(16), flops(1) / 16);
}

std::string Loop(const std::string& trip_bound) {
  return fmt::format(R"(
body {{
  p = (s32[], f32[512,512]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[512,512] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  d = f32[512,512] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT t = (s32[], f32[512,512]) tuple(next, d)
}}

condition {{
  p = (s32[], f32[512,512]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant({})
  ROOT less = pred[] compare(i, n), direction=LT
}}
)",
                     trip_bound);
}

constexpr const char* kLoopEntry = R"(
  x = f32[512,512] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[512,512]) tuple(zero, x)
  w = (s32[], f32[512,512]) while(t), condition=condition, body=body
  ROOT r = f32[512,512] get-tuple-element(w), index=1)";

TEST(Loops, C8CountsAllRounds) {
  const Analysis analysis = Count(kLoopEntry, {}, Loop("100"));
  EXPECT_EQ(analysis.matrix_flops(), 26843545600);
  ASSERT_EQ(analysis.loops.size(), 1u);
  EXPECT_EQ(analysis.loops[0].trips, 100);
  // The array goes in once and comes out once; each round may read it once and write it once.
  EXPECT_EQ(analysis.hbm.compulsory, 2.0 * 512 * 512 * 4);
  EXPECT_GE(analysis.hbm.unfused, 100 * 2.0 * 512 * 512 * 4);
}

TEST(Loops, C8AnUnknownCountIsSaidAndMayBeGiven) {
  std::string text = Loop("100");
  const std::string constant = "n = s32[] constant(100)";
  text.replace(text.find(constant), constant.size(),
               "n = s32[] get-dimension-size(i), dimensions={0}");
  const Analysis once = Count(kLoopEntry, {}, text);
  EXPECT_EQ(once.matrix_flops(), 268435456);
  EXPECT_TRUE(once.lower_bound());
  ASSERT_EQ(once.uncounted.size(), 1u);
  EXPECT_THAT(once.uncounted[0].why, HasSubstr("per iteration; trip count unknown"));
  const Analysis given = Count(kLoopEntry, {.unknown_trips = 100}, text);
  EXPECT_EQ(given.matrix_flops(), 26843545600);
  EXPECT_FALSE(given.lower_bound());
}

TEST(Loops, KnownTripCountOfTheCompilerCounts) {
  const std::string entry = std::string(kLoopEntry);
  const std::string where = "body=body";
  std::string with = entry;
  with.replace(with.find(where), where.size(),
               R"(body=body, backend_config={"known_trip_count":{"n":"7"}})");
  EXPECT_EQ(Count(with, {}, Loop("100")).loops[0].trips, 7);
}

constexpr const char* kProduct =
    "x = f32[64,64] parameter(0)\n y = f32[64,64] parameter(1)\n zero = f32[] constant(0)\n"
    "d = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";

// A product's kernel goes on as long as all that is made of its result comes together again.
TEST(Fused, AProductTakesTheElementwiseWorkThatComesTogether) {
  const double array = 64 * 64 * 4;
  const Analysis analysis = Count(std::string(kProduct) +
                                  "t = f32[64,64] tanh(d)\n h = f32[64,64] add(d, t)\n"
                                  "ROOT g = f32[64,64] multiply(d, h)");
  EXPECT_EQ(analysis.hbm.fused, 3 * array);
}

// Scores that a maximum and an exponential use are written once: no compiler computes them twice.
TEST(Fused, AProductIsNotComputedAgainForEachUser) {
  const double array = 64 * 64 * 4, row = 64 * 4;
  const Analysis analysis = Count(std::string(kProduct) +
                                      "s = f32[64,64] multiply(d, y)\n"
                                      "m = f32[64] reduce(s, zero), dimensions={1}, to_apply=add\n"
                                      "b = f32[64,64] broadcast(m), dimensions={0}\n"
                                      "ROOT e = f32[64,64] subtract(s, b)",
                                  {}, kAdd);
  // x and y -> s; s -> m; s and m -> e; and the number.
  EXPECT_EQ(analysis.hbm.fused, 3 * array + (array + row) + (array + row + array) + 4);
}

// C6: a thousand additions of the same arrays are a thousand times their flops, and no more bytes
// than three arrays when all is fused.
TEST(Elementwise, C6AThousandAdditions) {
  std::string body =
      "x = f32[1000] parameter(0)\n y = f32[1000] parameter(1)\n v0 = f32[1000] add(x, y)\n";
  for (int i = 1; i < 1000; ++i) {
    body += fmt::format("{}v{} = f32[1000] add(v{}, y)\n", i == 999 ? "ROOT " : "", i, i - 1);
  }
  const Analysis analysis = Count(body);
  EXPECT_EQ(analysis.vector.at("f32"), 1e6);
  EXPECT_EQ(analysis.hbm.compulsory, 12000);
  EXPECT_EQ(analysis.hbm.fused, 12000);
  EXPECT_EQ(analysis.hbm.unfused, 1000 * 12000);
}

TEST(Elementwise, TheSameAdditionTwiceIsOne) {
  const Analysis analysis = Count(R"(
  x = f32[10] parameter(0)
  y = f32[10] parameter(1)
  a = f32[10] add(x, y)
  b = f32[10] add(x, y)
  dead = f32[10] exponential(a)
  ROOT m = f32[10] multiply(a, b))");
  EXPECT_EQ(analysis.vector.at("f32"), 20);
  EXPECT_EQ(analysis.transcendentals, 0);
}

TEST(Constants, C5LargeOnesAreFlagged) {
  const Analysis analysis = Count(R"(
  x = f32[256] parameter(0)
  small = f32[256] constant({...})
  large = f32[257] constant({...})
  s = f32[256] slice(large), slice={[0:256]}
  a = f32[256] add(x, small)
  ROOT b = f32[256] add(a, s))");
  ASSERT_EQ(analysis.constants.size(), 1u);
  EXPECT_EQ(analysis.constants[0].name, "large");
  EXPECT_EQ(analysis.constants[0].bytes, 1028);
}

TEST(Reductions, AreInputsLessOutputs) {
  const Analysis analysis = Count(R"(
  x = f32[8,100] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[8] reduce(x, z), dimensions={1}, to_apply=add)",
                                  {}, kAdd);
  EXPECT_EQ(analysis.vector.at("f32"), 800 - 8);
}

TEST(Reductions, ARunningSumIsNotSquare) {
  const Analysis analysis = Count(R"(
  x = f32[4,1000] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[4,1000] reduce-window(x, z), window={size=1x1000 pad=0_0x999_0}, to_apply=add)",
                                  {}, kAdd);
  EXPECT_EQ(analysis.vector.at("f32"), 4 * 999);
}

TEST(Others, SortFftAndFactorizations) {
  EXPECT_EQ(Count("x = c64[4,8,8] parameter(0)\n ROOT f = c64[4,8,8] fft(x), fft_type=FFT, "
                  "fft_length={8,8}")
                .vector.at("f32"),
            5.0 * 4 * 64 * 6);
  EXPECT_EQ(Count("x = f32[64] parameter(0)\n ROOT f = c64[33] fft(x), fft_type=RFFT, "
                  "fft_length={64}")
                .vector.at("f32"),
            2.5 * 64 * 6);
  const char* less =
      "less {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT l = pred[] compare(a, b), "
      "direction=LT\n}\n";
  EXPECT_EQ(Count("x = f32[4,1024] parameter(0)\n ROOT s = f32[4,1024] sort(x), dimensions={1}, "
                  "to_apply=less",
                  {}, less)
                .vector.at("f32"),
            4.0 * 1024 * 10);
  EXPECT_EQ(Count("x = f32[30,30] parameter(0)\n ROOT c = f32[30,30] cholesky(x), lower=true")
                .vector.at("f32"),
            9000);
}

TEST(Memory, AGatherTouchesItsRows) {
  const Analysis analysis = Count(R"(
  table = f32[1000000,128] parameter(0)
  rows = s32[64,1] parameter(1)
  ROOT g = f32[64,128] gather(table, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,128})");
  const double rows = 64 * 128 * 4;
  EXPECT_EQ(analysis.hbm.compulsory, 2 * rows + 64 * 4);
  EXPECT_EQ(analysis.hbm.unfused, 2 * rows + 64 * 4);
  EXPECT_EQ(analysis.hbm.gather, 2 * rows);
}

TEST(Memory, AnUpdateInPlaceMovesTheUpdate) {
  const auto update = [](const std::string& header) {
    const auto module = ReadModule("HloModule m" + header + R"(

ENTRY main {
  x = f32[1000,128] parameter(0)
  u = f32[1,128] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  ROOT d = f32[1000,128] dynamic-update-slice(x, u, i, z)
}
)");
    EXPECT_TRUE(module) << module.error().ToString();
    return Analyse(*module)->hbm.compulsory;
  };
  EXPECT_EQ(update(", input_output_alias={ {}: (0, {}, may-alias) }"), 512 + 512 + 4);
  EXPECT_EQ(update(", buffer_donor={ (0, {}) }"), 512 + 512 + 4);
  EXPECT_EQ(update(""), 2 * 512000 + 512 + 4);
}

// Numbers that come from no array cost nothing even when nothing is fused, unless an array of them
// is wanted.
TEST(Memory, NumbersOfNoArrayAreMadeWhereTheyAreUsed) {
  const std::string scaled = R"(
  x = f32[1000] parameter(0)
  c = f32[] constant(2)
  b = f32[1000] broadcast(c), dimensions={}
  i = f32[1000] iota(), iota_dimension=0
  p = f32[1000] multiply(x, b)
  )";
  EXPECT_EQ(Count(scaled + "ROOT s = f32[1000] add(p, i)").hbm.unfused, 2 * 8000);
  // A product reads the array, a loop or the caller keeps it.
  const Analysis dot = Count(scaled + R"(s = f32[1000] add(p, i)
  ROOT d = f32[] dot(s, i), lhs_contracting_dims={0}, rhs_contracting_dims={0})");
  EXPECT_EQ(dot.hbm.unfused, 8000 + 4000 + 12000 + 8004);
  EXPECT_EQ(Count(scaled + R"(s = f32[1000] add(p, i)
  ROOT t = (f32[1000], f32[1000]) tuple(s, b))")
                .hbm.unfused,
            4004 + 12000 + 8000);
}

TEST(Memory, ACompiledProgramIsCountedAtItsFusions) {
  const auto module = ReadModule(R"(HloModule m, is_scheduled=true

fused {
  p = f32[1000] parameter(0)
  q = f32[1000] parameter(1)
  a = f32[1000] add(p, q)
  ROOT b = f32[1000] exponential(a)
}

ENTRY main {
  x = f32[1000]{0} parameter(0)
  y = f32[1000]{0:S(1)} parameter(1)
  ROOT f = f32[1000]{0} fusion(x, y), kind=kLoop, calls=fused
}
)");
  ASSERT_TRUE(module) << module.error().ToString();
  const Analysis analysis = *Analyse(*module);
  EXPECT_TRUE(analysis.hbm.exact);
  // y lies in memory space 1, which is not the main memory.
  EXPECT_EQ(analysis.hbm.unfused, 8000);
  EXPECT_EQ(analysis.vector.at("f32"), 1000);
  EXPECT_EQ(analysis.transcendentals, 1000);
}

TEST(Collectives, PairsCountOnceAndGroupsAreRead) {
  const Analysis analysis = Count(R"(
  p = f32[1024] parameter(0)
  st = (f32[1024], f32[4096]) all-gather-start(p), channel_id=1, replica_groups=[4,4]<=[16], dimensions={0}, use_global_device_ids=true
  dn = f32[4096] all-gather-done(st)
  ROOT rs = f32[1024] reduce-scatter(dn), channel_id=2, replica_groups=mesh['x'=4,'y'=4], device_ids=([4,4]T(1,0)) {'y'}, dimensions={0}, to_apply=add)",
                                  {.devices = 16}, kAdd);
  ASSERT_EQ(analysis.collectives.size(), 2u);
  EXPECT_EQ(analysis.collectives[0].kind, "all-gather");
  EXPECT_EQ(analysis.collectives[0].executions, 1);
  EXPECT_EQ(analysis.collectives[0].payload_bytes, 16384);
  EXPECT_EQ(analysis.collectives[0].wire_bytes, 16384 * 0.75);
  EXPECT_EQ(analysis.collectives[1].kind, "reduce-scatter");
  EXPECT_EQ(analysis.collectives[1].payload_bytes, 16384);
  EXPECT_THAT(analysis.collectives[1].group, ElementsAre(0, 4, 8, 12));
}

// Same size, different links: kept apart, with the ids that tell the axes.
TEST(Collectives, GroupsOfOneSizeAlongTwoAxesAreTwo) {
  const Analysis analysis = Count(R"(
  p = f32[1024] parameter(0)
  a = f32[1024] all-reduce(p), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add
  b = f32[1024] all-reduce(a), channel_id=2, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add
  ROOT c = f32[1024] all-reduce(b), channel_id=3, replica_groups={}, use_global_device_ids=true, to_apply=add)",
                                  {.devices = 4}, kAdd);
  ASSERT_EQ(analysis.collectives.size(), 3u);
  const Work work = ToWork(analysis);
  ASSERT_EQ(work.wire.size(), 3u);
  EXPECT_THAT(work.wire[0].group, ElementsAre(0, 1));
  EXPECT_THAT(work.wire[1].group, ElementsAre(0, 2));
  EXPECT_THAT(work.wire[2].group, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(work.wire[2].wire_bytes, 2 * 0.75 * 4096);
}

TEST(Collectives, ClonesInFusionsCountOnce) {
  const std::string fusions = R"(
one {
  p = f32[1024] parameter(0)
  ROOT a = f32[1024] all-reduce(p), channel_id=5, replica_groups={{0,1}}, to_apply=add
}

two {
  p = f32[1024] parameter(0)
  ROOT a = f32[1024] all-reduce(p), channel_id=5, replica_groups={{0,1}}, to_apply=add
}
)";
  const Analysis analysis = Count(R"(
  p = f32[1024] parameter(0)
  f = f32[1024] fusion(p), kind=kCustom, calls=one
  g = f32[1024] fusion(f), kind=kCustom, calls=two
  ROOT a = f32[1024] add(f, g))",
                                  {.devices = 2}, kAdd + fusions);
  ASSERT_EQ(analysis.collectives.size(), 1u);
  EXPECT_EQ(analysis.collectives[0].executions, 1);
}

TEST(Branches, TheDearestCountsAndIsNamed) {
  const std::string branches = R"(
cheap {
  p = f32[64,64] parameter(0)
  ROOT n = f32[64,64] negate(p)
}

dear {
  p = f32[64,64] parameter(0)
  ROOT d = f32[64,64] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";
  const Analysis analysis = Count(R"(
  i = s32[] parameter(0)
  x = f32[64,64] parameter(1)
  ROOT c = f32[64,64] conditional(i, x, x), branch_computations={cheap, dear})",
                                  {}, branches);
  EXPECT_EQ(analysis.matrix_flops(), 2.0 * 64 * 64 * 64);
  EXPECT_EQ(analysis.vector_flops(), 0);
  ASSERT_EQ(analysis.notes.size(), 1u);
  EXPECT_THAT(analysis.notes[0], HasSubstr("dearest of its 2 branches, dear"));
}

TEST(CustomCalls, UnknownOnesAreListedKnownOnesCounted) {
  const Analysis unknown = Count(
      "x = f32[8] parameter(0)\n ROOT c = f32[8] custom-call(x), custom_call_target=\"mine\"");
  ASSERT_EQ(unknown.uncounted.size(), 1u);
  EXPECT_EQ(unknown.uncounted[0].what, "custom-call mine");
  const Analysis stated = Count(
      "x = bf16[8] parameter(0)\n ROOT c = bf16[8] custom-call(x), "
      "custom_call_target=\"tpu_custom_call\", backend_config={\"custom_call_config\":"
      "{\"cost_estimate\":{\"flops\":\"1000\",\"transcendentals\":\"10\",\"bytes_accessed\":\"50\"}"
      "}}");
  EXPECT_THAT(stated.uncounted, IsEmpty());
  EXPECT_EQ(stated.matrix.at("bf16"), 1000);
  EXPECT_EQ(stated.transcendentals, 10);
  EXPECT_EQ(stated.hbm.unfused, 50);
}

TEST(Calls, AreSeenThrough) {
  const std::string callee = R"(
half {
  w = f32[10,64,64] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  s = f32[1,64,64] dynamic-slice(w, i, z, z), dynamic_slice_sizes={1,64,64}
  ROOT r = f32[64,64] reshape(s)
}
)";
  const Analysis analysis = Count(R"(
  w = f32[10,64,64] parameter(0)
  i = s32[] parameter(1)
  x = f32[64,64] parameter(2)
  h = f32[64,64] call(w, i), to_apply=half
  ROOT d = f32[64,64] dot(x, h), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                                  {}, callee);
  // The slice is read by the product itself, with its two indices.
  EXPECT_EQ(analysis.hbm.fused, 3.0 * 64 * 64 * 4 + 2 * 4);
}

TEST(Conversion, WorkKeepsTypesAndSaysWhichItHasNot) {
  const Analysis analysis = Count(R"(
  x = u64[10] parameter(0)
  y = f32[10] parameter(1)
  a = u64[10] add(x, x)
  b = f32[10] add(y, y)
  ROOT t = (u64[10], f32[10]) tuple(a, b))");
  std::vector<std::string> notes;
  const Work work = ToWork(analysis, &notes);
  EXPECT_EQ(work.vector_flops.at(DType::kF32), 10);
  EXPECT_EQ(work.vector_flops.at(DType::kS64), 10);
  EXPECT_THAT(notes, ElementsAre("u64 is counted as s64"));
  EXPECT_EQ(work.hbm_bytes, analysis.hbm.fused);
}

}  // namespace
}  // namespace ridgeline::hlo
