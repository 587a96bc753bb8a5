#include "core/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace ridgeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Mesh Flat(const std::string& axes, size_t devices) {
  return MakeMesh(std::vector<DevicePlace>(devices), ParseAxes(axes).value()).value();
}

TEST(Mesh, GroupsOfAxes) {
  const Mesh mesh = Flat("x=2,y=3", 6);
  EXPECT_THAT(mesh.Groups("all").value(), ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
  EXPECT_THAT(mesh.Groups("y").value(), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
  EXPECT_THAT(mesh.Groups("x").value(),
              ElementsAre(ElementsAre(0, 3), ElementsAre(1, 4), ElementsAre(2, 5)));
  EXPECT_THAT(mesh.Groups("halves").value(),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
}

TEST(Mesh, GroupsOfAxisProducts) {
  const Mesh mesh = Flat("x=2,y=2,z=2", 8);
  EXPECT_THAT(mesh.Groups("x+z").value(),
              ElementsAre(ElementsAre(0, 1, 4, 5), ElementsAre(2, 3, 6, 7)));
  // The order of the names does not matter: members stay in mesh order.
  EXPECT_EQ(mesh.Groups("z+x").value(), mesh.Groups("x+z").value());
  EXPECT_EQ(mesh.Groups("x+y+z").value(), mesh.Groups("all").value());
}

TEST(Mesh, GroupErrors) {
  const Mesh mesh = Flat("rows=2,columns=3", 6);
  const auto unknown = mesh.Groups("colums");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, AllOf(HasSubstr("allowed: all, halves, rows, columns"),
                                             HasSubstr("did you mean 'columns'?")));
  for (const size_t devices : {1, 2, 3, 5}) {
    const Mesh small = MakeMesh(std::vector<DevicePlace>(devices), {}).value();
    const auto halves = small.Groups("halves");
    ASSERT_FALSE(halves.has_value()) << devices;
    EXPECT_EQ(halves.error().code, Code::kFailedPrecondition);
  }
}

TEST(Mesh, CoordinatesWithoutMeasureAreNoTorus) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::vector<DevicePlace> places = {{{kLeast, kLeast}, 0}, {{kMost, kMost}, 0}};
  const Result<Mesh> mesh = MakeMesh(places, {});
  ASSERT_TRUE(mesh.has_value());
  EXPECT_EQ(mesh->axes, (std::vector<MeshAxis>{{"x", 2}}));
}

TEST(Mesh, AxesFromText) {
  EXPECT_THAT(ParseAxes("x=2,y=4").value(), ElementsAre(MeshAxis{"x", 2}, MeshAxis{"y", 4}));
  for (const char* text :
       {"", "x", "x=", "=2", "x=0", "x=-2", "x=2y", "X=2", "all=2", "halves=2", "x=2,,y=2"}) {
    EXPECT_FALSE(ParseAxes(text).has_value()) << text;
  }
  EXPECT_THAT(ParseAxes("x=2,x=3").error().message, HasSubstr("named twice"));
}

TEST(Mesh, SizeMustMatchTheDevices) {
  const auto wrong = MakeMesh(std::vector<DevicePlace>(6), ParseAxes("x=4").value());
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message, AllOf(HasSubstr("holds 4 devices"), HasSubstr("6 are used")));
}

// A 2x3 torus with two cores a chip whose devices come in no order: neighbours on an axis of the
// mesh are neighbours on the torus.
TEST(Mesh, FollowsTheTorusWhateverTheDeviceOrder) {
  std::vector<DevicePlace> places;
  for (int64_t y = 0; y < 3; ++y) {
    for (int core = 0; core < 2; ++core) {
      for (int64_t x = 0; x < 2; ++x) places.push_back({{x + 4, y, 0}, core});
    }
  }
  std::ranges::reverse(places);
  std::swap(places[0], places[7]);
  const Mesh mesh = MakeMesh(places, {}).value();
  EXPECT_THAT(mesh.axes, ElementsAre(MeshAxis{"x", 2}, MeshAxis{"y", 3}, MeshAxis{"core", 2}));
  for (int64_t position = 0; position < 12; ++position) {
    const DevicePlace& place =
        places[static_cast<size_t>(mesh.order[static_cast<size_t>(position)])];
    EXPECT_THAT(place.coords, ElementsAre(4 + position / 6, position / 2 % 3, 0)) << position;
    EXPECT_EQ(place.core, position % 2) << position;
  }
  EXPECT_THAT(mesh.note, HasSubstr("physical torus"));
}

TEST(Mesh, ATorusWithOtherAxesSaysSo) {
  std::vector<DevicePlace> places;
  for (int64_t x = 0; x < 2; ++x) {
    for (int64_t y = 0; y < 4; ++y) places.push_back({{x, y}, 0});
  }
  EXPECT_THAT(MakeMesh(places, ParseAxes("x=2,y=4").value())->note, HasSubstr("follow"));
  EXPECT_THAT(MakeMesh(places, ParseAxes("x=8").value())->note, HasSubstr("several physical axes"));
}

TEST(Mesh, CoordinatesThatFillNoBox) {
  const std::vector<DevicePlace> gap = {{{0, 0}, 0}, {{0, 1}, 0}, {{1, 0}, 0}};
  const Mesh mesh = MakeMesh(gap, {}).value();
  EXPECT_THAT(mesh.axes, ElementsAre(MeshAxis{"x", 3}));
  EXPECT_THAT(mesh.order, ElementsAre(0, 1, 2));
  const std::vector<DevicePlace> same = {{{0, 0}, 0}, {{0, 0}, 0}};
  EXPECT_THAT(MakeMesh(same, {})->axes, ElementsAre(MeshAxis{"x", 2}));
  const std::vector<DevicePlace> ragged = {{{0, 0}, 0}, {{1}, 0}};
  EXPECT_THAT(MakeMesh(ragged, {})->axes, ElementsAre(MeshAxis{"x", 2}));
}

TEST(Mesh, SlicesAreTheOutermostAxis) {
  std::vector<DevicePlace> places;
  for (int64_t y = 0; y < 2; ++y) {
    for (int slice = 0; slice < 3; ++slice) {
      for (int64_t x = 0; x < 2; ++x) {
        places.push_back({.coords = {x, y, 0}, .core = 0, .slice = slice});
      }
    }
  }
  const Mesh mesh = MakeMesh(places, {}).value();
  EXPECT_THAT(mesh.axes, ElementsAre(MeshAxis{"dcn", 3}, MeshAxis{"x", 2}, MeshAxis{"y", 2}));
  for (size_t position = 0; position < 12; ++position) {
    const DevicePlace& place = places[static_cast<size_t>(mesh.order[position])];
    EXPECT_EQ(place.slice, static_cast<int>(position / 4)) << position;
    EXPECT_THAT(place.coords, ElementsAre(position / 2 % 2, position % 2, 0)) << position;
  }
}

}  // namespace
}  // namespace ridgeline
