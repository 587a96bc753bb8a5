#pragma once

#include <string>

#include "predict/targets.h"

namespace ridgeline::predict {

// "tpu-v5e:4x4" of the embedded specs.
inline Target TargetNamed(const std::string& text) {
  const spec::Target named = spec::ParseTarget(text).value();
  const spec::Spec* spec = spec::FindSpec(spec::EmbeddedSpecs().value(), named.name).value();
  return MakeTarget(*spec, named.shape, named.slices).value();
}

}  // namespace ridgeline::predict
