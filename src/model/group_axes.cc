#include "model/group_axes.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ridgeline::model {

int64_t GroupAxes::Hosts() const {
  int64_t hosts = 1;
  for (const NetworkAxis& axis : machine.axes) {
    const bool along = ("+" + names + "+").find("+" + axis.name + "+") != std::string::npos;
    if (along && axis.fabric == Fabric::kDcn) hosts *= axis.size.value_or(1);
  }
  return hosts;
}

GroupAxes FindAxes(std::span<const int64_t> group, const Mesh& mesh, const Machine& machine) {
  GroupAxes found;
  found.machine = machine;
  const bool inside = std::ranges::all_of(
      group, [&mesh](int64_t position) { return position >= 0 && position < mesh.size(); });
  if (!inside) return found;
  int64_t stride = mesh.size();
  int64_t volume = 1;
  for (const MeshAxis& axis : mesh.axes) {
    stride /= axis.size;
    std::set<int64_t> places;
    for (const int64_t position : group) places.insert(position / stride % axis.size);
    const auto extent = static_cast<int64_t>(places.size());
    if (extent <= 1) continue;
    volume *= extent;
    found.names += (found.names.empty() ? "" : "+") + axis.name;
    for (NetworkAxis& link : found.machine.axes) {
      if (link.name != axis.name || extent == axis.size) continue;
      link.size = extent;
      link.wrap = false;
      // A message to one other device takes no other way than before.
      std::erase_if(link.laws, [](const auto& law) { return law.first != "collective_permute"; });
    }
  }
  found.box = volume == static_cast<int64_t>(group.size());
  return found;
}

Mesh MeshOf(const Machine& machine) {
  Mesh mesh;
  for (const NetworkAxis& axis : machine.axes) {
    // "x+y" of a measured machine is no axis of its own.
    if (axis.name.find('+') != std::string::npos) continue;
    if (!axis.size) return {};
    const auto outermost = axis.fabric == Fabric::kDcn ? mesh.axes.begin() : mesh.axes.end();
    mesh.axes.insert(outermost, {axis.name, *axis.size});
  }
  return mesh;
}

}  // namespace ridgeline::model
