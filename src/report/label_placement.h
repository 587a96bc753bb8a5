// Where labels go in a drawing so that none covers another. Internal to this folder.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace ridgeline::report {

struct Spot {
  double x = 0, y = 0;
};

// A rectangle around its centre, turned by `angle` (radians).
struct TurnedBox {
  Spot centre;
  double width = 0, height = 0, angle = 0;

  std::array<Spot, 4> Corners() const;
};

// By the separating axis theorem. Boxes that only touch do not overlap.
bool Overlap(const TurnedBox& a, const TurnedBox& b);

// The thin box that a line of `thickness` covers.
TurnedBox BoxOfLine(Spot from, Spot to, double thickness);

// The frame of a drawing and what is already in it. Labels never cover solid things; they cover
// soft ones (lines) only when asked.
class Placement {
 public:
  explicit Placement(TurnedBox frame) : frame_(frame) {}

  void AddSolid(const TurnedBox& box) { solid_.push_back(box); }
  void AddSoft(const TurnedBox& box) { soft_.push_back(box); }

  bool IsFree(const TurnedBox& box, bool avoid_soft) const;
  // The first free candidate, which is solid from now on; else nullptr. Candidates that cover a
  // line come second.
  const TurnedBox* Place(std::span<const TurnedBox> candidates);

 private:
  const TurnedBox* PlaceFirst(std::span<const TurnedBox> candidates, bool avoid_soft);

  TurnedBox frame_;
  std::vector<TurnedBox> solid_, soft_;
};

}  // namespace ridgeline::report
