#include "core/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>

#include "base/text.h"

namespace ridgeline {
namespace {

constexpr std::string_view kTorusNames[] = {"x", "y", "z"};

std::vector<std::string_view> GroupNames(const Mesh& mesh) {
  std::vector<std::string_view> names = {"all", "halves"};
  for (const MeshAxis& axis : mesh.axes) names.push_back(axis.name);
  return names;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  while (true) {
    const size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

bool HasSlices(const std::vector<DevicePlace>& places) {
  return std::ranges::any_of(
      places, [&places](const DevicePlace& place) { return place.slice != places[0].slice; });
}

// The box that the coordinates fill: size per dimension (the slice first where there are several,
// the core last), or empty when they do not fill one.
std::vector<int64_t> PhysicalBox(const std::vector<DevicePlace>& places,
                                 std::vector<std::vector<int64_t>>& points) {
  if (places.empty() || places.front().coords.empty()) return {};
  const bool sliced = HasSlices(places);
  const size_t rank = places.front().coords.size() + (sliced ? 1 : 0);
  for (const DevicePlace& place : places) {
    if (place.coords.size() != places.front().coords.size()) return {};
    std::vector<int64_t> point = place.coords;
    if (sliced) point.insert(point.begin(), place.slice);
    point.push_back(place.core);
    points.push_back(std::move(point));
  }
  std::vector<int64_t> lowest = points.front();
  std::vector<int64_t> highest = points.front();
  for (const auto& point : points) {
    for (size_t d = 0; d <= rank; ++d) {
      lowest[d] = std::min(lowest[d], point[d]);
      highest[d] = std::max(highest[d], point[d]);
    }
  }
  const auto count = static_cast<int64_t>(places.size());
  std::vector<int64_t> box;
  int64_t volume = 1;
  for (size_t d = 0; d <= rank; ++d) {
    // A plugin may tell any coordinates: unsigned, as the difference may not fit.
    const uint64_t span = static_cast<uint64_t>(highest[d]) - static_cast<uint64_t>(lowest[d]);
    if (span >= places.size()) return {};
    box.push_back(static_cast<int64_t>(span) + 1);
    volume *= box.back();
    if (volume > count) return {};
  }
  const std::set<std::vector<int64_t>> distinct(points.begin(), points.end());
  if (volume != count || static_cast<int64_t>(distinct.size()) != count) return {};
  return box;
}

}  // namespace

int64_t Mesh::size() const {
  return std::accumulate(axes.begin(), axes.end(), int64_t{1},
                         [](int64_t n, const MeshAxis& axis) { return n * axis.size; });
}

Result<std::vector<std::vector<int64_t>>> Mesh::Groups(std::string_view group) const {
  const int64_t n = size();
  std::vector<std::vector<int64_t>> groups;
  if (group == "all") {
    groups.emplace_back(static_cast<size_t>(n));
    std::iota(groups.back().begin(), groups.back().end(), 0);
    return groups;
  }
  if (group == "halves") {
    if (n < 4 || n % 2 != 0) {
      return Fail(Code::kFailedPrecondition,
                  fmt::format("group 'halves' needs an even number of at least 4 devices; the mesh "
                              "has {}",
                              n));
    }
    for (int64_t half = 0; half < 2; ++half) {
      groups.emplace_back(static_cast<size_t>(n / 2));
      std::iota(groups.back().begin(), groups.back().end(), half * n / 2);
    }
    return groups;
  }
  std::vector<bool> in_group(axes.size());
  for (const std::string_view name : Split(group, '+')) {
    const auto it =
        std::ranges::find_if(axes, [name](const MeshAxis& axis) { return axis.name == name; });
    if (it == axes.end()) {
      return Fail(Code::kInvalidArgument,
                  UnknownName("mesh axis or group", name, GroupNames(*this)));
    }
    in_group[static_cast<size_t>(it - axes.begin())] = true;
  }
  // Positions that agree on every axis outside the group belong together.
  std::map<std::vector<int64_t>, std::vector<int64_t>> by_rest;
  for (int64_t position = 0; position < n; ++position) {
    std::vector<int64_t> rest;
    int64_t remainder = position;
    for (size_t a = axes.size(); a-- > 0;) {
      if (!in_group[a]) rest.insert(rest.begin(), remainder % axes[a].size);
      remainder /= axes[a].size;
    }
    by_rest[rest].push_back(position);
  }
  for (auto& [rest, members] : by_rest) groups.push_back(std::move(members));
  return groups;
}

Result<std::vector<MeshAxis>> ParseAxes(std::string_view text) {
  std::vector<MeshAxis> axes;
  for (const std::string_view part : Split(text, ',')) {
    const size_t equals = part.find('=');
    int64_t size = 0;
    if (equals != std::string_view::npos) {
      const std::string_view digits = part.substr(equals + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
      if (error != std::errc() || end != digits.data() + digits.size()) size = 0;
    }
    const std::string name(part.substr(0, std::min(equals, part.size())));
    const bool letters =
        !name.empty() && std::ranges::all_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
    if (!letters || size < 1 || name == "all" || name == "halves") {
      return Fail(Code::kInvalidArgument,
                  fmt::format("'{}' is not a mesh axis; expected NAME=SIZE with a name in small "
                              "letters and a size of at least 1, for example x=2,y=4",
                              Printable(part)));
    }
    if (std::ranges::any_of(axes, [&name](const MeshAxis& axis) { return axis.name == name; })) {
      return Fail(Code::kInvalidArgument, fmt::format("mesh axis '{}' is named twice", name));
    }
    axes.push_back({name, size});
  }
  return axes;
}

Result<Mesh> MakeMesh(const std::vector<DevicePlace>& places, std::vector<MeshAxis> axes) {
  const auto count = static_cast<int64_t>(places.size());
  Mesh mesh;
  mesh.order.resize(places.size());
  std::iota(mesh.order.begin(), mesh.order.end(), 0);
  std::vector<std::vector<int64_t>> points;
  const std::vector<int64_t> box = PhysicalBox(places, points);
  if (!box.empty()) {
    std::ranges::sort(mesh.order, [&points](int a, int b) {
      return points[static_cast<size_t>(a)] < points[static_cast<size_t>(b)];
    });
  }
  if (axes.empty()) {
    const size_t first = HasSlices(places) ? 1 : 0;  // of the torus
    for (size_t d = 0; d < box.size(); ++d) {
      if (box[d] == 1) continue;
      const bool core = d + 1 == box.size();
      mesh.axes.push_back({core            ? "core"
                           : d < first     ? "dcn"
                           : d - first < 3 ? std::string(kTorusNames[d - first])
                                           : fmt::format("d{}", d - first),
                           box[d]});
    }
    if (mesh.axes.empty()) mesh.axes.push_back({"x", count});
  } else {
    mesh.axes = std::move(axes);
    if (mesh.size() != count) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("the mesh holds {} devices but {} are used", mesh.size(), count), "",
                  "make the product of the axis sizes equal to the number of devices, or set "
                  "--devices");
    }
  }
  std::vector<int64_t> sizes;
  for (const MeshAxis& axis : mesh.axes) sizes.push_back(axis.size);
  std::vector<int64_t> physical;
  std::ranges::copy_if(box, std::back_inserter(physical), [](int64_t size) { return size > 1; });
  if (box.empty()) {
    mesh.note = "the plugin gives no coordinates: axes follow the device order";
  } else if (sizes == physical || physical.empty()) {
    mesh.note = fmt::format("axes follow the physical torus {}", fmt::join(box, "x"));
  } else {
    mesh.note = fmt::format(
        "axes {} are laid row-major over the physical torus {}: an axis may cross several physical "
        "axes",
        fmt::join(sizes, "x"), fmt::join(box, "x"));
  }
  return mesh;
}

Json ToJson(const Mesh& mesh) {
  Json axes = Json::object();
  for (const MeshAxis& axis : mesh.axes) axes[axis.name] = axis.size;
  return {{"axes", axes}, {"order", mesh.order}, {"note", mesh.note}};
}

}  // namespace ridgeline
