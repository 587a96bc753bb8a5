// Imported programs: the signature of @main, and what is refused in words.
#include <gmock/gmock.h>

#include "benchmarks/harness.h"
#include "benchmarks/signature.h"

namespace ridgeline::benchmarks {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Module(const std::string& signature, const std::string& body = "") {
  return "module @m {\n  func.func public @main" + signature + " {\n" + body +
         "    return\n  }\n}\n";
}

Result<programs::Program> Import(const std::string& text, bool all = false) {
  return TryBuild("imported", {{"file", std::string("dir/small.mlir")}},
                  {.devices = 2, .all = all, .text = text});
}

TEST(Signature, ReadsTypesThroughAttributesAndLocations) {
  const auto read = ReadSignature(R"(// a comment with @main( in it
#loc = loc("file.py":1:2)
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func private @helper(%arg0: tensor<7xf64>) -> tensor<7xf64> { return %arg0 : tensor<7xf64> }
  func.func public @main(
      %arg0: tensor<4x8xbf16> {mhlo.sharding = "{replicated}", jax.note = "a, \"b\" (c) > {"} loc("q"(#loc)),
      %arg1: tensor<i1> loc(#loc), %arg2: tensor<0x3xf8E4M3FN, #stablehlo.type_extensions<a = [1, 2]>>)
      -> (tensor<2x2xui32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = ""}) {
    return
  }
}
)");
  ASSERT_TRUE(read.has_value()) << read.error().ToString();
  const std::vector<Shape> arguments = {
      {DType::kBF16, {4, 8}}, {DType::kPred, {}}, {DType::kF8E4M3FN, {0, 3}}};
  const std::vector<Shape> results = {{DType::kU32, {2, 2}}, {DType::kF32, {}}};
  EXPECT_EQ(read->arguments, arguments);
  EXPECT_EQ(read->results, results);
  EXPECT_EQ(read->partitions, 1);
}

TEST(Signature, OneResultManyOrNone) {
  const auto results = [](const std::string& text) {
    return ReadSignature(Module(text)).value().results.size();
  };
  EXPECT_EQ(results("()"), 0u);
  EXPECT_EQ(results("() -> ()"), 0u);
  EXPECT_EQ(results("() -> tensor<f32>"), 1u);
  EXPECT_EQ(results("() -> (tensor<f32>, tensor<3xi8>)"), 2u);
  EXPECT_EQ(results("() -> tuple<tensor<f32>, tuple<tensor<i32>, tensor<2xi4>>>"), 3u);
}

TEST(Signature, ErrorsNameThePlaceAndTheType) {
  const auto error = [](const std::string& text) { return ReadSignature(text).error(); };
  const Error dynamic = error(Module("(%a: tensor<?x4xf32>)"));
  EXPECT_EQ(dynamic.code, Code::kUnimplemented);
  EXPECT_THAT(dynamic.message, HasSubstr("dynamic shapes"));
  EXPECT_EQ(dynamic.where, "2:30");
  EXPECT_THAT(error(Module("(%a: tensor<4xcomplex<f32>>)")).message, HasSubstr("'complex<f32>'"));
  EXPECT_THAT(error(Module("(%a: tensor<4xi16>)")).message, HasSubstr("'i16'"));
  EXPECT_THAT(error(Module("(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>)")).message,
              HasSubstr("'!quant.uniform<i8:f32'"));
  EXPECT_THAT(error(Module("(%a: !stablehlo.token)")).message, HasSubstr("!stablehlo.token"));
  EXPECT_THAT(error(Module("(%a: tensor<9223372036854775807x2xf32>)")).message,
              HasSubstr("too large"));
  EXPECT_EQ(error(Module("(%a tensor<f32>)")).message, "expected ':', found 'tensor<f32>) {'");
  EXPECT_EQ(error("module {}").code, Code::kInvalidArgument);
  EXPECT_THAT(error("").message, HasSubstr("empty"));
  EXPECT_THAT(error("HloModule m").message, HasSubstr("HLO text"));
  EXPECT_THAT(error(std::string("\x1f\x8b\x08\x00", 4)).message, HasSubstr("not text"));
  const Error bytecode = error("ML\xefR\x0dStableHLO");
  EXPECT_EQ(bytecode.code, Code::kUnimplemented);
  EXPECT_THAT(bytecode.next, HasSubstr("as_text()"));
}

TEST(Signature, TextCutAnywhereIsAnErrorOrASignature) {
  const std::string text =
      Module("(%a: tensor<4xf32> {x = \"y\"} loc(\"z\")) -> (tuple<tensor<f32>>)",
             "    %0 = stablehlo.custom_call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n");
  for (size_t length = 0; length < text.size(); ++length) {
    const auto read = ReadSignature(text.substr(0, length));
    EXPECT_EQ(read.has_value(), length > text.find(">>) {") + 4) << text.substr(0, length);
  }
}

TEST(Signature, HostCallbacksAreRefusedByName) {
  for (const std::string body :
       {"    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) : () -> ()\n",
        "    %0 = \"stablehlo.custom_call\"(%a) <{call_target_name = "
        "\"xla_ffi_python_cpu_callback\"}> : () -> ()\n"}) {
    const auto read = ReadSignature(Module("(%a: tensor<f32>)", body));
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, Code::kUnimplemented);
    EXPECT_THAT(read.error().message, HasSubstr("xla_ffi_python_cpu_callback"));
  }
  EXPECT_FALSE(ReadSignature(Module("()", "    \"stablehlo.outfeed\"(%t)\n")).has_value());
  EXPECT_FALSE(
      ReadSignature(Module("()", "    \"stablehlo.send\"(%t) <{is_host_transfer = true}>\n"))
          .has_value());
  EXPECT_TRUE(ReadSignature(Module("()", "    stablehlo.custom_call @Sharding(%a)\n")).has_value());
  EXPECT_TRUE(ReadSignature(Module("()", "    // @xla_python_cpu_callback\n")).has_value());
}

TEST(Imported, BecomesAProgramOfCalls) {
  const std::string text = Module("(%a: tensor<4x8xf32>, %i: tensor<3xi32>) -> tensor<4xf32>");
  const auto program = Import(text);
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  EXPECT_EQ(program->repeat, programs::Repeat::kCalls);
  EXPECT_EQ(program->stablehlo, text);
  ASSERT_EQ(program->inputs.size(), 2u);
  EXPECT_EQ(program->inputs[1].fill.kind, programs::FillKind::kIndex);
  EXPECT_EQ(program->inputs[1].fill.limit, 2);
  EXPECT_THAT(program->outputs, Contains(Shape{DType::kF32, {4}}));
  EXPECT_FALSE(program->check);
  EXPECT_TRUE(program->rates.empty());
  EXPECT_FALSE(program->expected.loop);
  EXPECT_FALSE(program->shardy);
  EXPECT_EQ(program->working_set_bytes, 4 * (32 + 3 + 4));
  EXPECT_THAT(program->labels, Contains("integer inputs in [0,2)"));
  EXPECT_THAT(program->labels, Contains("no Work: counted later by the roofline"));
}

TEST(Imported, DonationIsTakenOut) {
  const auto program =
      Import(Module("(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> "
                    "{jax.buffer_donor = true}) -> tensor<4xf32>"));
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  EXPECT_THAT(program->stablehlo, Not(HasSubstr("tf.aliasing_output")));
  EXPECT_THAT(program->stablehlo, Not(HasSubstr("jax.buffer_donor")));
  EXPECT_THAT(program->labels, Contains(HasSubstr("donation")));
}

TEST(Imported, ErrorsNameTheFile) {
  const auto dynamic = Import(Module("(%a: tensor<?xf32>)"));
  ASSERT_FALSE(dynamic.has_value());
  EXPECT_EQ(dynamic.error().where, "dir/small.mlir:2:30");
  const auto many = Import(
      "module attributes {mhlo.num_partitions = 16 : i32} {\n  func.func "
      "@main(%a: tensor<f32>) { return }\n}\n");
  ASSERT_FALSE(many.has_value());
  EXPECT_EQ(many.error().code, Code::kUnimplemented);
  EXPECT_THAT(many.error().message, HasSubstr("16 partitions"));
  EXPECT_FALSE(Import(Module("()"), true).has_value());
  EXPECT_FALSE(TryBuild("imported", {}).has_value()) << "file is required";
}

}  // namespace
}  // namespace ridgeline::benchmarks
