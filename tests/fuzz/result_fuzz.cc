// Any text as a result file: an error that names the line, or records that every writer takes and
// that are read back from what is written. Salvaging takes at least what a strict reader does.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "report/report.h"
#include "store/results.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckSalvage(std::string_view text, bool readable, size_t records) {
  using namespace ridgeline;
  const Result<store::ResultFile> salvaged =
      store::ReadResults(text, "fuzz.jsonl", store::ReadMode::kSalvage);
  if (!salvaged) return Require(!readable && !salvaged.error().message.empty());
  if (readable) Require(salvaged->dropped == 0 && salvaged->measurements.size() == records);
  const Result<store::ResultFile> again = store::ReadResults(
      store::FormatResults(salvaged->header, salvaged->measurements), "again.jsonl");
  Require(again && again->measurements.size() == salvaged->measurements.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ridgeline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<store::ResultFile> file = store::ReadResults(text, "fuzz.jsonl");
  CheckSalvage(text, file.has_value(), file ? file->measurements.size() : 0);
  if (!file) {
    Require(!file.error().message.empty());
    return 0;
  }
  report::Derive(file->measurements, nullptr);
  report::ResultTable(file->header, file->measurements, {.width = 80});
  report::SummaryTable(file->header, file->measurements, nullptr, {.width = 80});
  report::Csv(file->measurements);
  // What is written must be strict JSON again.
  const std::string json = DumpLine(report::RunJson(file->header, file->measurements));
  Require(ParseJson(json).has_value());
  return 0;
}
