// HLO, serialized or as text -> Module.
#pragma once

#include <string_view>

#include "base/error.h"
#include "hlo/module.h"

namespace ridgeline::hlo {

// Reads a HloModuleProtoWithConfig (PJRT's optimized program), a HloProto (--xla_dump_to), a
// HloModuleProto or HLO text; which one it is shows from the content. Anything else is
// kInvalidArgument, with what it looks like.
Result<Module> ReadModule(std::string_view bytes);

}  // namespace ridgeline::hlo
