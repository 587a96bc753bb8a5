// What the plugin remembers of the real plugin's objects: the text of programs, which device of
// which launch made a buffer, and when late work ends.
#pragma once

#include <pjrt_c_api.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ridgeline::faulty {

using Clock = std::chrono::steady_clock;
using Text = std::shared_ptr<const std::string>;

struct EventNote {
  Clock::time_point due;  // not done before
  bool early = false;     // done at once, whatever the work does
};

struct BufferNote {
  Clock::time_point due;
  Text program;                                      // that made it; null: it came from the host
  int device = -1;                                   // place in the launch
  std::shared_ptr<std::vector<PJRT_Buffer*>> peers;  // the same output on every device
  std::optional<int> scalar;                         // its value, an s32 from the host
};

class Notes {
 public:
  static Notes& Get();

  void SetEvent(PJRT_Event* event, EventNote note);
  std::optional<EventNote> Event(PJRT_Event* event) const;
  void Forget(PJRT_Event* event);

  void SetBuffer(PJRT_Buffer* buffer, BufferNote note);
  BufferNote Buffer(PJRT_Buffer* buffer) const;  // empty when unknown
  void Forget(PJRT_Buffer* buffer);

  // Of PJRT_LoadedExecutable and PJRT_Executable alike; never null.
  void SetProgram(const void* executable, Text text);
  Text Program(const void* executable) const;

  // The end of `seconds` of late work on a device, behind its earlier late work.
  Clock::time_point Occupy(int device, double seconds);

 private:
  mutable std::mutex mutex_;
  std::map<PJRT_Event*, EventNote> events_;
  std::map<PJRT_Buffer*, BufferNote> buffers_;
  std::map<const void*, Text> programs_;
  std::map<int, Clock::time_point> busy_until_;
};

}  // namespace ridgeline::faulty
