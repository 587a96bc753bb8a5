#include "model/all_to_all_routing.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <vector>

namespace ridgeline::model {
namespace {

using Coords = std::vector<int64_t>;
// Chip, axis, direction.
using Loads = std::map<std::tuple<Coords, size_t, int>, double>;

std::vector<Coords> AllCoords(std::span<const TorusAxis> axes) {
  std::vector<Coords> all = {{}};
  for (const TorusAxis& axis : axes) {
    std::vector<Coords> longer;
    for (const Coords& coords : all) {
      for (int64_t i = 0; i < axis.size; ++i) {
        longer.push_back(coords);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

void Walk(Coords at, size_t axis, int direction, int64_t hops, int64_t size, double weight,
          Loads& loads) {
  for (int64_t i = 0; i < hops; ++i) {
    loads[{at, axis, direction}] += weight;
    at[axis] = (at[axis] + direction + size) % size;
  }
}

void Route(const Coords& from, const Coords& to, std::span<const TorusAxis> axes, Loads& loads) {
  Coords at = from;
  for (size_t a = 0; a < axes.size(); ++a) {
    const int64_t n = axes[a].size;
    const int64_t ahead = (to[a] - at[a] + n) % n;
    if (!axes[a].wrap || n <= 2) {
      const int64_t way = to[a] - at[a];
      Walk(at, a, way < 0 ? -1 : 1, std::abs(way), n, 1, loads);
    } else if (2 * ahead == n) {
      Walk(at, a, 1, ahead, n, 0.5, loads);
      Walk(at, a, -1, ahead, n, 0.5, loads);
    } else if (2 * ahead < n) {
      Walk(at, a, 1, ahead, n, 1, loads);
    } else {
      Walk(at, a, -1, n - ahead, n, 1, loads);
    }
    at[a] = to[a];
  }
}

}  // namespace

double BusiestLink(std::span<const TorusAxis> axes) {
  Loads loads;
  const std::vector<Coords> chips = AllCoords(axes);
  for (const Coords& from : chips) {
    for (const Coords& to : chips) Route(from, to, axes, loads);
  }
  double busiest = 0;
  for (const auto& [link, load] : loads) busiest = std::max(busiest, load);
  return busiest;
}

}  // namespace ridgeline::model
