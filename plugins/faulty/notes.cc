#include "notes.h"

#include <algorithm>

namespace ridgeline::faulty {

// Lives as long as the plugin's threads may call.
Notes& Notes::Get() {
  static Notes& notes = *new Notes;
  return notes;
}

void Notes::SetEvent(PJRT_Event* event, EventNote note) {
  const std::lock_guard lock(mutex_);
  events_[event] = note;
}

std::optional<EventNote> Notes::Event(PJRT_Event* event) const {
  const std::lock_guard lock(mutex_);
  const auto it = events_.find(event);
  return it == events_.end() ? std::nullopt : std::optional(it->second);
}

void Notes::Forget(PJRT_Event* event) {
  const std::lock_guard lock(mutex_);
  events_.erase(event);
}

void Notes::SetBuffer(PJRT_Buffer* buffer, BufferNote note) {
  const std::lock_guard lock(mutex_);
  buffers_[buffer] = std::move(note);
}

BufferNote Notes::Buffer(PJRT_Buffer* buffer) const {
  const std::lock_guard lock(mutex_);
  const auto it = buffers_.find(buffer);
  return it == buffers_.end() ? BufferNote{} : it->second;
}

void Notes::Forget(PJRT_Buffer* buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.erase(buffer);
}

void Notes::SetProgram(const void* executable, Text text) {
  const std::lock_guard lock(mutex_);
  programs_[executable] = std::move(text);
}

Text Notes::Program(const void* executable) const {
  const std::lock_guard lock(mutex_);
  const auto it = programs_.find(executable);
  return it == programs_.end() ? std::make_shared<const std::string>() : it->second;
}

Clock::time_point Notes::Occupy(int device, double seconds) {
  const std::lock_guard lock(mutex_);
  Clock::time_point& until = busy_until_[device];
  until = std::max(until, Clock::now()) +
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  return until;
}

}  // namespace ridgeline::faulty
