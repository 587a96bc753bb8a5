// A PJRT function table made by hand, in this process: one that can be old, have holes, fail at
// will, and that counts what is not destroyed.
#pragma once

#include <pjrt_c_api.h>

#include <cstddef>
#include <string>

namespace ridgeline::pjrt {

struct TablePlugin {
  enum class Execute { kWorks, kFailsHalfway, kFailsOnDeviceOne };

  PJRT_Api table{};
  Execute execute = Execute::kWorks;
  std::string client_error;   // PJRT_Client_Create fails with it
  int client_error_code = 8;  // RESOURCE_EXHAUSTED
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

// Ends the test program: stands where nothing may call.
extern "C" [[noreturn]] void CalledPastTheTable();

}  // namespace ridgeline::pjrt
