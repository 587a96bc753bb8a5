#include "pjrt/table_plugin.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

// The C API leaves these to the plugin.
struct PJRT_Error {
  int code;  // may be none of PJRT_Error_Code
  std::string message;
};
struct PJRT_Event {
  bool fails;
  std::jthread work;  // ends before the event is ready
};
struct PJRT_Device {
  int id;
};
struct PJRT_DeviceDescription {
  int id;
};
struct PJRT_Client {
  int unused;
};
struct PJRT_Buffer {
  int unused;
};
struct PJRT_LoadedExecutable {
  int unused;
};
struct PJRT_Executable {
  int unused;
};

namespace ridgeline::pjrt {
namespace {

TablePlugin* plugin = nullptr;
PJRT_Device devices[2] = {{10}, {11}};
PJRT_Device* device_list[2] = {&devices[0], &devices[1]};
PJRT_DeviceDescription descriptions[2] = {{10}, {11}};
constexpr int64_t kDims[2] = {2, 3};

PJRT_Error* MakeError(int code, std::string message) {
  ++plugin->errors;
  return new PJRT_Error{code, std::move(message)};
}

PJRT_Event* MakeEvent(bool fails, std::jthread work = {}) {
  ++plugin->events;
  return new PJRT_Event{fails, std::move(work)};
}

PJRT_Buffer* MakeBuffer() {
  ++plugin->buffers;
  return new PJRT_Buffer{};
}

PJRT_Error* Create(PJRT_Client_Create_Args* args) {
  if (!plugin->client_error.empty()) {
    return MakeError(plugin->client_error_code, plugin->client_error);
  }
  ++plugin->clients;
  args->client = new PJRT_Client{};
  return nullptr;
}

PJRT_Error* Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  ++plugin->launches;
  if (plugin->execute == TablePlugin::Execute::kFailsHalfway) {
    args->output_lists[0][0] = MakeBuffer();
    return MakeError(PJRT_Error_Code_INTERNAL, "device 1 is lost");
  }
  for (size_t d = 0; d < args->num_devices; ++d) {
    args->output_lists[d][0] = MakeBuffer();
    if (plugin->execute == TablePlugin::Execute::kGivesNoEvents) continue;
    std::jthread work;
    if (plugin->work) work = std::jthread([run = plugin->work, d] { run(d); });
    args->device_complete_events[d] = MakeEvent(
        d == plugin->failing_device && plugin->execute == TablePlugin::Execute::kFailsOnOneDevice,
        std::move(work));
  }
  return nullptr;
}

void FillErrors(PJRT_Api& t) {
  t.PJRT_Error_Destroy = [](PJRT_Error_Destroy_Args* args) {
    --plugin->errors;
    delete args->error;
  };
  t.PJRT_Error_Message = [](PJRT_Error_Message_Args* args) {
    args->message = args->error->message.data();
    args->message_size = args->error->message.size();
  };
  t.PJRT_Error_GetCode = [](PJRT_Error_GetCode_Args* args) -> PJRT_Error* {
    std::memcpy(&args->code, &args->error->code, sizeof(args->code));
    return nullptr;
  };
  t.PJRT_Event_Destroy = [](PJRT_Event_Destroy_Args* args) -> PJRT_Error* {
    --plugin->events;
    if (args->event->work.joinable()) args->event->work.detach();
    delete args->event;
    return nullptr;
  };
  t.PJRT_Event_Await = [](PJRT_Event_Await_Args* args) -> PJRT_Error* {
    ++plugin->events_awaited;
    if (args->event->work.joinable()) args->event->work.join();
    return args->event->fails ? MakeError(PJRT_Error_Code_DATA_LOSS, "device 1 lost its data")
                              : nullptr;
  };
}

void FillClient(PJRT_Api& t) {
  t.PJRT_Plugin_Initialize = [](PJRT_Plugin_Initialize_Args*) -> PJRT_Error* {
    ++plugin->initialized;
    return nullptr;
  };
  t.PJRT_Client_Create = Create;
  t.PJRT_Client_Destroy = [](PJRT_Client_Destroy_Args* args) -> PJRT_Error* {
    --plugin->clients;
    delete args->client;
    return nullptr;
  };
  t.PJRT_Client_PlatformName = [](PJRT_Client_PlatformName_Args* args) -> PJRT_Error* {
    args->platform_name = "table";
    args->platform_name_size = 5;
    return nullptr;
  };
  t.PJRT_Client_Devices = [](PJRT_Client_Devices_Args* args) -> PJRT_Error* {
    args->devices = device_list;
    args->num_devices = 2;
    return nullptr;
  };
  t.PJRT_DeviceDescription_Id = [](PJRT_DeviceDescription_Id_Args* args) -> PJRT_Error* {
    args->id = args->device_description->id;
    return nullptr;
  };
  t.PJRT_DeviceDescription_Kind = [](PJRT_DeviceDescription_Kind_Args* args) -> PJRT_Error* {
    args->device_kind = "old";
    args->device_kind_size = 3;
    return nullptr;
  };
  t.PJRT_DeviceDescription_ProcessIndex =
      [](PJRT_DeviceDescription_ProcessIndex_Args* args) -> PJRT_Error* {
    args->process_index = 0;
    return nullptr;
  };
  t.PJRT_Device_GetDescription = [](PJRT_Device_GetDescription_Args* args) -> PJRT_Error* {
    args->device_description = &descriptions[args->device->id - 10];
    return nullptr;
  };
  t.PJRT_Device_IsAddressable = [](PJRT_Device_IsAddressable_Args* args) -> PJRT_Error* {
    args->is_addressable = true;
    return nullptr;
  };
}

void FillExecutable(PJRT_Api& t) {
  t.PJRT_Client_Compile = [](PJRT_Client_Compile_Args* args) -> PJRT_Error* {
    ++plugin->executables;
    args->executable = new PJRT_LoadedExecutable{};
    return nullptr;
  };
  t.PJRT_LoadedExecutable_GetExecutable =
      [](PJRT_LoadedExecutable_GetExecutable_Args* args) -> PJRT_Error* {
    ++plugin->executables;
    args->executable = new PJRT_Executable{};
    return nullptr;
  };
  t.PJRT_LoadedExecutable_Destroy = [](PJRT_LoadedExecutable_Destroy_Args* args) -> PJRT_Error* {
    --plugin->executables;
    delete args->executable;
    return nullptr;
  };
  t.PJRT_Executable_Destroy = [](PJRT_Executable_Destroy_Args* args) -> PJRT_Error* {
    --plugin->executables;
    delete args->executable;
    return nullptr;
  };
  t.PJRT_Executable_NumOutputs = [](PJRT_Executable_NumOutputs_Args* args) -> PJRT_Error* {
    args->num_outputs = 1;
    return nullptr;
  };
  t.PJRT_LoadedExecutable_Execute = Execute;
  t.PJRT_Buffer_Destroy = [](PJRT_Buffer_Destroy_Args* args) -> PJRT_Error* {
    --plugin->buffers;
    delete args->buffer;
    return nullptr;
  };
  t.PJRT_Buffer_ElementType = [](PJRT_Buffer_ElementType_Args* args) -> PJRT_Error* {
    args->type = PJRT_Buffer_Type_BF16;
    return nullptr;
  };
  t.PJRT_Buffer_Dimensions = [](PJRT_Buffer_Dimensions_Args* args) -> PJRT_Error* {
    args->dims = kDims;
    args->num_dims = 2;
    return nullptr;
  };
}

// A "device" memory of one byte, which every array is filled with.
char memory = 0;

void FillTransfers(PJRT_Api& t) {
  t.PJRT_Client_BufferFromHostBuffer =
      [](PJRT_Client_BufferFromHostBuffer_Args* args) -> PJRT_Error* {
    args->buffer = MakeBuffer();
    const auto* from = static_cast<const char*>(args->data);
    args->done_with_host_buffer = MakeEvent(false, std::jthread([from] { memory = *from; }));
    return nullptr;
  };
  t.PJRT_Buffer_ReadyEvent = [](PJRT_Buffer_ReadyEvent_Args* args) -> PJRT_Error* {
    args->event = MakeEvent(false);
    return nullptr;
  };
  t.PJRT_Buffer_ToHostBuffer = [](PJRT_Buffer_ToHostBuffer_Args* args) -> PJRT_Error* {
    args->event = MakeEvent(false, std::jthread([to = args->dst, size = args->dst_size] {
                              std::memset(to, memory, size);
                            }));
    return nullptr;
  };
}

}  // namespace

TablePlugin::TablePlugin() {
  plugin = this;
  table.struct_size = PJRT_Api_STRUCT_SIZE;
  table.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  table.pjrt_api_version.major_version = 0;
  table.pjrt_api_version.minor_version = 38;
  FillErrors(table);
  FillClient(table);
  FillExecutable(table);
  FillTransfers(table);
}

TablePlugin::~TablePlugin() { plugin = nullptr; }

const PJRT_Api& CurrentTable() { return plugin->table; }

void CalledPastTheTable() {
  std::fputs("a function past the end of the plugin's table was called\n", stderr);
  std::abort();
}

}  // namespace ridgeline::pjrt
