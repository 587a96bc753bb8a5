#include "core/plateaus.h"

#include <gtest/gtest.h>

namespace ridgeline {
namespace {

constexpr double kMiB = 1048576;

// A sweep seen on a GPU with a 32 MiB cache (reports.md C9).
const std::vector<RatePoint> kSweep = {
    {8 * kMiB, 880}, {64 * kMiB, 300}, {256 * kMiB, 265}, {1024 * kMiB, 262}};

TEST(FindPlateaus, MemoryIsThePlateauPastTheLastCache) {
  const PlateauReport report = FindPlateaus(kSweep, 32 * kMiB);
  ASSERT_EQ(report.plateaus.size(), 1u);
  ASSERT_TRUE(report.memory) << report.note;
  EXPECT_EQ(report.memory->name(), "256 MiB..1 GiB");
  EXPECT_EQ(report.memory->rate, 262);
  EXPECT_EQ(report.memory->lo, 262);
  EXPECT_EQ(report.memory->hi, 265);
}

TEST(FindPlateaus, NoSizePastTheCacheMeansMemoryWasNotMeasured) {
  const PlateauReport report = FindPlateaus(kSweep, 256 * kMiB);
  EXPECT_FALSE(report.memory);
  EXPECT_EQ(report.note, "not measured past the last cache");
  EXPECT_TRUE(FindPlateaus(kSweep, 255 * kMiB).memory);
}

TEST(FindPlateaus, AnUnknownCacheNamesTheWorkingSetOnly) {
  const PlateauReport report = FindPlateaus(kSweep, std::nullopt);
  EXPECT_FALSE(report.memory);
  EXPECT_EQ(report.note, "working set 1 GiB, cache level unresolved");
  EXPECT_EQ(report.plateaus.size(), 1u);
}

std::vector<std::string> Names(const std::vector<double>& rates) {
  std::vector<RatePoint> points;
  double bytes = kMiB;
  for (const double rate : rates) {
    points.push_back({bytes, rate});
    bytes *= 2;
  }
  std::vector<std::string> names;
  for (const Plateau& plateau : FindPlateaus(points, std::nullopt).plateaus) {
    names.push_back(plateau.name());
  }
  return names;
}

TEST(FindPlateaus, AsManyLevelsAsTheSweepShows) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Names({100, 101, 99, 100}), (Strings{"1 MiB..8 MiB"}));
  EXPECT_EQ(Names({900, 910, 300, 305, 295}), (Strings{"1 MiB..2 MiB", "4 MiB..16 MiB"}));
  EXPECT_EQ(Names({900, 910, 700, 500, 505, 350, 200, 201}),
            (Strings{"1 MiB..2 MiB", "8 MiB..16 MiB", "64 MiB..128 MiB"}));
  // A slope all the way is no level.
  EXPECT_EQ(Names({800, 400, 200, 100}), Strings{});
}

TEST(FindPlateaus, ARateThatStillFallsIsNoMemoryPlateau) {
  const std::vector<RatePoint> points = {
      {kMiB, 100}, {2 * kMiB, 100}, {64 * kMiB, 50}, {256 * kMiB, 30}};
  const PlateauReport report = FindPlateaus(points, kMiB);
  EXPECT_FALSE(report.memory);
  EXPECT_EQ(report.plateaus.size(), 1u);
  EXPECT_EQ(report.note, "no plateau past the last cache: the rate still changes with the size");
}

TEST(FindPlateaus, NothingMeasured) {
  EXPECT_EQ(FindPlateaus({}, std::nullopt).note, "not measured");
  const std::vector<RatePoint> zero = {{kMiB, 0}};
  EXPECT_EQ(FindPlateaus(zero, kMiB).note, "not measured");
}

}  // namespace
}  // namespace ridgeline
