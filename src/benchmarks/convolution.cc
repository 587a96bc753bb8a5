// 2-D convolution of images NHWC with kernels HWIO.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/loop_program.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::Program;
using programs::Value;

// One spatial dimension.
struct Window {
  int64_t input = 0;
  int64_t kernel = 0;
  int64_t stride = 1;
  int64_t padding = 0;  // on each side
  int64_t output() const { return (input + 2 * padding - kernel) / stride + 1; }
  // Where tap `t` of output `o` reads; outside of [0, input) is padding.
  int64_t At(int64_t o, int64_t t) const { return o * stride + t - padding; }
  bool Inside(int64_t at) const { return at >= 0 && at < input; }
  // Taps of all outputs that read the image.
  int64_t ValidTaps() const {
    int64_t taps = 0;
    for (int64_t o = 0; o < output(); ++o) {
      for (int64_t t = 0; t < kernel; ++t) taps += Inside(At(o, t)) ? 1 : 0;
    }
    return taps;
  }
};

struct Convolution {
  int64_t batch = 0;
  Window y;
  Window x;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  programs::ProductTypes types;

  int64_t terms() const { return y.kernel * x.kernel * in_channels; }
  int64_t positions() const { return batch * y.output() * x.output(); }
};

// The patch of the image that output position `row` sees, in the order of the kernel's elements.
void ReadPatch(const Convolution& c, const std::vector<double>& image, int64_t row,
               std::span<double> patch) {
  const int64_t out_x = row % c.x.output();
  const int64_t out_y = row / c.x.output() % c.y.output();
  const int64_t n = row / (c.x.output() * c.y.output());
  auto at = patch.begin();
  for (int64_t ty = 0; ty < c.y.kernel; ++ty) {
    for (int64_t tx = 0; tx < c.x.kernel; ++tx) {
      const int64_t in_y = c.y.At(out_y, ty);
      const int64_t in_x = c.x.At(out_x, tx);
      if (c.y.Inside(in_y) && c.x.Inside(in_x)) {
        const int64_t pixel = ((n * c.y.input + in_y) * c.x.input + in_x) * c.in_channels;
        at = std::copy_n(image.begin() + pixel, c.in_channels, at);
      } else {
        at = std::fill_n(at, c.in_channels, 0.0);
      }
    }
  }
}

// As a product: one row an output position, one column an output channel.
programs::CheckResult Check(const Convolution& c, const programs::CheckInput& input) {
  programs::ProductComparison comparison(c.types, input.partitions());
  for (int partition = 0; partition < input.partitions(); ++partition) {
    const std::vector<double> image = input.Input(partition, 0).Values();
    const programs::InputSource kernel = input.Input(partition, 1);
    programs::Product product{.rows = c.positions(),
                              .n = c.out_channels,
                              .k = c.terms(),
                              .read_a = {},
                              .read_b = {},
                              .c = &input.Output(partition, 0)};
    product.read_a = [&](int64_t row, std::span<double> out) { ReadPatch(c, image, row, out); };
    product.read_b = [&](int64_t line, std::span<double> out) {
      kernel.Read(line * c.out_channels, out);
    };
    comparison.Add(product);
  }
  return comparison.Finish();
}

Result<Window> SpatialWindow(const Params& params, const std::string& extent) {
  const Window window{params.Integer(extent), params.Integer("kernel"), params.Integer("stride"),
                      params.Integer("padding")};
  if (window.kernel > window.input + 2 * window.padding) {
    return Fail(Code::kInvalidArgument,
                fmt::format("parameter 'kernel' is {}; the padded {} is {}", window.kernel, extent,
                            window.input + 2 * window.padding));
  }
  if (window.padding >= window.kernel) {
    return Fail(Code::kInvalidArgument,
                fmt::format("parameter 'padding' is {}; it must be less than 'kernel', which is {}",
                            window.padding, window.kernel));
  }
  return window;
}

Result<Program> Build(const Params& params, const Target& target) {
  Convolution c{.batch = params.Integer("batch"),
                .y = {},
                .x = {},
                .in_channels = params.Integer("in_channels"),
                .out_channels = params.Integer("out_channels"),
                .types = {}};
  RL_ASSIGN(c.y, SpatialWindow(params, "height"));
  RL_ASSIGN(c.x, SpatialWindow(params, "width"));
  RL_ASSIGN(const ProductChoice choice, ChooseProduct(params, target, c.terms()));
  if (choice.precision.empty()) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("parameter 'precision_config' is '{}'; a convolution takes highest, high or "
                    "default",
                    params.Text("precision_config")));
  }
  c.types = choice.types;
  const Shape image{c.types.operand, {c.batch, c.y.input, c.x.input, c.in_channels}};
  const Shape kernel{c.types.operand, {c.y.kernel, c.x.kernel, c.in_channels, c.out_channels}};
  const Shape result{c.types.result, {c.batch, c.y.output(), c.x.output(), c.out_channels}};
  Program program = LoopProgram(
      target, c.types.operand, {{"image", image, choice.fill}, {"kernel", kernel, choice.fill}},
      result, [&](Body& body, const std::vector<Value>& in, const std::vector<Value>&) {
        return std::vector{body.Define(
            fmt::format("stablehlo.convolution({0}, {1}) dim_numbers = [b, 0, 1, f]x[0, 1, i, "
                        "o]->[b, 0, 1, f], window = {{stride = [{2}, {2}], pad = [[{3}, {3}], "
                        "[{3}, {3}]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : "
                        "i64, precision_config = [#stablehlo<precision {4}>, "
                        "#stablehlo<precision {4}>]}} : ({5}, {6}) -> {7}",
                        in[0].name, in[1].name, c.y.stride, c.y.padding, choice.precision,
                        image.ToStableHlo(), kernel.ToStableHlo(), result.ToStableHlo()),
            result)};
      });
  CountMatrixFlops(program, c.types.operand,
                   2.0 * static_cast<double>(c.batch) * static_cast<double>(c.y.ValidTaps()) *
                       static_cast<double>(c.x.ValidTaps()) * static_cast<double>(c.in_channels) *
                       static_cast<double>(c.out_channels),
                   "2 flops a multiply-add, taps that fall on padding not counted");
  CountBytes(program, static_cast<double>(program.device_bytes()),
             "3 arrays: image and kernel read, result written, each once");
  if (!choice.label.empty()) program.labels.push_back(choice.label);
  std::vector<std::string> opcodes = ProductOpcodes();
  for (const char* name : {"custom-call:__cudnn$conv", "custom-call:__onednn$conv"}) {
    opcodes.emplace_back(name);
  }
  program.expected.ops = {{std::move(opcodes), 1}};
  program.check = [c](const programs::CheckInput& input) { return Check(c, input); };
  return program;
}

}  // namespace

Benchmark convolution_benchmark() {
  std::vector<ParamSpec> params = {
      {.name = "batch", .fallback = int64_t{8}, .help = "images"},
      {.name = "height", .fallback = int64_t{56}, .help = "rows of an image, in pixels"},
      {.name = "width", .fallback = int64_t{56}, .help = "columns of an image, in pixels"},
      {.name = "in_channels", .fallback = int64_t{64}, .help = "channels of the image"},
      {.name = "out_channels", .fallback = int64_t{64}, .help = "channels of the result"},
      {.name = "kernel", .fallback = int64_t{3}, .help = "extent of the square kernel, in pixels"},
      {.name = "stride", .fallback = int64_t{1}, .help = "step of the kernel, in pixels"},
      {.name = "padding",
       .fallback = int64_t{1},
       .help = "zeros around the image on each side, in pixels",
       .min = 0}};
  const std::vector<ParamSpec> types = ProductParams();
  params.insert(params.end(), types.begin(), types.end());
  return {.name = "convolution",
          .component = Component::kCompute,
          .summary = "2-D convolution of images NHWC with kernels HWIO",
          .params = std::move(params),
          .build = Build};
}

}  // namespace ridgeline::benchmarks
