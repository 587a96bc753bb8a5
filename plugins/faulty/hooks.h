// What the faulty plugin does around single functions; the templates do nothing and serve the rest.
#pragma once

#include <pjrt_c_api.h>

#include <string>
#include <vector>

#include "faults.h"
#include "notes.h"

namespace ridgeline::faulty {

// One call under way.
struct Call {
  Faults& faults;
  const PJRT_Api& real;
  std::vector<Hit> hits;
  // Storage that altered arguments point to until the call is over.
  std::string text;
  PJRT_Program program;
  Text given;  // the program as it was to be compiled

  bool Has(Action action) const;
  const Hit* First(Action action) const;
};

// What the conditions of a rule may look at.
template <typename Args>
Subject SubjectOf(const Args&) {
  return {};
}
Subject SubjectOf(const PJRT_Client_Compile_Args& args);
Subject SubjectOf(const PJRT_LoadedExecutable_Execute_Args& args);
Subject SubjectOf(const PJRT_Executable_OptimizedProgram_Args& args);
Subject SubjectOf(const PJRT_Client_BufferFromHostBuffer_Args& args);
Subject SubjectOf(const PJRT_Buffer_ToHostBuffer_Args& args);
Subject SubjectOf(const PJRT_Buffer_ReadyEvent_Args& args);

// Before the real call.
template <typename Args>
void Alter(Call&, Args&) {}
void Alter(Call& call, PJRT_Client_Compile_Args& args);
void Alter(Call& call, PJRT_Buffer_ToHostBuffer_Args& args);
void Alter(Call& call, PJRT_Event_Destroy_Args& args);
void Alter(Call& call, PJRT_Buffer_Destroy_Args& args);

// After the real call, when it succeeded.
template <typename Args>
void After(Call&, Args&) {}
void After(Call& call, PJRT_Client_Compile_Args& args);
void After(Call& call, PJRT_Client_Devices_Args& args);
void After(Call& call, PJRT_LoadedExecutable_GetExecutable_Args& args);
void After(Call& call, PJRT_LoadedExecutable_Execute_Args& args);
void After(Call& call, PJRT_Client_BufferFromHostBuffer_Args& args);
void After(Call& call, PJRT_Buffer_ToHostBuffer_Args& args);
void After(Call& call, PJRT_Buffer_ReadyEvent_Args& args);
void After(Call& call, PJRT_Event_IsReady_Args& args);

// The call of the real function, or what stands for it.
template <auto Slot, typename Args>
PJRT_Error* Forward(Call& call, Args& args) {
  return (call.real.*Slot)(&args);
}
PJRT_Error* AwaitEvent(Call& call, PJRT_Event_Await_Args& args);
PJRT_Error* ChangedProgram(Call& call, PJRT_Executable_OptimizedProgram_Args& args);

template <auto Slot>
PJRT_Error* Forward(Call& call, PJRT_Event_Await_Args& args) {
  return AwaitEvent(call, args);
}
template <auto Slot>
PJRT_Error* Forward(Call& call, PJRT_Executable_OptimizedProgram_Args& args) {
  return ChangedProgram(call, args);
}

}  // namespace ridgeline::faulty
