#include "spec/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace ridgeline::spec {
namespace {

constexpr int64_t kMaxExtent = 1'000'000;

bool MultiplesOf4(const Shape& shape) {
  return std::ranges::all_of(shape, [](int64_t n) { return n % 4 == 0; });
}

Shape Sorted(Shape shape) {
  std::ranges::sort(shape);
  return shape;
}

}  // namespace

std::string ToString(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

int64_t Chips(const Shape& shape) {
  int64_t chips = 1;
  for (const int64_t n : shape) chips *= n;
  return chips;
}

Result<Shape> ParseShape(std::string_view text) {
  Shape shape;
  const char* begin = text.data();
  const char* const end = text.data() + text.size();
  while (shape.size() < 3) {
    int64_t extent = 0;
    const auto [next, error] = std::from_chars(begin, end, extent);
    if (error != std::errc() || extent < 1 || extent > kMaxExtent) break;
    shape.push_back(extent);
    if (next == end) return shape;
    if (*next != 'x') break;
    begin = next + 1;
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("'{}' is no shape; expected chips along each axis, such as 4x4 or 8x8x4",
                          Printable(text.substr(0, 100))));
}

Status CheckSlice(const SpecNetwork& network, const Shape& shape) {
  const std::string name = ToString(shape);
  if (shape.size() != static_cast<size_t>(network.axes)) {
    return Fail(Code::kInvalidArgument, fmt::format("slice {} has {} axes; this torus has {}", name,
                                                    shape.size(), network.axes));
  }
  if (network.max_chips && Chips(shape) > *network.max_chips) {
    return Fail(Code::kOutOfRange, fmt::format("slice {} has {} chips; a pod has {}", name,
                                               Chips(shape), *network.max_chips));
  }
  if (network.shapes.empty()) return {};
  const bool cubes = network.wrap == WrapRule::kCubesOf4;
  const bool known = std::ranges::any_of(
      network.shapes, [&shape](const Shape& one) { return Sorted(one) == Sorted(shape); });
  if (known || (cubes && MultiplesOf4(shape)) || Chips(shape) == 1) return {};
  std::vector<std::string> names;
  for (const Shape& one : network.shapes) names.push_back(ToString(one));
  return Fail(Code::kInvalidArgument,
              fmt::format("there is no slice {}; allowed: {}{}", name, fmt::join(names, ", "),
                          cubes ? ", and multiples of 4 along every axis" : ""));
}

std::vector<bool> WrapsOf(const SpecNetwork& network, const Shape& shape) {
  const bool all = (network.wrap == WrapRule::kCubesOf4 && MultiplesOf4(shape)) ||
                   (network.wrap == WrapRule::kFullPod && Sorted(shape) == Sorted(network.pod));
  std::vector<bool> wraps;
  for (const int64_t n : shape) {
    wraps.push_back(n > 2 && (all || (network.wrap == WrapRule::kAxisOf16 && n == 16)));
  }
  return wraps;
}

}  // namespace ridgeline::spec
