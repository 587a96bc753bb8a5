// Any text as a suite file: an error with its place, or cases within bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "benchmarks/benchmark.h"
#include "suite/suite.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ridgeline;
  static const suite::ShapeTable shapes = suite::EmbeddedShapes().value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<suite::Suite> suite =
      suite::ReadSuite(text, "fuzz.yaml", benchmarks::AllBenchmarks(), shapes);
  if (!suite) return suite.error().message.empty() ? std::abort(), 0 : 0;
  suite::ExpandOptions options;
  options.mesh = MakeMesh(std::vector<DevicePlace>(4), {{"x", 2}, {"y", 2}}).value();
  options.device_count = 4;
  const Result<std::vector<Case>> cases = suite::ExpandSuite(*suite, options);
  if (cases && static_cast<int64_t>(cases->size()) > suite::kMaxCases) std::abort();
  return 0;
}
