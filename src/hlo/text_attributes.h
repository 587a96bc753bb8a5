// The attributes that follow an HLO text instruction's operands: ", dimensions={0,1},
// channel_id=1".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hlo_wire.pb.h"

namespace ridgeline::hlo {

// Sets the field that `name` stands for; attributes that no field is for are ignored. Errors say
// what was expected, without the place.
Status SetAttribute(std::string_view name, std::string_view value, hlo_wire::Instruction& into);

// key="value" pairs in "{a="b",c="d"}", unescaped.
std::vector<std::pair<std::string, std::string>> QuotedPairs(std::string_view braces);

}  // namespace ridgeline::hlo
