// A PJRT function table made by hand, in this process: one that can be old, have holes, fail at
// will, work on threads of its own, and that counts what is not destroyed.
#pragma once

#include <pjrt_c_api.h>

#include <cstddef>
#include <functional>
#include <string>

namespace ridgeline::pjrt {

struct TablePlugin {
  enum class Execute { kWorks, kFailsHalfway, kFailsOnOneDevice, kGivesNoEvents };

  PJRT_Api table{};
  Execute execute = Execute::kWorks;
  size_t failing_device = 1;  // of kFailsOnOneDevice
  std::string client_error;   // PJRT_Client_Create fails with it
  int client_error_code = 8;  // RESOURCE_EXHAUSTED
  // What a launch does on each device, on a thread that its completion event waits for.
  std::function<void(size_t device)> work;
  int initialized = 0;
  int launches = 0;
  int events_awaited = 0;
  // Alive right now.
  int errors = 0;
  int events = 0;
  int buffers = 0;
  int executables = 0;
  int clients = 0;

  // Two devices, every function that a client needs, API 0.38.
  TablePlugin();
  ~TablePlugin();
  TablePlugin(const TablePlugin&) = delete;
  TablePlugin& operator=(const TablePlugin&) = delete;

  int alive() const { return errors + events + buffers + executables + clients; }
};

// The table of the plugin that is alive.
const PJRT_Api& CurrentTable();

// Ends the test program: stands where nothing may call.
extern "C" [[noreturn]] void CalledPastTheTable();

}  // namespace ridgeline::pjrt
