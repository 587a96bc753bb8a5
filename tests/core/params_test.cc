#include "core/params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <locale>

namespace ridgeline {
namespace {

using ::testing::HasSubstr;
using Given = std::map<std::string, ParamValue>;

const std::vector<ParamSpec> kSpecs = {
    {.name = "m", .fallback = int64_t{1024}, .help = "rows"},
    {.name = "bytes", .type = ParamType::kBytes, .fallback = int64_t{65536}, .help = "size"},
    {.name = "share", .type = ParamType::kNumber, .fallback = 0.5, .help = "share", .min = 0},
    {.name = "causal", .type = ParamType::kBool, .fallback = false, .help = "causal"},
    {.name = "op",
     .type = ParamType::kText,
     .fallback = std::string("add"),
     .help = "operation",
     .allowed = {"add", "multiply", "exponential"}},
    {.name = "dtype",
     .type = ParamType::kDType,
     .fallback = std::string("f32"),
     .help = "type",
     .allowed = {"f32", "bf16", "s8"}}};

std::string ErrorOf(const Given& given, const std::vector<ParamSpec>& specs = kSpecs) {
  const auto result = ResolveParams(specs, given);
  if (result) return "no error";
  EXPECT_EQ(result.error().code, Code::kInvalidArgument);
  return result.error().message;
}

TEST(Params, FillsFallbacksAndConvertsText) {
  const Params params = ResolveParams(kSpecs, {{"m", std::string("2048")},
                                               {"bytes", std::string("64MiB")},
                                               {"causal", std::string("true")},
                                               {"dtype", std::string("int8")}})
                            .value();
  EXPECT_EQ(params.Integer("m"), 2048);
  EXPECT_EQ(params.Integer("bytes"), 67108864);
  EXPECT_EQ(params.Real("share"), 0.5);
  EXPECT_TRUE(params.Flag("causal"));
  EXPECT_EQ(params.Text("op"), "add");
  EXPECT_EQ(params.Type("dtype"), DType::kS8);
  EXPECT_EQ(params.Canonical(), "bytes=67108864,causal=true,dtype=s8,m=2048,op=add,share=0.5");
}

TEST(Params, ErrorsNameTheValueWhatIsAllowedAndTheNearest) {
  EXPECT_THAT(ErrorOf({{"bites", int64_t{1}}}),
              AllOf(HasSubstr("'bites'"), HasSubstr("allowed: m, bytes"),
                    HasSubstr("did you mean 'bytes'?")));
  EXPECT_THAT(ErrorOf({{"op", std::string("multipy")}}),
              AllOf(HasSubstr("'multipy'"), HasSubstr("add, multiply, exponential"),
                    HasSubstr("did you mean 'multiply'?")));
  EXPECT_THAT(ErrorOf({{"dtype", std::string("bf61")}}),
              AllOf(HasSubstr("'bf61'"), HasSubstr("did you mean 'bf16'?")));
  EXPECT_THAT(ErrorOf({{"dtype", std::string("f64")}}),
              AllOf(HasSubstr("'f64'"), HasSubstr("f32, bf16, s8")));
  EXPECT_THAT(ErrorOf({{"m", std::string("many")}}),
              AllOf(HasSubstr("'many'"), HasSubstr("a whole number")));
  EXPECT_THAT(ErrorOf({{"m", 1.5}}), HasSubstr("'1.5'"));
  EXPECT_THAT(ErrorOf({{"m", int64_t{0}}}), HasSubstr("the least allowed value is 1"));
  EXPECT_THAT(ErrorOf({{"bytes", std::string("64M")}}), HasSubstr("64KiB"));
  EXPECT_THAT(ErrorOf({{"share", -0.5}}), HasSubstr("a number"));
  EXPECT_THAT(ErrorOf({{"causal", std::string("yes")}}), HasSubstr("true or false"));
  EXPECT_THAT(ErrorOf({{"m", std::string("\x1b[2J")}}), HasSubstr("\\x1b[2J"));
}

TEST(Params, RequiredOnesMustBeNamed) {
  const std::vector<ParamSpec> specs = {{.name = "file",
                                         .type = ParamType::kText,
                                         .fallback = std::string(),
                                         .help = "a program",
                                         .required = true}};
  EXPECT_THAT(ErrorOf({}, specs), AllOf(HasSubstr("'file'"), HasSubstr("a program")));
  EXPECT_TRUE(ResolveParams(specs, {{"file", std::string("x.mlir")}}).has_value());
}

TEST(Params, JsonKeepsEveryType) {
  const Params params = ResolveParams(kSpecs, {{"share", 0.25}, {"m", int64_t{1} << 40}}).value();
  EXPECT_EQ(ParamsFromJson(ParseJson(DumpLine(ToJson(params))).value()).value(), params);
  EXPECT_FALSE(ParamsFromJson(Json{{"m", Json::array({1})}}).has_value());
  EXPECT_FALSE(ParamsFromJson(Json{{"m", nullptr}}).has_value());
}

struct CommaPoint : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

TEST(Params, NumbersHavePointsUnderEveryLocale) {
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new CommaPoint));
  const Params params = ResolveParams(kSpecs, {{"share", std::string("0.75")}}).value();
  EXPECT_EQ(params.Real("share"), 0.75);
  EXPECT_THAT(params.Canonical(), HasSubstr("share=0.75"));
  std::locale::global(before);
}

}  // namespace
}  // namespace ridgeline
