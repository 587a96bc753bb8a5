// 80 inputs that are broken, strange, huge or not programs at all: each ends in words or in
// figures, in time, and costs at most the compiler's own process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "pjrt/discovery.h"
#include "pjrt/program.h"

namespace ridgeline::pjrt {
namespace {

using ::testing::HasSubstr;

enum class End { kRefused, kCounted };

struct Input {
  const char* file;
  End end;
  const char* word;  // in the message; or in the form, notes and analysis
};

void PrintTo(const Input& input, std::ostream* out) { *out << input.file; }

constexpr End kRefused = End::kRefused;
constexpr End kCounted = End::kCounted;
constexpr const char* kSmallDot = R"("f32":1024.0)";

const Input kInputs[] = {
    {"bare_func.mlir", kCounted, kSmallDot},
    {"bytecode_flipped_bytes.mlirbc", kRefused, "invalid dialect index"},
    {"bytecode_future_format.mlirbc", kRefused, "bytecode version 99 is newer"},
    {"bytecode_future_stablehlo.mlirbc", kCounted, "newer than StableHLO 1"},
    {"bytecode_magic_only.mlirbc", kRefused, "end of the bytecode"},
    {"bytecode_truncated.mlirbc", kRefused, "attempting to parse 42 bytes when only 34 remain"},
    {"call_tree_2_pow_40.mlir", kCounted, R"("f32":70368744177664.0)"},  // 2^40 times 64 adds
    {"chlo_ops.mlir", kCounted, "transcendental"},
    {"comment_only.mlir", kRefused, "no function @main"},
    {"crlf.mlir", kCounted, kSmallDot},
    {"custom_call_unknown.mlir", kCounted, "custom-call my_magic_kernel"},
    {"declaration_only.mlir", kRefused, "every function has a body"},
    {"deep_nesting_300.mlir", kCounted, "StableHLO text"},
    {"dim_overflow.mlir", kRefused, "overflow in static extent product"},
    {"dim_too_big_to_parse.mlir", kRefused, "2:37: error: invalid dimension"},
    {"duplicate_value.mlir", kRefused, "redefinition of SSA value '%0'"},
    {"dynamic_batch.mlir", kRefused, "dimension of unknown"},
    {"dynamic_bounded.mlir", kCounted, "counted at their bounds"},
    {"dynamic_jax_export.jaxexport", kRefused, "dynamic_broadcast_in_dim"},
    {"dynamic_jax_export.mlir", kRefused, "dynamic_broadcast_in_dim"},
    {"dynamic_reshape_iota.mlir", kRefused, "dynamic_iota"},
    {"elided_constant.mlir", kRefused, "dense elements"},
    {"empty.mlir", kRefused, "the file is empty"},
    {"empty_module.mlir", kRefused, "no function @main"},
    {"flops_overflow_int64.mlir", kRefused, "overflow in static extent product"},
    {"generic_form.mlir", kCounted, kSmallDot},
    {"generic_form_old_attrs.mlir", kCounted, kSmallDot},
    {"git_lfs_pointer.mlir", kRefused, "Git LFS pointer"},
    {"gzip_named_mlir.mlir", kRefused, "gunzip it first"},
    {"hlo_empty.hlo.pb", kRefused, "the file is empty"},
    {"hlo_garbage.hlo.pb", kRefused, "not a serialized HLO module"},
    {"hlo_group_formats.hlo.txt", kCounted, R"("kind":"all-gather","group_size":4)"},
    {"hlo_module_proto_bare.hlo.pb", kCounted, "HLO proto"},
    {"hlo_no_entry.hlo.txt", kCounted, "HLO text"},
    {"hlo_proto_named_mlir.mlir", kCounted, "HLO proto"},
    {"hlo_text_named_mlir.mlir", kRefused, "48:78: HLO text: this '{' is not closed"},
    {"hlo_truncated.hlo.pb", kRefused, "cut short"},
    {"hlo_truncated.hlo.txt", kRefused, "456:74: HLO text: this quote is not closed"},
    {"hlo_unknown_opcode.hlo.txt", kRefused, "5:19: HLO text: unknown opcode 'frobnicate'"},
    {"html_error_page.mlir", kRefused, "HTML page"},
    {"jaxexport_named_mlir.mlir", kCounted, "jax.export artifact"},
    {"location_info_long.mlir", kCounted, kSmallDot},
    {"long_line_200k.mlir", kCounted, "custom-call k"},
    {"mhlo_dialect.mlir", kCounted, R"("f32":64.0)"},
    {"mlir_named_pb.hlo.pb", kCounted, "StableHLO text"},
    {"mutual_recursion.mlir", kRefused, "none calls itself"},
    {"nested_modules.mlir", kRefused, "no function @main"},
    {"no_args_no_results.mlir", kCounted, R"("compulsory":0.0)"},
    {"no_final_newline.mlir", kCounted, kSmallDot},
    {"no_main.mlir", kRefused, "no function @main"},
    {"no_ops_identity.mlir", kCounted, R"("compulsory":512.0)"},
    {"nul_bytes.mlir", kRefused, "3:16: the text holds a NUL byte"},
    {"partitions_mismatch.mlir", kCounted, "it needs 14 devices"},
    {"quantized_types.mlir", kRefused, "uniform_quantize"},
    {"random_bytes.mlirbc", kRefused, "not a serialized HLO module"},
    {"recursive_call.mlir", kRefused, "none calls itself"},
    {"scale_20k_ops.mlir", kCounted, "StableHLO text"},
    {"scale_3000_args.mlir", kCounted, "StableHLO text"},
    {"scale_50k_chain_ops.mlir.gz", kRefused, "gunzip it first"},
    {"scale_50k_wide_ops.mlirbc", kCounted, "StableHLO bytecode"},
    {"sdy_16_devices.mlir", kCounted, R"("kind":"all-reduce","group_size":4)"},
    {"sdy_unknown_mesh.mlir", kRefused, "unknown mesh: @nope"},
    {"sub_byte_types.mlir", kCounted, R"("compulsory":)"},
    {"tokens_infeed.mlir", kCounted, R"("host_bytes":32.0)"},
    {"truncated_last_brace.mlir", kRefused, "308:4"},
    {"truncated_mid_op.mlir", kRefused, "177:68: error: expected '<' in tensor type"},
    {"tuple_types.mlir", kCounted, "StableHLO text"},
    {"two_public_funcs.mlir", kCounted, kSmallDot},
    {"type_mismatch.mlir", kRefused, "3:10: error: inferred shape '[8, 8]'"},
    {"undefined_value.mlir", kRefused, "undeclared SSA value"},
    {"unknown_dialect.mlir", kRefused, "unregistered dialect"},
    {"unknown_stablehlo_op.mlir", kRefused, "stablehlo.flash_attention"},
    {"unranked.mlir", kRefused, "must be ranked tensor"},
    {"utf16.mlir", kRefused, "UTF-16 text"},
    {"utf8_bom.mlir", kCounted, kSmallDot},
    {"while_never_ends.mlir", kCounted, "trip count unknown"},
    {"while_step_3.mlir", kCounted, R"("trips":34.0)"},
    {"while_trip_2_pow_62.mlir", kCounted, R"("trips":4.611686018427388e+18)"},
    {"while_zero_trips.mlir", kCounted, R"("trips":0.0)"},
    {"whitespace.mlir", kRefused, "only white space"},
};

std::string ReadInput(const std::string& name) {
  std::ifstream file(CORPUS_DIR "/bad/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Words(const AnalysedProgram& program) {
  std::string words = program.form + "\n";
  for (const std::string& note : program.notes) words += note + "\n";
  return words + DumpLine(hlo::ToJson(program.device));
}

class BadInput : public ::testing::TestWithParam<Input> {};

TEST_P(BadInput, EndsInWordsOrFigures) {
  const auto plugin = FindPlugin("cpu", SearchEnv::FromProcess());
  ASSERT_TRUE(plugin) << plugin.error().ToString();
  const auto program = ReadProgram(
      ReadInput(GetParam().file),
      {.plugin_path = plugin->library, .limit_s = 60, .memory_bytes = int64_t{4} << 30});
  if (GetParam().end == kCounted) {
    ASSERT_TRUE(program) << program.error().ToString();
    EXPECT_THAT(Words(*program), HasSubstr(GetParam().word));
  } else {
    ASSERT_FALSE(program) << Words(*program);
    EXPECT_THAT(program.error().ToString(), HasSubstr(GetParam().word));
    EXPECT_FALSE(program.error().next.empty()) << program.error().ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadInput, ::testing::ValuesIn(kInputs), [](const auto& input) {
  std::string name = input.param.file;
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

TEST(BadInputs, EveryFileHasItsRow) {
  std::map<std::string, int> rows;
  for (const Input& input : kInputs) ++rows[input.file];
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CORPUS_DIR "/bad")) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".json")) continue;
    ++files;
    EXPECT_EQ(rows[name], 1) << name;
  }
  EXPECT_EQ(files, std::size(kInputs));
}

// By a limit that the compiler cannot keep. Of its memory: pjrt/child_test.cc.
TEST(BadInputs, ALimitEndsTheCompiler) {
  const auto plugin = FindPlugin("cpu", SearchEnv::FromProcess());
  ASSERT_TRUE(plugin) << plugin.error().ToString();
  const std::string text = ReadInput("scale_20k_ops.mlir");
  const auto late = ReadProgram(text, {.plugin_path = plugin->library, .limit_s = 0.01});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(late.error().message, HasSubstr("no answer within 0.01 s"));
}

}  // namespace
}  // namespace ridgeline::pjrt
