// Any text as the value of an option: an error in words, or a value within bounds.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/text.h"
#include "core/mesh.h"
#include "core/work.h"
#include "spec/quantity.h"
#include "spec/spec.h"

namespace {

template <typename T>
void SaysWhy(const ridgeline::Result<T>& result) {
  if (!result && result.error().message.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ridgeline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<std::vector<MeshAxis>> axes = ParseAxes(text);
  SaysWhy(axes);
  if (axes) SaysWhy(MakeMesh(std::vector<DevicePlace>(8), *axes));
  const Result<int64_t> bytes = ParseBytes(text);
  SaysWhy(bytes);
  if (bytes && *bytes < 0) std::abort();
  SaysWhy(ParseDType(text));
  SaysWhy(ParsePattern(text));
  const Result<double> rate = spec::ParseQuantity(text, spec::Dimension::kBytesPerSecond);
  SaysWhy(rate);
  if (rate && !std::isfinite(*rate)) std::abort();
  const Result<spec::Target> target = spec::ParseTarget(text);
  SaysWhy(target);
  if (target) {
    const auto spec = spec::FindSpec(spec::EmbeddedSpecs().value(), target->name);
    SaysWhy(spec);
    if (spec) SaysWhy(spec::MakeMachine(**spec, target->shape));
  }
  return 0;
}
