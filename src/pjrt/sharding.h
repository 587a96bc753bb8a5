// How many devices a program's shardings speak of, where its text does not say so.
#pragma once

#include <string_view>

namespace ridgeline::pjrt {

inline constexpr int kMaxPartitions = 1 << 16;

// Of the largest Shardy mesh in a module's text, mesh<["x"=4, "y"=4]> (the quotes may be escaped),
// or the largest GSPMD sharding in its text or bytecode, "{devices=[4,2]<=[8]}". 1 without any, and
// kMaxPartitions + 1 when they are more.
int DevicesOfShardings(std::string_view module);

}  // namespace ridgeline::pjrt
