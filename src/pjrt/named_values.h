// Options to and attributes from a plugin: PJRT's typed name-value pairs.
#pragma once

#include <pjrt_c_api.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "pjrt/client.h"

namespace ridgeline::pjrt {

// Points into `options`, which outlives the result.
std::vector<PJRT_NamedValue> ToNamedValues(const std::map<std::string, CreateOption>& options);
// Lists as "1,2,3".
std::map<std::string, std::string> ToText(std::span<const PJRT_NamedValue> values);
// The values of an integer or integer list called `name`; empty when there is none.
std::vector<int64_t> Integers(std::span<const PJRT_NamedValue> values, std::string_view name);

}  // namespace ridgeline::pjrt
