#include "base/shape.h"

#include <fmt/format.h>

namespace ridgeline {

int64_t Shape::elements() const {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

std::string Shape::ToStableHlo() const {
  std::string text = "tensor<";
  for (const int64_t d : dims) text += fmt::format("{}x", d);
  return text + std::string(Info(dtype).stablehlo) + ">";
}

std::string Shape::ToString() const {
  return fmt::format("{}[{}]", Name(dtype), fmt::join(dims, ","));
}

}  // namespace ridgeline
