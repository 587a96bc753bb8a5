// Specs as a command line names them: a name of the catalogue or a file, with or without a shape.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "spec/spec.h"

namespace ridgeline::cli {

struct ChosenSpec {
  spec::Spec spec;
  spec::Shape shape;  // empty when none was given
  int64_t slices = 1;
};

// "tpu-v5e", "tpu-v5e:4x4", "mine.yaml", "mine.yaml:8". What ends in .yaml or .yml, or holds a
// slash, is a file.
Result<ChosenSpec> ChooseSpec(const std::string& text);

// The spec to hold a run against: the one that `choice` names, else the one that lists the device
// kind of the run's header; nullopt when there is none. The machine has the run's shape where the
// devices tell it.
Result<std::optional<Machine>> SpecOfRun(const std::string& choice, const Json& header);

}  // namespace ridgeline::cli
