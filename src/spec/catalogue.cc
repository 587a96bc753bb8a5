// The specs of the program, and which one a name or a device means.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/embedded.h"
#include "base/text.h"
#include "spec/shape.h"
#include "spec/spec.h"

namespace ridgeline::spec {
namespace {

constexpr std::string_view kFolder = "specs/";

Result<std::vector<Spec>> ReadAll() {
  std::vector<Spec> specs;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!file.path.starts_with(kFolder)) continue;
    RL_ASSIGN(Spec spec, ReadSpec(file.text, file.path));
    specs.push_back(std::move(spec));
  }
  std::ranges::sort(specs, {}, &Spec::name);
  return specs;
}

bool Answers(const Spec& spec, std::string_view name) {
  return spec.name == name || std::ranges::find(spec.aliases, name) != spec.aliases.end();
}

// "slices=2".
Result<int64_t> ParseSlices(std::string_view text) {
  constexpr std::string_view kName = "slices=";
  constexpr int64_t kMost = 1024;
  int64_t slices = 0;
  const char* const end = text.data() + text.size();
  if (text.starts_with(kName)) {
    const auto [next, error] = std::from_chars(text.data() + kName.size(), end, slices);
    if (error == std::errc() && next == end && slices >= 1 && slices <= kMost) return slices;
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("'{}' after the shape; expected slices=N with N from 1 to {}, as in "
                          "tpu-v5e:4x4,slices=2",
                          Printable(text.substr(0, 100)), kMost));
}

}  // namespace

Result<std::span<const Spec>> EmbeddedSpecs() {
  static const Result<std::vector<Spec>> specs = ReadAll();
  if (!specs) return tl::unexpected(specs.error());
  return std::span<const Spec>(*specs);
}

Result<const Spec*> FindSpec(std::span<const Spec> specs, std::string_view name) {
  const auto it =
      std::ranges::find_if(specs, [name](const Spec& spec) { return Answers(spec, name); });
  if (it != specs.end()) return &*it;
  std::vector<std::string_view> names;
  for (const Spec& spec : specs) names.push_back(spec.name);
  return Fail(Code::kNotFound, UnknownName("spec", Printable(name), names), "",
              "see `ridgeline specs list`, or give the path of a spec file");
}

const Spec* MatchDeviceKind(std::span<const Spec> specs, std::string_view kind) {
  const auto it = std::ranges::find_if(specs, [kind](const Spec& spec) {
    return std::ranges::find(spec.device_kinds, kind) != spec.device_kinds.end();
  });
  return it == specs.end() ? nullptr : &*it;
}

Result<Target> ParseTarget(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Target{std::string(text), {}};
  std::string_view slice = text.substr(colon + 1);
  Target target{std::string(text.substr(0, colon)), {}};
  if (const size_t comma = slice.find(','); comma != std::string_view::npos) {
    RL_ASSIGN(target.slices, ParseSlices(slice.substr(comma + 1)));
    slice = slice.substr(0, comma);
  }
  RL_ASSIGN(target.shape, ParseShape(slice));
  return target;
}

}  // namespace ridgeline::spec
