#include "engine/passes.h"

#include <fmt/format.h>

namespace ridgeline::engine {

std::string InPass(int done, int passes) {
  return done == 0 ? "" : fmt::format("in pass {} of {}: ", done + 1, passes);
}

Json ToJson(const EarlierPasses& earlier) {
  Json samples = Json::array();
  for (const Sample& s : earlier.samples) {
    samples.push_back({s.count, Number(s.seconds), s.block, s.pass});
  }
  return {{"done", earlier.done},     {"base", earlier.base},
          {"samples", samples},       {"doubts", earlier.doubts},
          {"labels", earlier.labels}, {"measurement", ridgeline::ToJson(earlier.measurement)}};
}

Result<EarlierPasses> EarlierPassesFromJson(const Json& json) {
  EarlierPasses earlier;
  earlier.done = static_cast<int>(IntegerOr(json, "done"));
  earlier.base = IntegerOr(json, "base");
  earlier.doubts = TextsOf(json, "doubts");
  earlier.labels = TextsOf(json, "labels");
  RL_ASSIGN(earlier.measurement, MeasurementFromJson(ObjectOr(json, "measurement")));
  if (const Json* samples = Member(json, "samples")) {
    for (const Json& one : *samples) {
      const bool numbers = one.is_array() && one.size() == 4 && one[0].is_number_integer() &&
                           one[1].is_number() && one[2].is_number_integer() &&
                           one[3].is_number_integer();
      if (!numbers) {
        return Fail(Code::kInvalidArgument,
                    "a sample is [count, seconds, block, pass], not " + DumpLine(one));
      }
      earlier.samples.push_back(
          {one[0].get<int64_t>(), one[1].get<double>(), one[2].get<int>(), one[3].get<int>()});
    }
  }
  return earlier;
}

}  // namespace ridgeline::engine
