#include "hooks.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>

#include "errors.h"
#include "program_change.h"

namespace ridgeline::faulty {
namespace {

// Seconds of all `late` rules that apply to this device; 0 when none does.
double Delay(Call& call, int device, double rounds) {
  double seconds = 0;
  for (const Hit& hit : call.hits) {
    if (hit.rule->action != Action::kLate) continue;
    const double only = hit.rule->Number("device", -1);
    if (only < 0 || static_cast<int>(only) == device) seconds += call.faults.Delay(hit, rounds);
  }
  return seconds;
}

void Destroy(Call& call, PJRT_Event* event) {
  PJRT_Event_Destroy_Args args{};
  args.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE;
  args.event = event;
  (void)call.real.PJRT_Event_Destroy(&args);
}

// Blocks for the real work, whatever was said about the event.
void AwaitReal(Call& call, PJRT_Event* event) {
  PJRT_Event_Await_Args args{};
  args.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE;
  args.event = event;
  (void)call.real.PJRT_Event_Await(&args);
}

// Notes when an event ends, or takes it away.
void Treat(Call& call, PJRT_Event*& event, EventNote note) {
  if (event == nullptr) return;
  if (call.Has(Action::kDrop)) {
    AwaitReal(call, event);
    Destroy(call, event);
    event = nullptr;
  } else {
    Notes::Get().SetEvent(event, note);
  }
}

double Rounds(const PJRT_LoadedExecutable_Execute_Args& args) {
  if (args.num_devices == 0 || args.num_args == 0) return 1;
  return Notes::Get().Buffer(args.argument_lists[0][0]).scalar.value_or(1);
}

// How many outputs a device's list holds.
size_t OutputsOf(Call& call, PJRT_LoadedExecutable* loaded) {
  PJRT_LoadedExecutable_GetExecutable_Args get{};
  get.struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE;
  get.loaded_executable = loaded;
  (void)call.real.PJRT_LoadedExecutable_GetExecutable(&get);
  PJRT_Executable_NumOutputs_Args outputs{};
  outputs.struct_size = PJRT_Executable_NumOutputs_Args_STRUCT_SIZE;
  outputs.executable = get.executable;
  (void)call.real.PJRT_Executable_NumOutputs(&outputs);
  PJRT_Executable_Destroy_Args destroy{};
  destroy.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE;
  destroy.executable = get.executable;
  (void)call.real.PJRT_Executable_Destroy(&destroy);
  return outputs.num_outputs;
}

int PlaceOf(Call& call, PJRT_Client* client, const PJRT_Device* device) {
  PJRT_Client_Devices_Args args{};
  args.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE;
  args.client = client;
  (void)call.real.PJRT_Client_Devices(&args);
  const std::span devices(args.devices, args.num_devices);
  return static_cast<int>(std::ranges::find(devices, device) - devices.begin());
}

}  // namespace

bool Call::Has(Action action) const { return First(action) != nullptr; }

const Hit* Call::First(Action action) const {
  const auto it =
      std::ranges::find_if(hits, [action](const Hit& hit) { return hit.rule->action == action; });
  return it == hits.end() ? nullptr : &*it;
}

Subject SubjectOf(const PJRT_Client_Compile_Args& args) {
  return {.program = {args.program->code, args.program->code_size}};
}

// Programs are never forgotten, so that views of their texts stay whole.
Subject SubjectOf(const PJRT_LoadedExecutable_Execute_Args& args) {
  return {.program = *Notes::Get().Program(args.executable)};
}

Subject SubjectOf(const PJRT_Executable_OptimizedProgram_Args& args) {
  return {.program = *Notes::Get().Program(args.executable)};
}

Subject SubjectOf(const PJRT_Client_BufferFromHostBuffer_Args& args) {
  double elements = 1;
  for (const int64_t dim : std::span(args.dims, args.num_dims)) {
    elements *= static_cast<double>(dim);
  }
  // The smallest element is 4 bits; what the exact size is, only the real plugin knows.
  const double bytes = args.type == PJRT_Buffer_Type_F64 || args.type == PJRT_Buffer_Type_S64   ? 8
                       : args.type == PJRT_Buffer_Type_F32 || args.type == PJRT_Buffer_Type_S32 ? 4
                       : args.type == PJRT_Buffer_Type_BF16 || args.type == PJRT_Buffer_Type_F16
                           ? 2
                           : 1;
  return {.bytes = elements * bytes};
}

Subject SubjectOf(const PJRT_Buffer_ToHostBuffer_Args& args) {
  const BufferNote note = Notes::Get().Buffer(args.src);
  return {.program = note.program ? std::string_view(*note.program) : std::string_view(),
          .bytes = static_cast<double>(args.dst_size),
          .device = note.device};
}

Subject SubjectOf(const PJRT_Buffer_ReadyEvent_Args& args) {
  const BufferNote note = Notes::Get().Buffer(args.buffer);
  return {.program = note.program ? std::string_view(*note.program) : std::string_view(),
          .device = note.device};
}

void Alter(Call& call, PJRT_Client_Compile_Args& args) {
  call.given = std::make_shared<const std::string>(args.program->code, args.program->code_size);
  for (const Hit& hit : call.hits) {
    if (hit.rule->action != Action::kText) continue;
    if (call.text.empty()) call.text.assign(args.program->code, args.program->code_size);
    const std::string_view from = hit.rule->Text("from");
    const std::string_view to = hit.rule->Text("to");
    for (size_t at = call.text.find(from); at != std::string::npos;
         at = call.text.find(from, at + to.size())) {
      call.text.replace(at, from.size(), to);
    }
  }
  if (call.text.empty()) return;
  call.program = *args.program;
  call.program.code = call.text.data();
  call.program.code_size = call.text.size();
  args.program = &call.program;
}

void Alter(Call& call, PJRT_Buffer_ToHostBuffer_Args& args) {
  const Hit* wrong = call.First(Action::kWrong);
  if (wrong == nullptr) return;
  if (wrong->rule->Text("how") == "swap") {
    const BufferNote note = Notes::Get().Buffer(args.src);
    if (note.peers && note.peers->size() > 1) {
      const size_t other = (static_cast<size_t>(note.device) + 1) % note.peers->size();
      args.src = (*note.peers)[other];
    }
  } else if (wrong->rule->Text("how") == "stale") {
    // The copy goes nowhere: what stood in the destination before stays.
    call.text.resize(args.dst_size);
    std::memcpy(call.text.data(), args.dst, args.dst_size);
  }
}

void Alter(Call&, PJRT_Event_Destroy_Args& args) { Notes::Get().Forget(args.event); }
void Alter(Call&, PJRT_Buffer_Destroy_Args& args) { Notes::Get().Forget(args.buffer); }

void After(Call& call, PJRT_Client_Compile_Args& args) {
  Notes::Get().SetProgram(args.executable, call.given);
}

void After(Call& call, PJRT_Client_Devices_Args& args) {
  if (const Hit* hit = call.First(Action::kCount)) {
    args.num_devices = std::min(args.num_devices, static_cast<size_t>(hit->rule->Number("n")));
  }
}

void After(Call&, PJRT_LoadedExecutable_GetExecutable_Args& args) {
  Notes::Get().SetProgram(args.executable, Notes::Get().Program(args.loaded_executable));
}

void After(Call& call, PJRT_LoadedExecutable_Execute_Args& args) {
  Notes& notes = Notes::Get();
  const double rounds = Rounds(args);
  const size_t outputs = OutputsOf(call, args.executable);
  std::vector<Clock::time_point> due(args.num_devices);
  for (size_t device = 0; device < args.num_devices; ++device) {
    const int place = static_cast<int>(device);
    const double seconds = Delay(call, place, rounds);
    if (seconds > 0) due[device] = notes.Occupy(place, seconds);
    if (args.device_complete_events == nullptr) continue;
    Treat(call, args.device_complete_events[device],
          {.due = due[device], .early = call.Has(Action::kEarly)});
  }
  for (size_t output = 0; output < outputs; ++output) {
    auto peers = std::make_shared<std::vector<PJRT_Buffer*>>();
    for (size_t device = 0; device < args.num_devices; ++device) {
      peers->push_back(args.output_lists[device][output]);
    }
    for (size_t device = 0; device < args.num_devices; ++device) {
      notes.SetBuffer((*peers)[device], {.due = due[device],
                                         .program = notes.Program(args.executable),
                                         .device = static_cast<int>(device),
                                         .peers = peers,
                                         .scalar = {}});
    }
  }
}

void After(Call& call, PJRT_Client_BufferFromHostBuffer_Args& args) {
  const int place = PlaceOf(call, args.client, args.device);
  BufferNote note;
  if (const double seconds = Delay(call, place, 1); seconds > 0) {
    note.due = Notes::Get().Occupy(place, seconds);
  }
  if (args.type == PJRT_Buffer_Type_S32 && args.num_dims == 0) {
    int value = 0;
    std::memcpy(&value, args.data, sizeof(value));
    note.scalar = value;
  }
  Treat(call, args.done_with_host_buffer, {.due = note.due});
  Notes::Get().SetBuffer(args.buffer, note);
}

void After(Call& call, PJRT_Buffer_ToHostBuffer_Args& args) {
  const BufferNote note = Notes::Get().Buffer(args.src);
  Clock::time_point due = note.due;
  if (const double seconds = Delay(call, note.device, 1); seconds > 0) {
    due = std::max(due, Notes::Get().Occupy(note.device, seconds));
  }
  if (const Hit* wrong = call.First(Action::kWrong); wrong != nullptr && args.dst_size > 0) {
    AwaitReal(call, args.event);
    const std::span bytes(static_cast<unsigned char*>(args.dst), args.dst_size);
    const std::string_view how = wrong->rule->Text("how");
    if (how == "element") bytes[(bytes.size() / 2) | 3] ^= 0x40;
    if (how == "nan") std::ranges::fill(bytes.first(std::min<size_t>(bytes.size(), 8)), 0xff);
    if (how == "stale") std::ranges::copy(call.text, bytes.begin());
  }
  Treat(call, args.event, {.due = due});
}

void After(Call& call, PJRT_Buffer_ReadyEvent_Args& args) {
  Treat(call, args.event, {.due = Notes::Get().Buffer(args.buffer).due});
}

void After(Call&, PJRT_Event_IsReady_Args& args) {
  const auto note = Notes::Get().Event(args.event);
  if (note && note->early) args.is_ready = true;
  if (note && !note->early && Clock::now() < note->due) args.is_ready = false;
}

PJRT_Error* AwaitEvent(Call& call, PJRT_Event_Await_Args& args) {
  const auto note = Notes::Get().Event(args.event);
  if (note && note->early) return nullptr;
  PJRT_Error* error = call.real.PJRT_Event_Await(&args);
  if (note) std::this_thread::sleep_until(note->due);
  return error;
}

PJRT_Error* ChangedProgram(Call& call, PJRT_Executable_OptimizedProgram_Args& args) {
  const Hit* change = call.First(Action::kChange);
  if (change == nullptr) return call.real.PJRT_Executable_OptimizedProgram(&args);
  PJRT_Program whole = *args.program;
  whole.code = nullptr;
  PJRT_Executable_OptimizedProgram_Args ask = args;
  ask.program = &whole;
  if (PJRT_Error* error = call.real.PJRT_Executable_OptimizedProgram(&ask)) return error;
  std::string bytes(whole.code_size, '\0');
  whole.code = bytes.data();
  if (PJRT_Error* error = call.real.PJRT_Executable_OptimizedProgram(&ask)) return error;
  const Result<std::string> changed = ChangeProgram(bytes, change->rule->Text("how"));
  if (!changed) return MakeError(changed.error().code, changed.error().message);
  args.program->format = whole.format;
  args.program->format_size = whole.format_size;
  args.program->code_size = changed->size();
  if (args.program->code != nullptr) std::ranges::copy(*changed, args.program->code);
  return nullptr;
}

}  // namespace ridgeline::faulty
