// The faulty plugin: every function of the real one, with the script's faults (script.h).
#include <dlfcn.h>
#include <fmt/format.h>
#include <pjrt_c_api.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "errors.h"
#include "faults.h"
#include "hooks.h"

namespace ridgeline::faulty {
namespace {

struct Entry {
  std::string_view name;
  size_t offset;
};
#define RL_ENTRY(fn) Entry{#fn, offsetof(PJRT_Api, fn)},
constexpr std::array kEntries = {
    Entry{"PJRT_Error_Destroy", offsetof(PJRT_Api, PJRT_Error_Destroy)},
    Entry{"PJRT_Error_Message", offsetof(PJRT_Api, PJRT_Error_Message)},
#include "entries.def"
};
#undef RL_ENTRY
static_assert(offsetof(PJRT_Api, PJRT_Error_Destroy) + kEntries.size() * sizeof(void*) ==
                  PJRT_Api_STRUCT_SIZE,
              "entries.def does not hold every function of the pinned header");

constexpr auto kNames = [] {
  std::array<std::string_view, kEntries.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kEntries[i].name;
  return names;
}();

struct Plugin {
  const PJRT_Api* real = nullptr;
  Faults faults;
  std::string problem;  // PJRT_Plugin_Initialize fails with it
  PJRT_Api table{};
};
Plugin& ThePlugin() {
  static Plugin& plugin = *new Plugin;
  return plugin;
}

template <auto Slot, typename Args>
PJRT_Error* Wrapped(std::string_view name, Args* args) {
  Plugin& plugin = ThePlugin();
  Call call{plugin.faults, *plugin.real, plugin.faults.Match(name, SubjectOf(*args)), {}, {}, {}};
  for (const Hit& hit : call.hits) DoToProcess(hit);
  if (const Hit* hit = call.First(Action::kError)) {
    const std::string_view text = hit->rule->Text("text");
    return MakeError(CodeFromName(hit->rule->Text("code")),
                     text.empty() ? fmt::format("injected into {}", name) : std::string(text));
  }
  if (call.Has(Action::kNull)) return nullptr;
  Alter(call, *args);
  PJRT_Error* error = Forward<Slot>(call, *args);
  if (error == nullptr) After(call, *args);
  return error;
}

void DestroyError(PJRT_Error_Destroy_Args* args) {
  Plugin& plugin = ThePlugin();
  for (const Hit& hit : plugin.faults.Match("PJRT_Error_Destroy", {})) DoToProcess(hit);
  if (Own(args->error)) return Destroy(args->error);
  plugin.real->PJRT_Error_Destroy(args);
}

void ErrorMessage(PJRT_Error_Message_Args* args) {
  Plugin& plugin = ThePlugin();
  for (const Hit& hit : plugin.faults.Match("PJRT_Error_Message", {})) {
    DoToProcess(hit);
    if (hit.rule->action == Action::kNull) return;
  }
  if (const OwnError* own = Own(args->error)) {
    args->message = own->message.data();
    args->message_size = own->message.size();
    return;
  }
  plugin.real->PJRT_Error_Message(args);
}

// The real plugin cannot tell the code of an error that it did not make.
PJRT_Error* ErrorCode(PJRT_Error_GetCode_Args* args) {
  if (const OwnError* own = Own(args->error)) {
    const auto hits = ThePlugin().faults.Match("PJRT_Error_GetCode", {});
    for (const Hit& hit : hits) {
      DoToProcess(hit);
      if (hit.rule->action == Action::kError) {
        return MakeError(CodeFromName(hit.rule->Text("code")), "no code either");
      }
      if (hit.rule->action == Action::kNull) return nullptr;
    }
    std::memcpy(&args->code, &own->code, sizeof(args->code));
    return nullptr;
  }
  return Wrapped<&PJRT_Api::PJRT_Error_GetCode>("PJRT_Error_GetCode", args);
}

Result<const PJRT_Api*> OpenReal() {
  const char* path = std::getenv("RIDGELINE_FAULTY_PLUGIN");
  if (path == nullptr) {
    return Fail(Code::kInvalidArgument, "RIDGELINE_FAULTY_PLUGIN names no plugin to stand before");
  }
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Fail(Code::kNotFound, dlerror(), path);
  auto get = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (get == nullptr) return Fail(Code::kInvalidArgument, "is no PJRT plugin", path);
  return get();
}

PJRT_Error* SayProblem(PJRT_Plugin_Initialize_Args*) {
  return MakeError(Code::kInvalidArgument, ThePlugin().problem);
}

// A function that the real plugin lacks stays lacking.
void Fill(PJRT_Api& table, const PJRT_Api& real) {
#define RL_ENTRY(fn)                                                              \
  if (offsetof(PJRT_Api, fn) < real.struct_size && real.fn != nullptr) {          \
    table.fn = [](fn##_Args* args) { return Wrapped<&PJRT_Api::fn>(#fn, args); }; \
  }
#include "entries.def"
#undef RL_ENTRY
}

void Erase(PJRT_Api& table, std::string_view entry) {
  for (const Entry& known : kEntries) {
    if (known.name != entry) continue;
    std::memset(reinterpret_cast<std::byte*>(&table) + known.offset, 0, sizeof(void*));
  }
}

void Deface(PJRT_Api& table, const Script& script) {
  for (const Rule& rule : script.rules) {
    if (rule.action == Action::kMissing) Erase(table, rule.entry);
  }
  if (script.version) {
    table.pjrt_api_version.major_version = script.version->first;
    table.pjrt_api_version.minor_version = script.version->second;
  }
  for (const Entry& known : kEntries) {
    if (known.name == script.size_before) table.struct_size = known.offset;
  }
}

Status Build(Plugin& plugin) {
  RL_CHECK_OK(plugin.faults.LoadFromEnvironment(kNames));
  RL_ASSIGN(plugin.real, OpenReal());
  plugin.table.pjrt_api_version = plugin.real->pjrt_api_version;
  plugin.table.extension_start = plugin.real->extension_start;
  Fill(plugin.table, *plugin.real);
  plugin.table.PJRT_Error_GetCode = ErrorCode;
  Deface(plugin.table, plugin.faults.script());
  return {};
}

}  // namespace
}  // namespace ridgeline::faulty

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  using namespace ridgeline::faulty;
  Plugin& plugin = ThePlugin();
  plugin.table.struct_size = PJRT_Api_STRUCT_SIZE;
  plugin.table.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  plugin.table.pjrt_api_version.minor_version = PJRT_API_MINOR;
  plugin.table.PJRT_Error_GetCode = ErrorCode;
  plugin.table.PJRT_Error_Destroy = DestroyError;
  plugin.table.PJRT_Error_Message = ErrorMessage;
  if (const ridgeline::Status built = Build(plugin); !built) {
    plugin.problem = built.error().ToString();
    plugin.table.PJRT_Plugin_Initialize = SayProblem;
  }
  return plugin.faults.script().null_table ? nullptr : &plugin.table;
}
