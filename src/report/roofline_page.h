// The parts of the HTML page, compiled in: the template, its style and script, D3 and D3's licence.
// Internal to this folder.
#pragma once

#include <span>

#include "base/embedded.h"

namespace ridgeline::report {

std::span<const EmbeddedFile> RooflinePageFiles();

}  // namespace ridgeline::report
