// Any bytes as a user's HLO, serialized or text: an error, or figures that JSON can hold.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "hlo/analysis.h"
#include "hlo/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ridgeline;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<hlo::Module> module = hlo::ReadModule(bytes);
  if (!module) return module.error().message.empty() ? std::abort(), 0 : 0;
  const Result<hlo::Analysis> analysis = hlo::Analyse(*module);
  if (!analysis) return analysis.error().message.empty() ? std::abort(), 0 : 0;
  if (!ParseJson(DumpLine(ToJson(*analysis)))) std::abort();
  ToWork(*analysis);
  return 0;
}
