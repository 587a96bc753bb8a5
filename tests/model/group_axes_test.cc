#include "model/group_axes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "model/wire_time.h"

namespace ridgeline::model {
namespace {

NetworkAxis Torus(const std::string& name, int64_t size) {
  return {.name = name,
          .size = size,
          .fabric = Fabric::kTorus,
          .wrap = true,
          .link_bytes_per_s = Figure{.value = 45e9, .direction = Direction::kOneWay}};
}

Machine EightBySixteen() {
  Machine machine{.name = "torus", .axes = {Torus("x", 8), Torus("y", 16)}};
  // As a run measures them.
  machine.axes[0].laws["all_reduce"] = {.alpha_s = Figure{.value = 1e-6},
                                        .payload_bytes_per_s = Figure{.value = 20e9}};
  return machine;
}

class Axes : public ::testing::Test {
 protected:
  GroupAxes Find(const std::vector<int64_t>& group) const {
    return FindAxes(group, mesh_, machine_);
  }
  const Machine machine_ = EightBySixteen();
  const Mesh mesh_ = MeshOf(machine_);
};

TEST_F(Axes, ARowAColumnAndAll) {
  EXPECT_EQ(Find({16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}).names, "y");
  const GroupAxes column = Find({3, 19, 35, 51, 67, 83, 99, 115});
  EXPECT_EQ(column.names, "x");
  EXPECT_TRUE(column.box);
  EXPECT_EQ(column.machine.Axis("x")->size, 8);
  EXPECT_EQ(Find({0, 1, 16, 17}).names, "x+y");
}

// Half of a ring is a line.
TEST_F(Axes, APartOfAnAxisDoesNotWrap) {
  EXPECT_TRUE(machine_.Axis("y")->wrap);
  const GroupAxes half = Find({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(half.names, "y");
  EXPECT_EQ(half.machine.Axis("y")->size, 8);
  EXPECT_FALSE(half.machine.Axis("y")->wrap);
}

TEST_F(Axes, ADiagonalIsNoBox) {
  const GroupAxes diagonal = Find({0, 17, 34, 51});
  EXPECT_EQ(diagonal.names, "x+y");
  EXPECT_FALSE(diagonal.box);
}

TEST_F(Axes, StrangeDevicesHaveNoAxes) { EXPECT_EQ(Find({0, 128}).names, ""); }

TEST_F(Axes, APartOfAnAxisForgetsWhatWasMeasuredAlongAllOfIt) {
  EXPECT_TRUE(Find({0, 16, 32, 48}).machine.Axis("x")->laws.empty());
  EXPECT_FALSE(Find({3, 19, 35, 51, 67, 83, 99, 115}).machine.Axis("x")->laws.empty());
}

TEST_F(Axes, HostsAreOutermostAndJoinedAxesAreNone) {
  Machine machine;
  machine.axes = {{.name = "node", .size = 8, .fabric = Fabric::kSwitch},
                  {.name = "dcn", .size = 2, .fabric = Fabric::kDcn},
                  {.name = "node+dcn", .size = 16, .fabric = Fabric::kSwitch}};
  const std::vector<MeshAxis> expected = {{"dcn", 2}, {"node", 8}};
  EXPECT_EQ(MeshOf(machine).axes, expected);
  const GroupAxes across = FindAxes(std::vector<int64_t>{0, 8}, MeshOf(machine), machine);
  EXPECT_EQ(across.names, "dcn");
  EXPECT_EQ(across.Hosts(), 2);
  machine.axes[0].size.reset();
  EXPECT_TRUE(MeshOf(machine).axes.empty());
}

// What a program's collective costs follows from its group: the same bytes along x, along y and
// along both.
TEST_F(Axes, TheTimeOfAGroupIsThatOfItsAxes) {
  const auto seconds = [this](std::vector<int64_t> group, const std::string& axis) {
    const double ranks = static_cast<double>(group.size());
    const WireUse use{.axis = axis,
                      .collective = "all_gather",
                      .payload_bytes = 1e9,
                      .wire_bytes = 1e9 * (1 - 1 / ranks),
                      .calls = 1,
                      .group = axis.empty() ? std::move(group) : std::vector<int64_t>{}};
    return TimeOf(use, machine_)->seconds;
  };
  std::vector<int64_t> row(16), column, all(128);
  std::iota(row.begin(), row.end(), 0);
  std::iota(all.begin(), all.end(), 0);
  for (int64_t i = 5; i < 128; i += 16) column.push_back(i);
  EXPECT_DOUBLE_EQ(seconds(row, ""), seconds(row, "y"));
  EXPECT_DOUBLE_EQ(seconds(column, ""), seconds(column, "x"));
  EXPECT_DOUBLE_EQ(seconds(all, ""), seconds(all, "x+y"));
  EXPECT_LT(seconds(all, ""), seconds(column, ""));
}

// A group that the machine does not hold goes by its first axis, as one whose axis is not known.
TEST_F(Axes, AGroupOfAnotherMachineTakesTheFirstAxis) {
  const WireUse use{.axis = "",
                    .collective = "all_gather",
                    .payload_bytes = 1e9,
                    .wire_bytes = 5e8,
                    .calls = 1,
                    .group = {0, 1000}};
  EXPECT_EQ(TimeOf(use, machine_)->axis, "x");
}

}  // namespace
}  // namespace ridgeline::model
