// A loaded plugin's function table. Every call goes through Api::Call, which looks whether the
// plugin has the function at all and turns PJRT errors into ours.
#pragma once

#include <pjrt_c_api.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace ridgeline::pjrt {

// What a plugin wrote into an enumeration of the C API. A newer or a lying one may write any
// number, which C++ lets nobody read as that enumeration.
template <typename Enum>
int EnumNumber(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof(number));
  return number;
}

// One function of the table: its place and its name.
template <typename Args>
struct Entry {
  PJRT_Error* (*PJRT_Api::*slot)(Args*);
  size_t offset;
  std::string_view name;
};
#define RL_PJRT_ENTRY(fn) \
  ::ridgeline::pjrt::Entry<fn##_Args> { &PJRT_Api::fn, offsetof(PJRT_Api, fn), #fn }
// Declares zeroed arguments whose size is the one that this header version knows.
#define RL_PJRT_ARGS(fn, args) \
  fn##_Args args{};            \
  args.struct_size = fn##_Args_STRUCT_SIZE
#define RL_PJRT_CALL(api, fn, args) (api).Call(RL_PJRT_ENTRY(fn), args)

class Api {
 public:
  // Loads a plugin and initialises it; the same path is loaded once a process and never unloaded
  // (plugins keep threads).
  static Result<const Api*> Load(const std::string& path);
  // The same over a table that is already here. `table` outlives the Api.
  static Result<Api> Open(const PJRT_Api* table, std::string path);

  const std::string& path() const { return path_; }
  int major_version() const { return table_->pjrt_api_version.major_version; }
  int minor_version() const { return table_->pjrt_api_version.minor_version; }

  template <typename Args>
  bool Has(const Entry<Args>& entry) const {
    return Covers(entry.offset) && table_->*entry.slot != nullptr;
  }

  template <typename Args>
  Status Call(const Entry<Args>& entry, Args& args) const {
    if (!Has(entry)) return Lacks(entry.name);
    return Convert((table_->*entry.slot)(&args), entry.name);
  }

  // Takes the error over; ok when there is none.
  Status Convert(PJRT_Error* error, std::string_view where) const;

 private:
  Api(const PJRT_Api* table, std::string path) : table_(table), path_(std::move(path)) {}
  // The whole slot, not just its first byte, lies within the plugin's table.
  bool Covers(size_t offset) const { return offset + sizeof(void*) <= table_->struct_size; }
  Status Lacks(std::string_view name) const;
  void Destroy(PJRT_Error* error) const;

  const PJRT_Api* table_;
  std::string path_;
};

// What a call that succeeded has to have filled in. A plugin that left it NULL broke the API; said
// here, it does not become a crash or a run that nobody waited for.
Status Given(const void* result, std::string_view what, std::string_view where);

void Destroy(const Api& api, PJRT_Client* client);
void Destroy(const Api& api, PJRT_Buffer* buffer);
void Destroy(const Api& api, PJRT_Event* event);
void Destroy(const Api& api, PJRT_Executable* executable);
void Destroy(const Api& api, PJRT_LoadedExecutable* executable);
void Destroy(const Api& api, PJRT_TopologyDescription* topology);

// Owner of one PJRT object. The Api outlives it.
template <typename T>
class Handle {
 public:
  Handle() = default;
  Handle(const Api* api, T* object) : api_(api), object_(object) {}
  Handle(Handle&& other) noexcept
      : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() { Reset(); }

  void Reset() {
    if (object_ != nullptr) Destroy(*api_, std::exchange(object_, nullptr));
  }
  T* get() const { return object_; }
  const Api& api() const { return *api_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  const Api* api_ = nullptr;
  T* object_ = nullptr;
};

// Blocks until the event is there and returns its error. An empty handle is done.
Status Await(const Handle<PJRT_Event>& event);

}  // namespace ridgeline::pjrt
