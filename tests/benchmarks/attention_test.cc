// Attention: counts against the formulas and against the program's own dots, and a known answer
// that tells a right result from a wrong one.
#include "benchmarks/attention.h"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "benchmarks/harness.h"

namespace ridgeline::benchmarks {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Given Params(const Attention& a) {
  const std::string direction = !a.backward()  ? "forward"
                                : !a.forward() ? "backward"
                                               : "forward_backward";
  return {{"form", std::string(a.tiled ? "tiled" : "materialised")},
          {"direction", direction},
          {"causal", a.causal},
          {"batch", a.batch},
          {"heads", a.heads},
          {"kv_heads", a.kv_heads},
          {"q_len", a.q_len},
          {"kv_len", a.kv_len},
          {"head_dim", a.head_dim},
          {"block", a.block},
          {"dtype", std::string(Name(a.dtype))}};
}

// facts: B=2, 16 query heads, 4 key heads, S=8192, D=128.
Attention Long() {
  Attention a;
  a.batch = 2;
  a.heads = 16;
  a.kv_heads = 4;
  a.q_len = a.kv_len = 8192;
  a.head_dim = 128;
  a.block = 512;
  a.dtype = DType::kBF16;
  return a;
}

Attention Small() {
  Attention a;
  a.batch = 2;
  a.heads = 6;
  a.kv_heads = 2;
  a.q_len = 5;
  a.kv_len = 8;
  a.head_dim = 4;
  a.block = 4;
  return a;
}

// Every form and direction of `a`, causal and not.
std::vector<Attention> Variants(const Attention& base) {
  std::vector<Attention> all;
  for (const bool tiled : {false, true}) {
    for (const auto direction : {AttentionDirection::kForward, AttentionDirection::kBackward,
                                 AttentionDirection::kForwardBackward}) {
      for (const bool causal : {false, true}) {
        Attention a = base;
        a.tiled = tiled;
        a.direction = direction;
        a.causal = causal;
        all.push_back(a);
      }
    }
  }
  return all;
}

std::string Describe(const Attention& a) {
  std::string text;
  for (const auto& [name, value] : Params(a)) text += name + "=" + ToString(value) + " ";
  return text;
}

// Numbers of "[4, 5] x [6]", the first or the second list.
std::vector<int64_t> Numbers(const std::string& text, const std::string& after, int list) {
  size_t at = text.find(after);
  if (at == std::string::npos) return {};
  for (int i = 0; i <= list; ++i) at = text.find('[', at) + 1;
  std::istringstream stream(text.substr(at, text.find(']', at) - at));
  std::vector<int64_t> numbers;
  for (std::string part; std::getline(stream, part, ',');) numbers.push_back(std::stoll(part));
  return numbers;
}

// Dimensions of each "tensor<…>" of a line.
std::vector<std::vector<int64_t>> TensorDims(const std::string& line) {
  std::vector<std::vector<int64_t>> all;
  for (size_t at = line.find("tensor<"); at != std::string::npos;
       at = line.find("tensor<", at + 1)) {
    std::istringstream stream(line.substr(at + 7, line.find('>', at) - at - 7));
    all.emplace_back();
    for (std::string part; std::getline(stream, part, 'x');) {
      if (part.find_first_not_of("0123456789") == std::string::npos) {
        all.back().push_back(std::stoll(part));
      }
    }
  }
  return all;
}

struct Dots {
  double flops = 0;
  int64_t count = 0;
};

// Flops of a text's dot_generals: 2 * elements of the result * contracted extents, times the trip
// counts of the inner loops (the constant that an inner condition compares with).
Dots CountDots(const std::string& text) {
  Dots dots;
  std::vector<double> rounds = {1};
  double constant = 1;
  bool in_condition = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("cond {") != std::string::npos) {
      in_condition = true;
      constant = 1;  // the outer condition compares with an argument
    } else if (line.find("} do {") != std::string::npos) {
      in_condition = false;
      rounds.push_back(rounds.back() * constant);
    } else if (in_condition && line.find("stablehlo.constant dense<") != std::string::npos) {
      constant = std::stod(line.substr(line.find("dense<") + 6));
    } else if (line.find("dot_general") != std::string::npos) {
      const auto dims = TensorDims(line);
      double flops = 2 * rounds.back();
      for (const int64_t d : dims.back()) flops *= static_cast<double>(d);
      for (const int64_t d : Numbers(line, "contracting_dims", 0)) {
        flops *= static_cast<double>(dims.front()[static_cast<size_t>(d)]);
      }
      dots.flops += flops;
      ++dots.count;
    } else if (!in_condition && line.find_first_not_of(' ') == line.rfind('}') &&
               rounds.size() > 1) {
      rounds.pop_back();
    }
  }
  return dots;
}

TEST(Attention, TheCounterOfDotsKnowsASmallProgram) {
  const Dots dots = CountDots(
      "    cond {\n      %m = compare\n    } do {\n"
      "      %w = stablehlo.while\n        cond {\n          %c = stablehlo.constant dense<3> : x\n"
      "        } do {\n"
      "          %a = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = "
      "[2, 3] x [1, 2] : (tensor<2x5x7x11xf32>, tensor<2x7x11x13xf32>) -> tensor<2x5x13xf32>\n"
      "        }\n"
      "      %b = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, "
      "tensor<3x4xf32>) -> tensor<2x4xf32>\n    }\n");
  EXPECT_EQ(dots.count, 2);
  EXPECT_EQ(dots.flops, 3 * 2 * (2 * 5 * 13 * 7 * 11) + 2 * (2 * 4 * 3));
}

TEST(Attention, ExecutedFlopsAreThoseOfTheProgramsDots) {
  std::vector<Attention> shapes = {Long(), Small(), Small(), Small()};
  shapes[2].q_len = 1;
  shapes[2].heads = shapes[2].kv_heads = 3;
  shapes[3].kv_heads = 1;
  for (const Attention& shape : shapes) {
    for (const Attention& a : Variants(shape)) {
      const programs::Program program = MustBuild("attention", Params(a));
      const Dots dots = CountDots(program.stablehlo);
      EXPECT_EQ(program.work.total_matrix_flops(), dots.flops) << Describe(a);
      EXPECT_EQ(program.rates[0].amount, dots.flops);
      EXPECT_EQ(program.expected.ops[0].count, dots.count) << Describe(a);
      EXPECT_EQ(dots.count, a.products());
    }
  }
}

TEST(Attention, SwappedAxesCountOtherwise) {
  Attention swapped = Long();
  std::swap(swapped.heads, swapped.q_len);
  std::swap(swapped.kv_heads, swapped.kv_len);
  const programs::Program program = MustBuild("attention", Params(Long()));
  EXPECT_NE(CountDots(MustBuild("attention", Params(swapped)).stablehlo).flops,
            program.work.total_matrix_flops());
}

TEST(Attention, PublishedCountsOfALongSequence) {
  const auto build = [](bool causal, AttentionDirection direction) {
    Attention a = Long();
    a.causal = causal;
    a.direction = direction;
    return MustBuild("attention", Params(a));
  };
  const auto useful = [](const programs::Program& program) {
    EXPECT_EQ(program.rates[1].name, "useful_flops");
    EXPECT_EQ(program.rates[1].amount, program.work.useful_flops->value);
    return program.rates[1].amount;
  };
  const programs::Program forward = build(false, AttentionDirection::kForward);
  EXPECT_EQ(useful(forward), 1'099'511'627'776);
  EXPECT_EQ(forward.work.matrix_flops.at(DType::kBF16), 1'099'511'627'776);
  EXPECT_EQ(forward.work.hbm_bytes, 167'772'160) << "q, k, v, o";
  EXPECT_EQ(forward.work.transcendentals, 2.0 * 16 * 8192 * 8192);
  const programs::Program causal = build(true, AttentionDirection::kForward);
  EXPECT_EQ(useful(causal), 549'755'813'888);
  EXPECT_THAT(causal.work.useful_flops->convention, HasSubstr("causal half"));
  EXPECT_EQ(causal.work.total_matrix_flops(), 1'099'511'627'776) << "masked scores are computed";
  EXPECT_THAT(causal.labels, Contains(HasSubstr("masked scores are computed too")));
  EXPECT_EQ(useful(build(false, AttentionDirection::kBackward)), 2.5 * 1'099'511'627'776);
  EXPECT_EQ(useful(build(true, AttentionDirection::kBackward)), 2.5 * 549'755'813'888);
  EXPECT_EQ(useful(build(true, AttentionDirection::kForwardBackward)), 3.5 * 549'755'813'888);
  EXPECT_EQ(build(false, AttentionDirection::kBackward).work.total_matrix_flops(),
            2.5 * 1'099'511'627'776);
}

TEST(Attention, KeyHeadsChangeBytesNotFlops) {
  Attention a = Long();
  const programs::Program grouped = MustBuild("attention", Params(a));
  a.kv_heads = 16;
  const programs::Program full = MustBuild("attention", Params(a));
  EXPECT_EQ(full.work.total_matrix_flops(), grouped.work.total_matrix_flops());
  EXPECT_EQ(full.work.hbm_bytes, 4.0 * 2 * 8192 * 16 * 128 * 2);
}

TEST(Attention, DecodeWithACausalMaskSeesTheWholeCache) {
  Attention a = Long();
  a.q_len = 1;
  a.causal = true;
  EXPECT_EQ(UsefulAttentionFlops(a).value, 4.0 * 2 * 16 * 8192 * 128);
  a.q_len = 2;
  EXPECT_EQ(UsefulAttentionFlops(a).value, 4.0 * 2 * 16 * (8191 + 8192) * 128);
}

TEST(Attention, AllDevicesAddUp) {
  const programs::Program program =
      MustBuild("attention", Params(Small()), {.devices = 3, .all = true});
  EXPECT_EQ(program.partitions, 3);
  EXPECT_EQ(program.rates[0].amount, 3 * program.work.total_matrix_flops());
}

TEST(Attention, ImpossibleShapesAreNamed) {
  const auto error = [](const Attention& a) {
    const auto program = TryBuild("attention", Params(a));
    EXPECT_FALSE(program.has_value());
    return program ? "" : program.error().message;
  };
  Attention a = Small();
  a.kv_heads = 4;
  EXPECT_THAT(error(a), HasSubstr("heads = 6 is no multiple of kv_heads = 4"));
  a = Small();
  a.tiled = true;
  a.block = 3;
  EXPECT_THAT(error(a), HasSubstr("kv_len = 8 is no multiple of block = 3"));
  a = Small();
  a.causal = true;
  a.q_len = 9;
  EXPECT_THAT(error(a), HasSubstr("see no key"));
}

// Attention as its definition says it, one element at a time; with ways to get it wrong.
struct Reference {
  Attention a;
  bool scale = true;
  bool mask = true;
  bool modulo_heads = false;  // query head h reads key head h % kv_heads
  std::vector<double> q, k, v, d_o;

  size_t Query(int64_t b, int64_t i, int64_t h, int64_t d) const {
    return static_cast<size_t>(((b * a.q_len + i) * a.heads + h) * a.head_dim + d);
  }
  size_t Key(int64_t b, int64_t j, int64_t h, int64_t d) const {
    const int64_t head = modulo_heads ? h % a.kv_heads : h / a.group();
    return static_cast<size_t>(((b * a.kv_len + j) * a.kv_heads + head) * a.head_dim + d);
  }

  std::vector<double> Softmax(int64_t b, int64_t h, int64_t i) const {
    std::vector<double> p(static_cast<size_t>(a.kv_len));
    double sum = 0;
    for (int64_t j = 0; j < a.kv_len; ++j) {
      double s = 0;
      for (int64_t d = 0; d < a.head_dim; ++d) s += q[Query(b, i, h, d)] * k[Key(b, j, h, d)];
      if (scale) s /= std::sqrt(static_cast<double>(a.head_dim));
      const bool seen = !a.causal || !mask || j <= i + a.offset();
      sum += p[static_cast<size_t>(j)] = seen ? std::exp(s) : 0;
    }
    for (double& x : p) x /= sum;
    return p;
  }

  template <typename F>
  void ForEachRow(const F& visit) const {
    for (int64_t b = 0; b < a.batch; ++b) {
      for (int64_t h = 0; h < a.heads; ++h) {
        for (int64_t i = 0; i < a.q_len; ++i) visit(b, h, i, Softmax(b, h, i));
      }
    }
  }

  // o, dq, dk, dv
  std::vector<std::vector<double>> Compute() const {
    std::vector<double> o(q.size()), dq(q.size()), dk(k.size()), dv(k.size());
    const double factor = scale ? 1 / std::sqrt(static_cast<double>(a.head_dim)) : 1;
    ForEachRow([&](int64_t b, int64_t h, int64_t i, const std::vector<double>& p) {
      std::vector<double> dp(p.size());
      double delta = 0;
      for (int64_t j = 0; j < a.kv_len; ++j) {
        const auto at = static_cast<size_t>(j);
        for (int64_t d = 0; d < a.head_dim; ++d) {
          o[Query(b, i, h, d)] += p[at] * v[Key(b, j, h, d)];
          if (d_o.empty()) continue;
          dp[at] += d_o[Query(b, i, h, d)] * v[Key(b, j, h, d)];
          dv[Key(b, j, h, d)] += p[at] * d_o[Query(b, i, h, d)];
        }
        delta += p[at] * dp[at];
      }
      for (int64_t j = 0; j < a.kv_len; ++j) {
        const auto at = static_cast<size_t>(j);
        const double ds = p[at] * (dp[at] - delta) * factor;
        for (int64_t d = 0; d < a.head_dim; ++d) {
          dq[Query(b, i, h, d)] += ds * k[Key(b, j, h, d)];
          dk[Key(b, j, h, d)] += ds * q[Query(b, i, h, d)];
        }
      }
    });
    return {o, dq, dk, dv};
  }
};

Reference ReferenceFor(const Attention& a, const programs::Program& program) {
  const HostRun run(program, {});
  Reference reference;
  reference.a = a;
  reference.q = run.Input(0, 0).Values();
  reference.k = run.Input(0, 1).Values();
  reference.v = run.Input(0, 2).Values();
  if (a.backward()) reference.d_o = run.Input(0, 3).Values();
  return reference;
}

Outputs Rounded(const Attention& a, const programs::Program& program, const Reference& reference) {
  const auto arrays = reference.Compute();
  Outputs outputs(1);
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    HostTensor tensor(program.outputs[i]);
    const auto& values = arrays[a.forward() ? i : i + 1];
    for (size_t x = 0; x < values.size(); ++x) tensor.set(static_cast<int64_t>(x), values[x]);
    outputs[0].push_back(std::move(tensor));
  }
  return outputs;
}

// The gradients that the test compares with are those of its own forward pass.
TEST(Attention, ReferenceGradientsAgreeWithDifferences) {
  Attention a = Small();
  a.causal = true;
  a.direction = AttentionDirection::kForwardBackward;
  const programs::Program program = MustBuild("attention", Params(a));
  Reference reference = ReferenceFor(a, program);
  const auto loss = [&reference] {
    const std::vector<double> o = reference.Compute()[0];
    double sum = 0;
    for (size_t i = 0; i < o.size(); ++i) sum += reference.d_o[i] * o[i];
    return sum;
  };
  const auto gradients = reference.Compute();
  std::vector<double>* inputs[] = {&reference.q, &reference.k, &reference.v};
  for (size_t array = 0; array < 3; ++array) {
    for (size_t i = 0; i < inputs[array]->size(); i += 7) {
      constexpr double kStep = 1e-5;
      double& x = (*inputs[array])[i];
      x += kStep;
      const double above = loss();
      x -= 2 * kStep;
      const double below = loss();
      x += kStep;
      EXPECT_NEAR((above - below) / (2 * kStep), gradients[array + 1][i], 1e-7)
          << array << " " << i;
    }
  }
}

// Attention's check at any budget: 0 is the way of large sizes.
programs::CheckResult Check(const Attention& a, const programs::Program& program,
                            const Outputs& outputs, double budget) {
  return CheckAttention(a, HostRun(program, outputs), budget);
}

TEST(Attention, CheckTellsRightFromWrong) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    Attention base = Small();
    base.dtype = dtype;
    for (const Attention& a : Variants(base)) {
      if (a.tiled) continue;  // the same answer
      SCOPED_TRACE(Describe(a));
      const programs::Program program = MustBuild("attention", Params(a));
      const Reference reference = ReferenceFor(a, program);
      const Outputs right = Rounded(a, program, reference);
      const programs::CheckResult passed = CheckOutputs(program, right);
      ASSERT_TRUE(passed.passed) << passed.detail;
      const programs::CheckResult sampled = Check(a, program, right, 0);
      ASSERT_TRUE(sampled.passed) << sampled.detail;

      for (size_t o = 0; o < right[0].size(); ++o) {
        for (int64_t i = 0; i < right[0][o].shape.elements(); ++i) {
          Outputs wrong = right;
          wrong[0][o].set(i, wrong[0][o].at(i) + 1);
          EXPECT_FALSE(CheckOutputs(program, wrong).passed) << "output " << o << " element " << i;
        }
      }
      const auto fails = [&](Reference mutated, const std::string& what) {
        const Outputs wrong = Rounded(a, program, mutated);
        EXPECT_FALSE(CheckOutputs(program, wrong).passed) << what;
        EXPECT_FALSE(Check(a, program, wrong, 0).passed) << what << ", sampled";
      };
      Reference mutated = reference;
      mutated.scale = false;
      fails(mutated, "no scale");
      mutated = reference;
      mutated.modulo_heads = true;
      fails(mutated, "key head h % K");
      if (a.causal) {
        mutated = reference;
        mutated.mask = false;
        fails(mutated, "no mask");
      }
      Outputs swapped = right;
      for (HostTensor& array : swapped[0]) {
        const int64_t heads = array.shape.dims[2];
        for (int64_t row = 0; row < array.shape.elements() / heads / a.head_dim; ++row) {
          for (int64_t d = 0; d < a.head_dim; ++d) {
            const int64_t at = row * heads * a.head_dim + d;
            const double first = array.at(at);
            array.set(at, array.at(at + a.head_dim));
            array.set(at + a.head_dim, first);
          }
        }
      }
      EXPECT_FALSE(CheckOutputs(program, swapped).passed) << "heads 0 and 1 swapped";
      EXPECT_FALSE(Check(a, program, swapped, 0).passed) << "heads 0 and 1 swapped, sampled";
      EXPECT_FALSE(CheckOutputs(program, InitialOutputs(program, 1)).passed) << "never ran";
    }
  }
}

// Beyond the budget single elements are held to their range, and gradients to their sums.
TEST(Attention, SampledCheckSeesWildElementsEverywhere) {
  Attention a = Small();
  a.q_len = 16;
  a.kv_len = 24;
  a.causal = true;
  a.direction = AttentionDirection::kForwardBackward;
  const programs::Program program = MustBuild("attention", Params(a));
  const Outputs right = Rounded(a, program, ReferenceFor(a, program));
  const programs::CheckResult passed = Check(a, program, right, 0);
  ASSERT_TRUE(passed.passed) << passed.detail;
  EXPECT_THAT(passed.detail, HasSubstr("3 rows of every head"));
  for (size_t o = 0; o < right[0].size(); ++o) {
    for (int64_t i = 0; i < right[0][o].shape.elements(); i += 5) {
      Outputs wrong = right;
      wrong[0][o].set(i, 10);
      EXPECT_FALSE(Check(a, program, wrong, 0).passed) << "output " << o << " element " << i;
      wrong[0][o].set(i, std::nan(""));
      EXPECT_FALSE(Check(a, program, wrong, 0).passed) << "NaN, output " << o << " element " << i;
    }
  }
}

}  // namespace
}  // namespace ridgeline::benchmarks
