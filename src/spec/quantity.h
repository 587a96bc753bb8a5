// Numbers with units, as people write them in spec files.
#pragma once

#include <string_view>

#include "base/error.h"

namespace ridgeline::spec {

enum class Dimension { kFlopsPerSecond, kBytesPerSecond, kBytes, kSeconds, kWatts };

// A positive number in the SI unit of the dimension: "1.97e14", "197 TFLOP/s", "819.2 GB/s",
// "100 Gbit/s" (12.5e9 B/s), "16 GiB", "1 us", "700 W". Refused: "Gb/s" and "GFLOPS", which people
// read in two ways.
Result<double> ParseQuantity(std::string_view text, Dimension dimension);

}  // namespace ridgeline::spec
