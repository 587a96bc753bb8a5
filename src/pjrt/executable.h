// device::Executable over a loaded PJRT executable.
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"
#include "pjrt/client_state.h"

namespace ridgeline::pjrt {

Result<std::unique_ptr<device::Executable>> Compile(const SharedClient& client,
                                                    const device::CompileRequest& request);

// StableHLO as PJRT wants it; points into `text`.
PJRT_Program MlirProgram(const std::string& text);
// The compiled program of an executable, loaded or not.
Result<device::ProgramText> OptimizedProgram(const Api& api, PJRT_Executable* executable);

}  // namespace ridgeline::pjrt
