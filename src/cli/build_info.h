// What this program is and what it was built with.
#pragma once

#include <string_view>

#include "base/json.h"

namespace ridgeline::cli {

std::string_view Version();
// {version, compiler, build_type, packages{name: version}}
Json BuildInfo();

}  // namespace ridgeline::cli
