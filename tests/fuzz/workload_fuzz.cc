// Any text as a workload file: an error with its place, or a limit on a machine.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "report/limit_report.h"
#include "spec/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ridgeline;
  static const Machine machine =
      spec::MakeMachine(*spec::FindSpec(spec::EmbeddedSpecs().value(), "tpu-v5e").value(), {4, 4})
          .value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<workload::Workload> workload = workload::ReadWorkload(text, "fuzz.yaml");
  if (!workload) return workload.error().message.empty() ? std::abort(), 0 : 0;
  const verdict::Limit limit = verdict::FindLimit(*workload, machine);
  if (!ParseJson(DumpLine(ToJson(*workload, limit)))) std::abort();
  const report::JudgedWorkload judged{.workload = std::move(*workload), .limits = {limit}};
  report::LimitReport({&machine, 1}, {&judged, 1}, {.width = 80});
  report::RooflineSvg(report::LimitPlot({&machine, 1}, {&judged, 1}));
  return 0;
}
