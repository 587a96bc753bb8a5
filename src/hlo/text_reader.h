// HLO text, as --xla_dump_to writes it, into the messages that hlo/reader.h reads.
#pragma once

#include <string_view>

#include "base/error.h"
#include "hlo_wire.pb.h"

namespace ridgeline::hlo {

bool LooksLikeHloText(std::string_view bytes);

// Errors are kInvalidArgument with "line:column". Time and memory are linear in the text.
Status ReadText(std::string_view text, hlo_wire::Module& module);

}  // namespace ridgeline::hlo
