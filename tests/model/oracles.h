// The worked examples of tests/model/model_oracles.json, each computed by a function here and
// compared output by output.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/json.h"

namespace ridgeline::model {

using Outputs = std::map<std::string, Json>;
using Oracle = std::function<Outputs(const Json& inputs)>;
using Oracles = std::map<std::string, Oracle>;

Oracles RooflineOracles();     // section 1
Oracles CollectiveOracles();   // section 2
Oracles TransformerOracles();  // section 3

}  // namespace ridgeline::model
