// Any text as a spec file: an error with its place, or a machine.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "spec/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ridgeline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<spec::Spec> spec = spec::ReadSpec(text, "fuzz.yaml");
  if (!spec) return spec.error().message.empty() ? std::abort(), 0 : 0;
  const Result<Machine> machine = spec::MakeMachine(*spec, {});
  // What is written must be strict JSON again.
  if (machine && !ParseJson(DumpLine(ToJson(*machine)))) std::abort();
  return 0;
}
