// StableHLO -> HLO before optimisation, through a plugin's own compiler: no MLIR parser of ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ridgeline::pjrt {

struct LowerRequest {
  std::string plugin_path;   // of a plugin that runs here: XLA's CPU plugin
  std::string_view program;  // StableHLO text, MLIR bytecode or a jax.export artifact
  int partitions = 0;        // 0: as many as the program asks for
  double limit_s = 120;      // of one compile
  int64_t memory_bytes = 0;  // private memory of the compiling process; 0: 80 % of what is free
};

struct Lowered {
  std::string before;       // HloProto as written, before any optimisation; shapes of all devices
  std::string partitioned;  // HloProto of one device, after the partitioner; empty for one device
  int partitions = 1;
  int replicas = 1;     // that the program asks for; it is lowered for one
  bool shardy = false;  // partitioner: Shardy, or else GSPMD
  std::string note;     // why `partitioned` is missing although there are several partitions
};

// Compiles the program in a child process until the forms above are written, then ends it; so a
// crash, an abort, a hang or an endless compile after that costs nothing. The caller has no other
// threads. Errors are the compiler's own words: kInvalidArgument for what it refuses,
// kDeadlineExceeded, kResourceExhausted, kAborted for what it does not survive.
Result<Lowered> Lower(const LowerRequest& request);

// The MLIR module inside: of a jax.export artifact (a flatbuffer that holds bytecode), or the bytes
// themselves. A UTF-8 byte order mark is dropped.
Result<std::string> MlirModule(std::string_view bytes);

// Whether the module's shardings are Shardy's; else they are GSPMD's, or there are none.
bool UsesShardy(std::string_view module);

}  // namespace ridgeline::pjrt
