// Any text as a result file: an error that names the line, or records that every writer takes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "report/report.h"
#include "store/results.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ridgeline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<store::ResultFile> file = store::ReadResults(text, "fuzz.jsonl");
  if (!file) return file.error().message.empty() ? std::abort(), 0 : 0;
  report::Derive(file->measurements, nullptr);
  report::ResultTable(file->header, file->measurements, {.width = 80});
  report::SummaryTable(file->header, file->measurements, nullptr, {.width = 80});
  report::Csv(file->measurements);
  // What is written must be strict JSON again.
  const std::string json = DumpLine(report::RunJson(file->header, file->measurements));
  if (!ParseJson(json)) std::abort();
  return 0;
}
