// Every benchmark at small sizes.
#pragma once

#include "benchmarks/harness.h"

namespace ridgeline::benchmarks {

inline constexpr int kDevices = 4;

struct Row {
  std::string bench;
  Given given;
  bool all = false;          // on every device, as collectives always are
  bool unsupported = false;  // refused, as unimplemented
};

inline constexpr char kImported[] = R"(module @imported {
  func.func public @main(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}
)";

inline ParamValue Text(const char* text) { return std::string(text); }
inline ParamValue Whole(int64_t value) { return value; }

inline Given Gemm(const char* dtype, Given more = {}) {
  more.insert({{"m", Whole(48)}, {"n", Whole(40)}, {"k", Whole(72)}, {"dtype", Text(dtype)}});
  return more;
}

inline Given Image(const char* dtype, Given more = {}) {
  more.insert({{"batch", Whole(2)},
               {"height", Whole(9)},
               {"width", Whole(7)},
               {"in_channels", Whole(5)},
               {"out_channels", Whole(6)},
               {"dtype", Text(dtype)}});
  return more;
}

inline Given Bytes(int64_t bytes, const char* dtype, Given more = {}) {
  more.insert({{"bytes", Whole(bytes)}, {"dtype", Text(dtype)}});
  return more;
}

inline Given Heads(Given more = {}) {
  more.insert({{"batch", Whole(2)},
               {"heads", Whole(4)},
               {"kv_heads", Whole(2)},
               {"q_len", Whole(128)},
               {"kv_len", Whole(256)},
               {"head_dim", Whole(64)}});
  return more;
}

inline std::vector<Row> Rows() {
  std::vector<Row> rows;
  for (const char* name :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute"}) {
    rows.push_back({name, Bytes(4096, "f32"), true});
  }
  rows.push_back({"all_reduce", Bytes(4096, "f32", {{"group", Text("halves")}}), true});
  rows.push_back({"pair", Bytes(4096, "f32"), true});
  rows.push_back({"send_recv", Bytes(4096, "f32"), true, true});
  for (const char* dtype : {"f32", "f64", "s8", "bf16", "f16", "f8e4m3fn", "f8e5m2"}) {
    rows.push_back({"gemm", Gemm(dtype)});
  }
  rows.push_back({"gemm", Gemm("s4"), false, true});
  rows.push_back({"gemm", Gemm("f32", {{"transpose_a", true}}), true});
  rows.push_back({"gemm", Gemm("f32", {{"transpose_b", true}})});
  rows.push_back({"gemm", Gemm("bf16", {{"out_dtype", Text("f32")}})});
  rows.push_back({"gemm", Gemm("f32", {{"precision_config", Text("default")}})});
  rows.push_back({"gemm", Gemm("f32", {{"precision_config", Text("tf32")}})});
  rows.push_back({"gemm", Gemm("f32", {{"precision_config", Text("bf16x3")}})});
  for (const char* dtype : {"f32", "bf16", "s8"}) {
    rows.push_back({"batched_gemm", Gemm(dtype, {{"batch", Whole(3)}})});
    rows.push_back({"convolution", Image(dtype)});
  }
  rows.push_back({"convolution",
                  Image("f32", {{"stride", Whole(2)}, {"padding", Whole(0)}, {"kernel", Whole(2)}}),
                  true});
  for (const char* op : {"add", "multiply", "exponential", "tanh", "rsqrt"}) {
    for (const char* dtype : {"f32", "f64", "bf16", "f16"}) {
      rows.push_back({"vector", Bytes(1 << 14, dtype, {{"op", Text(op)}})});
    }
  }
  for (const char* name :
       {"copy", "scale", "add", "triad", "write", "transpose", "strided", "gather", "scatter"}) {
    for (const char* dtype : {"f32", "f64", "bf16", "f16", "s32", "s8"}) {
      rows.push_back({name, Bytes(3 << 16, dtype)});
    }
    rows.push_back({name, Bytes(1 << 16, "f32"), true});
  }
  for (const char* dtype : {"f32", "f64", "s32"}) {
    rows.push_back({"read", Bytes(3 << 16, dtype), dtype == std::string("f64")});
  }
  for (const char* name : {"host_to_device", "device_to_host", "host_both"}) {
    rows.push_back({name, Bytes(1 << 16, "f32"), true});
  }
  for (const char* form : {"materialised", "tiled"}) {
    for (const char* direction : {"forward", "backward", "forward_backward"}) {
      rows.push_back({"attention", Heads({{"form", Text(form)},
                                          {"direction", Text(direction)},
                                          {"causal", true},
                                          {"block", Whole(64)}})});
    }
  }
  rows.push_back({"imported", {{"file", Text("small.mlir")}}});
  return rows;
}

inline std::string Name(const Row& row) {
  std::string name = row.bench;
  for (const auto& [key, value] : row.given) name += " " + key + "=" + ToString(value);
  return name + (row.all ? " on all" : "");
}

inline void PrintTo(const Row& row, std::ostream* out) { *out << Name(row); }

inline Result<programs::Program> Build(const Row& row) {
  return TryBuild(row.bench, row.given, {.devices = kDevices, .all = row.all, .text = kImported});
}

}  // namespace ridgeline::benchmarks
