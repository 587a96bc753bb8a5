#include "pjrt/sharding.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace ridgeline::pjrt {
namespace {

constexpr size_t kLongest = 4096;  // bytes of one mesh or sharding that are looked at

// The product of the numbers that follow each `mark` in the bracket after each `start`.
int64_t LargestProduct(std::string_view module, std::string_view start, std::string_view marks) {
  int64_t largest = 1;
  for (size_t at = module.find(start); at != module.npos; at = module.find(start, at + 1)) {
    std::string_view list = module.substr(at + start.size() - 1, kLongest);
    list = list.substr(0, list.find(']'));
    int64_t devices = 1;
    for (size_t i = list.find_first_of(marks); i != list.npos;
         i = list.find_first_of(marks, i + 1)) {
      int64_t size = 1;
      std::from_chars(list.data() + i + 1, list.data() + list.size(), size);
      if (size < 1 || size > kMaxPartitions / devices) return kMaxPartitions + 1;
      devices *= size;
    }
    largest = std::max(largest, devices);
  }
  return largest;
}

}  // namespace

int DevicesOfShardings(std::string_view module) {
  return static_cast<int>(
      std::max(LargestProduct(module, "mesh<[", "="), LargestProduct(module, "{devices=[", "[,")));
}

}  // namespace ridgeline::pjrt
