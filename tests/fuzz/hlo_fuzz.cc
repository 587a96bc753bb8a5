// Any bytes as a compiled program: an error, or a module that the audit takes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "hlo/audit.h"
#include "hlo/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ridgeline;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<hlo::Module> module = hlo::ReadModule(bytes);
  if (!module) return module.error().message.empty() ? std::abort(), 0 : 0;
  hlo::Expectation expected;
  expected.ops = {{{"dot"}, 1, false}};
  expected.moved_bytes = 1e6;
  if (hlo::Audit(*module, expected).findings.empty()) std::abort();
  return 0;
}
