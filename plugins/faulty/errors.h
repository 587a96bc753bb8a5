// PJRT errors of the faulty plugin's own, beside those of the real one.
#pragma once

#include <pjrt_c_api.h>

#include <string>

#include "base/error.h"

namespace ridgeline::faulty {

PJRT_Error* MakeError(Code code, std::string message);
// From the text of a code, "INTERNAL"; kUnknown for others.
Code CodeFromName(std::string_view name);

struct OwnError {
  Code code;
  std::string message;
};
// Null when the real plugin made it.
const OwnError* Own(const PJRT_Error* error);
void Destroy(PJRT_Error* own);

}  // namespace ridgeline::faulty
