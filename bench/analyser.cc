// How long the HLO analyser takes: from text to Work, by the number of instructions.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "hlo/analysis.h"
#include "hlo/reader.h"

namespace ridgeline::bench {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Layers as a network has them, unrolled: a product, a bias, a normalisation, a residual.
std::string Program(int64_t instructions) {
  constexpr int64_t kPerLayer = 12;
  std::string text =
      "HloModule layers\n\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT s = f32[] add(a, b)\n}\n\nENTRY main {\n  w = f32[256,256]{1,0} parameter(0)\n"
      "  b = f32[256]{0} parameter(1)\n  zero = f32[] constant(0)\n"
      "  x0 = f32[64,256]{1,0} parameter(2)\n";
  const int64_t layers = std::max<int64_t>(1, instructions / kPerLayer);
  for (int64_t i = 0; i < layers; ++i) {
    text += fmt::format(
        "  d{0} = f32[64,256]{{1,0}} dot(x{0}, w), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={{0}}, metadata={{op_name=\"jit(f)/layer/dot\"}}\n"
        "  c{0} = f32[64,256]{{1,0}} broadcast(b), dimensions={{1}}\n"
        "  e{0} = f32[64,256]{{1,0}} add(d{0}, c{0})\n"
        "  m{0} = f32[64]{{0}} reduce(e{0}, zero), dimensions={{1}}, to_apply=sum\n"
        "  n{0} = f32[64,256]{{1,0}} broadcast(m{0}), dimensions={{0}}\n"
        "  o{0} = f32[64,256]{{1,0}} subtract(e{0}, n{0})\n"
        "  p{0} = f32[64,256]{{1,0}} multiply(o{0}, o{0})\n"
        "  q{0} = f32[64]{{0}} reduce(p{0}, zero), dimensions={{1}}, to_apply=sum\n"
        "  r{0} = f32[64]{{0}} rsqrt(q{0})\n"
        "  s{0} = f32[64,256]{{1,0}} broadcast(r{0}), dimensions={{0}}\n"
        "  t{0} = f32[64,256]{{1,0}} multiply(o{0}, s{0})\n"
        "  {2}x{1} = f32[64,256]{{1,0}} add(t{0}, x{0})\n",
        i, i + 1, i + 1 == layers ? "ROOT " : "");
  }
  return text + "}\n";
}

struct Row {
  double instructions, seconds;
};

int Run(const std::vector<int64_t>& sizes) {
  std::vector<Row> rows;
  fmt::print("{:>14} {:>10} {:>10} {:>10} {:>12}\n", "instructions", "read s", "count s", "total s",
             "peak MiB");
  for (const int64_t size : sizes) {
    const std::string text = Program(size);
    const double start = Now();
    const auto module = hlo::ReadModule(text);
    if (!module) {
      fmt::print(stderr, "{}\n", module.error().ToString());
      return 1;
    }
    const double read = Now();
    const auto analysis = hlo::Analyse(*module);
    const double end = Now();
    if (!analysis || analysis->matrix_flops() <= 0) return 1;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    rows.push_back({static_cast<double>(analysis->instructions), end - start});
    fmt::print("{:>14} {:>10.3f} {:>10.3f} {:>10.3f} {:>12}\n", analysis->instructions,
               read - start, end - read, end - start, usage.ru_maxrss / 1024);
  }
  if (rows.size() < 2) return 0;
  const Row& first = rows.front();
  const Row& last = rows.back();
  fmt::print(
      "exponent of time against instructions: {:.2f} (1 is linear)\n",
      std::log(last.seconds / first.seconds) / std::log(last.instructions / first.instructions));
  return 0;
}

}  // namespace
}  // namespace ridgeline::bench

int main(int argc, char** argv) {
  CLI::App app("time of the HLO analyser by the size of the program");
  std::vector<int64_t> sizes = {5000, 50000, 500000};
  app.add_option("sizes", sizes, "instructions")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return ridgeline::bench::Run(sizes);
}
