#include "report/label_placement.h"

#include <algorithm>
#include <cmath>

namespace ridgeline::report {
namespace {

constexpr double kTouch = 1e-6;  // turning a box rounds its corners

struct Reach {
  double lo, hi;
};

Reach Project(const std::array<Spot, 4>& corners, double dx, double dy) {
  Reach reach{corners[0].x * dx + corners[0].y * dy, corners[0].x * dx + corners[0].y * dy};
  for (const Spot& corner : corners) {
    const double at = corner.x * dx + corner.y * dy;
    reach.lo = std::min(reach.lo, at);
    reach.hi = std::max(reach.hi, at);
  }
  return reach;
}

}  // namespace

std::array<Spot, 4> TurnedBox::Corners() const {
  const double c = std::cos(angle), s = std::sin(angle);
  const double w = width / 2, h = height / 2;
  const auto corner = [&](double dx, double dy) {
    return Spot{centre.x + dx * c - dy * s, centre.y + dx * s + dy * c};
  };
  return {corner(-w, -h), corner(w, -h), corner(w, h), corner(-w, h)};
}

bool Overlap(const TurnedBox& a, const TurnedBox& b) {
  const auto corners_a = a.Corners(), corners_b = b.Corners();
  for (const double angle : {a.angle, a.angle + std::acos(0), b.angle, b.angle + std::acos(0)}) {
    const double dx = std::cos(angle), dy = std::sin(angle);
    const Reach reach_a = Project(corners_a, dx, dy), reach_b = Project(corners_b, dx, dy);
    if (reach_a.hi <= reach_b.lo + kTouch || reach_b.hi <= reach_a.lo + kTouch) return false;
  }
  return true;
}

TurnedBox BoxOfLine(Spot from, Spot to, double thickness) {
  return {{(from.x + to.x) / 2, (from.y + to.y) / 2},
          std::hypot(to.x - from.x, to.y - from.y),
          thickness,
          std::atan2(to.y - from.y, to.x - from.x)};
}

bool Placement::IsFree(const TurnedBox& box, bool avoid_soft) const {
  const auto frame = frame_.Corners();
  for (const Spot& corner : box.Corners()) {
    if (corner.x < frame[0].x || corner.x > frame[2].x || corner.y < frame[0].y ||
        corner.y > frame[2].y) {
      return false;
    }
  }
  const auto covers = [&box](const TurnedBox& other) { return Overlap(box, other); };
  return std::ranges::none_of(solid_, covers) &&
         !(avoid_soft && std::ranges::any_of(soft_, covers));
}

const TurnedBox* Placement::PlaceFirst(std::span<const TurnedBox> candidates, bool avoid_soft) {
  for (const TurnedBox& candidate : candidates) {
    if (!IsFree(candidate, avoid_soft)) continue;
    AddSolid(candidate);
    return &candidate;
  }
  return nullptr;
}

const TurnedBox* Placement::Place(std::span<const TurnedBox> candidates) {
  const TurnedBox* clear = PlaceFirst(candidates, true);
  return clear != nullptr ? clear : PlaceFirst(candidates, false);
}

}  // namespace ridgeline::report
