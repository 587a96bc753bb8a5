#include "predict/cycles.h"

#include <charconv>
#include <string>

#include "base/json.h"

namespace ridgeline::predict {

std::optional<double> EstimatedCycles(std::string_view backend_config) {
  constexpr double kSentinel = 0x1p62;
  // Most configs have none: those are not parsed.
  if (backend_config.find("estimated_cycles") == backend_config.npos) return std::nullopt;
  const Result<Json> json = ParseJson(backend_config);
  if (!json) return std::nullopt;
  // Protobuf writes 64-bit numbers as strings.
  const std::string text = StringOr(ObjectOr(*json, "window_config"), "estimated_cycles");
  double cycles = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cycles);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(cycles > 0) || cycles >= kSentinel) return std::nullopt;
  return cycles;
}

}  // namespace ridgeline::predict
