// The logical mesh: named axes over devices, and the groups that a collective runs in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace ridgeline {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};

// Devices 0 … n-1 are positions in the mesh, row-major (last axis fastest). `order[p]` is the index
// of the physical device at position p.
struct Mesh {
  std::vector<MeshAxis> axes;
  std::vector<int> order;
  std::string note;  // how the axes follow the physical torus: "axes follow the torus 4x4", …

  int64_t size() const;
  // Device groups of a collective over `group`: "all", an axis name, several joined by '+', or
  // "halves" (two sub-groups of neighbours). Members are mesh positions, each group in axis order.
  Result<std::vector<std::vector<int64_t>>> Groups(std::string_view group) const;
};

// "x=2,y=4".
Result<std::vector<MeshAxis>> ParseAxes(std::string_view text);

// What is known of a device's place, in the order of the client's device list.
struct DevicePlace {
  std::vector<int64_t> coords;
  int core = 0;
  int slice = 0;  // of several that a data-centre network joins
};

// A mesh over places.size() devices. With `axes` empty: the physical torus' own axes (dcn of
// slices, x, y, z, core) when the places fill a box, else one axis "x". Positions follow the
// coordinates, so that neighbours on an axis are neighbours on the torus.
Result<Mesh> MakeMesh(const std::vector<DevicePlace>& places, std::vector<MeshAxis> axes);

Json ToJson(const Mesh& mesh);

}  // namespace ridgeline
