// The optimised program that XLA writes into a folder before the steps that need a toolkit.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "device/device.h"
#include "pjrt/aot.h"

namespace ridgeline::pjrt {

void RequestDump(const std::string& folder, device::CompileRequest& request);
// A serialized HloProto with its buffer assignment; nullopt when there is none.
std::optional<std::string> ReadDump(const std::string& folder);
// The compiler got to its last step, and found no assembler for what it made.
bool WantsToolkit(const Error& error);
// From the buffer assignment: the sum of what is there at one time, at most.
std::optional<CompiledMemory> MemoryOfDump(const std::string& hlo_proto);

}  // namespace ridgeline::pjrt
