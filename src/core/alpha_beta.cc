#include "core/alpha_beta.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace ridgeline {
namespace {

// Everything but the size: members of one sweep agree in it.
std::string SweepKey(const Measurement& m) {
  std::string key = m.bench;
  for (const auto& [name, value] : m.params.values()) {
    if (name != "bytes") key += "," + name + "=" + ToString(value);
  }
  return key + "@" + m.mesh.dump() + m.data_mode;
}

}  // namespace

std::optional<AlphaBeta> FitAlphaBeta(std::span<const SizePoint> points) {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const SizePoint& point : points) {
    if (!(point.seconds > 0) || !(point.bytes > 0)) continue;
    smallest = std::min(smallest, point.bytes);
    largest = std::max(largest, point.bytes);
  }
  if (!(largest > smallest)) return std::nullopt;

  // Normal equations in u = 1 / t and v = (bytes / largest) / t, with the target 1.
  double uu = 0;
  double uv = 0;
  double vv = 0;
  double u1 = 0;
  double v1 = 0;
  for (const SizePoint& point : points) {
    if (!(point.seconds > 0) || !(point.bytes > 0)) continue;
    const double u = 1 / point.seconds;
    const double v = point.bytes / largest / point.seconds;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u1 += u;
    v1 += v;
  }
  const double determinant = uu * vv - uv * uv;
  double alpha = (u1 * vv - v1 * uv) / determinant;
  double beta = (v1 * uu - u1 * uv) / determinant;  // seconds for `largest` bytes
  if (!(alpha > 0)) {
    alpha = 0;
    beta = v1 / vv;
  }
  if (!(beta > 0) || !std::isfinite(beta) || !std::isfinite(alpha)) return std::nullopt;
  AlphaBeta law{alpha, largest / beta, std::nullopt};
  const double half_size = law.alpha_s * law.bytes_per_s;
  if (half_size >= smallest && half_size <= largest) law.half_size_bytes = half_size;
  return law;
}

void AttachAlphaBeta(std::span<Measurement> measurements) {
  std::map<std::string, std::vector<Measurement*>> sweeps;
  for (Measurement& m : measurements) {
    const bool has_size = m.params.Has("bytes");
    if (m.component != Component::kNetwork || !IsUsable(m.status) || !m.time_s || !has_size) {
      continue;
    }
    sweeps[SweepKey(m)].push_back(&m);
  }
  for (const auto& [key, members] : sweeps) {
    std::vector<SizePoint> points;
    std::set<int64_t> sizes;
    for (const Measurement* m : members) {
      const auto* bytes = std::get_if<int64_t>(&m->params.values().at("bytes"));
      if (bytes == nullptr) continue;
      points.push_back({static_cast<double>(*bytes), m->time_s->value});
      sizes.insert(*bytes);
    }
    if (sizes.size() < 3) continue;
    const std::optional<AlphaBeta> law = FitAlphaBeta(points);
    for (Measurement* m : members) m->alpha_beta = law;
  }
}

}  // namespace ridgeline
