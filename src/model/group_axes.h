// Which axes of a machine a collective's group runs along.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/machine.h"
#include "core/mesh.h"

namespace ridgeline::model {

struct GroupAxes {
  std::string names;  // "x", "x+y"; "" when the mesh does not hold the group
  Machine machine;    // with those axes as long as the group is along them
  bool box = true;    // the group fills a box of the mesh; else the closed forms flatter it

  // Along the network between hosts; 1 when the group stays on one.
  int64_t Hosts() const;
};

// `group` holds positions in the mesh, whose axes carry the machine's names. An axis that the group
// spans only in part does not wrap, and what was measured along all of it (laws) does not hold.
GroupAxes FindAxes(std::span<const int64_t> group, const Mesh& mesh, const Machine& machine);

// Positions row-major over the machine's axes: a torus' first axis slowest, hosts before what is
// inside them. Empty where an axis has no size.
Mesh MeshOf(const Machine& machine);

}  // namespace ridgeline::model
