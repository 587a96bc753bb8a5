// Values of a parameter as a suite writes them: one, a list, or a range.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "suite/suite.h"
#include "suite/yaml.h"

namespace ridgeline::suite {

// `key` is a parameter, or several joined by '+' that take the same value ("m+n+k"). `specs` are
// theirs, in the order of the key. `group_axes`: the word "axes" stands for every mesh axis.
Result<Axis> ReadAxis(const YamlFile& file, const YamlFile::Entry& entry,
                      const std::vector<const ParamSpec*>& specs, bool group_axes);

// A device number, `each`, `all`, or a list of them.
Result<std::vector<DeviceChoice>> ReadDevices(const YamlFile& file, const YAML::Node& node);

// Whether a node is written with the characters of a number.
bool LooksLikeNumber(const YAML::Node& node);

// `value` in the type that `spec` declares.
Result<ParamValue> ConvertValue(const ParamSpec& spec, const ParamValue& value);

std::vector<std::string> SplitNames(std::string_view key);

}  // namespace ridgeline::suite
