#include "pjrt/api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>

namespace ridgeline::pjrt {
namespace {

// The text of the last failed dl call.
std::string DlError() {
  const char* text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

Result<const PJRT_Api*> OpenLibrary(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(Code::kNotFound, fmt::format("cannot load plugin '{}': {}", path, DlError()),
                "dlopen", "check the path with `ridgeline list`, or name another with --plugin");
  }
  auto get_api = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) {
    return Fail(Code::kFailedPrecondition,
                fmt::format("'{}' is no PJRT plugin: {}", path, DlError()), "dlsym");
  }
  const PJRT_Api* table = get_api();
  if (table == nullptr) {
    return Fail(Code::kFailedPrecondition, fmt::format("'{}' gave no PJRT function table", path),
                "GetPjrtApi");
  }
  return table;
}

}  // namespace

Result<const Api*> Api::Load(const std::string& path) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<Api>>();
  std::lock_guard lock(mutex);
  auto found = loaded.find(path);
  if (found != loaded.end()) return found->second.get();
  RL_ASSIGN(const PJRT_Api* table, OpenLibrary(path));
  RL_ASSIGN(Api api, Open(table, path));
  return loaded.emplace(path, std::make_unique<Api>(std::move(api))).first->second.get();
}

Result<Api> Api::Open(const PJRT_Api* table, std::string path) {
  // Nothing past the version may be read before its own size is known to reach that far.
  constexpr size_t kVersionEnd = offsetof(PJRT_Api, pjrt_api_version) + sizeof(PJRT_Api_Version);
  if (table->struct_size < kVersionEnd) {
    return Fail(Code::kFailedPrecondition,
                fmt::format("plugin '{}' has a function table of {} bytes, too small for a version",
                            path, table->struct_size),
                "GetPjrtApi");
  }
  Api api(table, std::move(path));
  if (api.major_version() != PJRT_API_MAJOR) {
    return Fail(Code::kFailedPrecondition,
                fmt::format("plugin '{}' speaks PJRT API {}.{}, ridgeline speaks {}.x", api.path_,
                            api.major_version(), api.minor_version(), PJRT_API_MAJOR),
                "GetPjrtApi", "use a plugin of that major version");
  }
  // Plugins older than the function need no initialisation.
  if (api.Has(RL_PJRT_ENTRY(PJRT_Plugin_Initialize))) {
    RL_PJRT_ARGS(PJRT_Plugin_Initialize, args);
    RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Plugin_Initialize, args));
  }
  return api;
}

Status Api::Lacks(std::string_view name) const {
  return Fail(Code::kUnimplemented,
              fmt::format("plugin lacks {} (API {}.{})", name, major_version(), minor_version()),
              std::string(name));
}

Status Api::Convert(PJRT_Error* error, std::string_view where) const {
  if (error == nullptr) return {};
  Error result{Code::kUnknown, "the plugin gave no message", std::string(where), ""};
  if (Covers(offsetof(PJRT_Api, PJRT_Error_Message)) && table_->PJRT_Error_Message != nullptr) {
    RL_PJRT_ARGS(PJRT_Error_Message, args);
    args.error = error;
    table_->PJRT_Error_Message(&args);
    if (args.message != nullptr) result.message.assign(args.message, args.message_size);
  }
  if (Has(RL_PJRT_ENTRY(PJRT_Error_GetCode))) {
    RL_PJRT_ARGS(PJRT_Error_GetCode, args);
    args.error = error;
    // An error about the error is of no use, and asking about it could go on for ever.
    if (PJRT_Error* second = table_->PJRT_Error_GetCode(&args); second != nullptr) {
      Destroy(second);
    } else if (const int code = EnumNumber(args.code);
               code >= PJRT_Error_Code_CANCELLED && code <= PJRT_Error_Code_UNAUTHENTICATED) {
      result.code = static_cast<Code>(code);
    }
  }
  Destroy(error);
  return tl::unexpected(std::move(result));
}

void Api::Destroy(PJRT_Error* error) const {
  if (!Covers(offsetof(PJRT_Api, PJRT_Error_Destroy)) || table_->PJRT_Error_Destroy == nullptr) {
    return;
  }
  RL_PJRT_ARGS(PJRT_Error_Destroy, args);
  args.error = error;
  table_->PJRT_Error_Destroy(&args);
}

Status Given(const void* result, std::string_view what, std::string_view where) {
  if (result != nullptr) return {};
  return Fail(Code::kInternal, fmt::format("the plugin says it succeeded but gave no {}", what),
              std::string(where));
}

// A failing destructor leaves nothing to do.
void Destroy(const Api& api, PJRT_Client* client) {
  RL_PJRT_ARGS(PJRT_Client_Destroy, args);
  args.client = client;
  (void)RL_PJRT_CALL(api, PJRT_Client_Destroy, args);
}

void Destroy(const Api& api, PJRT_Buffer* buffer) {
  RL_PJRT_ARGS(PJRT_Buffer_Destroy, args);
  args.buffer = buffer;
  (void)RL_PJRT_CALL(api, PJRT_Buffer_Destroy, args);
}

void Destroy(const Api& api, PJRT_Event* event) {
  RL_PJRT_ARGS(PJRT_Event_Destroy, args);
  args.event = event;
  (void)RL_PJRT_CALL(api, PJRT_Event_Destroy, args);
}

void Destroy(const Api& api, PJRT_Executable* executable) {
  RL_PJRT_ARGS(PJRT_Executable_Destroy, args);
  args.executable = executable;
  (void)RL_PJRT_CALL(api, PJRT_Executable_Destroy, args);
}

void Destroy(const Api& api, PJRT_LoadedExecutable* executable) {
  RL_PJRT_ARGS(PJRT_LoadedExecutable_Destroy, args);
  args.executable = executable;
  (void)RL_PJRT_CALL(api, PJRT_LoadedExecutable_Destroy, args);
}

void Destroy(const Api& api, PJRT_TopologyDescription* topology) {
  RL_PJRT_ARGS(PJRT_TopologyDescription_Destroy, args);
  args.topology = topology;
  (void)RL_PJRT_CALL(api, PJRT_TopologyDescription_Destroy, args);
}

Status Await(const Handle<PJRT_Event>& event) {
  if (!event) return {};
  RL_PJRT_ARGS(PJRT_Event_Await, args);
  args.event = event.get();
  RL_CHECK_OK(RL_PJRT_CALL(event.api(), PJRT_Event_Await, args));
  // A wait that waits for nothing would make every time too short.
  RL_PJRT_ARGS(PJRT_Event_IsReady, ready);
  ready.event = event.get();
  if (RL_PJRT_CALL(event.api(), PJRT_Event_IsReady, ready) && !ready.is_ready) {
    return Fail(Code::kInternal, "the plugin's wait was over before its event was there",
                "PJRT_Event_Await");
  }
  return {};
}

}  // namespace ridgeline::pjrt
