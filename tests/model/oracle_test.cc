// Every worked example of sections 1, 2 and 3: an example without a function, or an output without
// its example, is a failure.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "model/oracles.h"

namespace ridgeline::model {
namespace {

constexpr double kTolerance = 1e-9;

Json LoadExamples() {
  std::ifstream file(std::string(RIDGELINE_SOURCE_DIR) + "/tests/model/model_oracles.json");
  std::stringstream text;
  text << file.rdbuf();
  return ParseJson(text.str()).value();
}

void ExpectSame(const Json& expected, const Json& actual, const std::string& what) {
  if (expected.is_number_float() || actual.is_number_float()) {
    const double want = expected.get<double>();
    EXPECT_NEAR(actual.get<double>(), want, kTolerance * std::fabs(want)) << what;
  } else {
    EXPECT_EQ(actual, expected) << what;
  }
}

void ExpectOracles(const std::string& section, const Oracles& oracles) {
  std::set<std::string> seen;
  for (const Json& example : LoadExamples()) {
    const std::string id = StringOr(example, "id");
    if (!id.starts_with(section + ".")) continue;
    seen.insert(id);
    const auto oracle = oracles.find(id);
    if (oracle == oracles.end()) {
      ADD_FAILURE() << "no function for example " << id << " " << StringOr(example, "title");
      continue;
    }
    Outputs outputs = oracle->second(example["inputs"]);
    for (const auto& [name, expected] : example["outputs"].items()) {
      const std::string what = id + " " + name;
      const auto output = outputs.find(name);
      if (output == outputs.end()) {
        ADD_FAILURE() << what << " is not computed";
        continue;
      }
      ExpectSame(expected, output->second, what);
      outputs.erase(output);
    }
    for (const auto& [name, value] : outputs) ADD_FAILURE() << id << " has no output " << name;
  }
  for (const auto& [id, oracle] : oracles) EXPECT_TRUE(seen.contains(id)) << id;
}

TEST(WorkedExamples, Roofline) { ExpectOracles("1", RooflineOracles()); }
TEST(WorkedExamples, Collectives) { ExpectOracles("2", CollectiveOracles()); }
TEST(WorkedExamples, Transformers) { ExpectOracles("3", TransformerOracles()); }

}  // namespace
}  // namespace ridgeline::model
