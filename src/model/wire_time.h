// Time of the collectives of a Work along an axis of a Machine.
#pragma once

#include <optional>
#include <string>

#include "core/machine.h"
#include "core/work.h"

namespace ridgeline::model {

struct WireTime {
  double seconds = 0;
  Figure figure;     // of the link, or of the measured law
  double rate = 0;   // B/s that one device sends
  std::string axis;  // the name, or the names of the axes joined by '+'
  std::string note;  // where another axis or form stood in
};

// By the measured law of that collective and axis when there is one; else by the closed form of the
// axis' fabric (model/collectives.h); an axis of no size, or a collective without a form, by the
// bytes sent over what one device can send. An axis that the machine does not have: its first one.
// Without an axis, those that the group runs along, its devices in the order of MeshOf.
// nullopt when the machine has no axis, or no figure for it.
std::optional<WireTime> TimeOf(const WireUse& use, const Machine& machine);

}  // namespace ridgeline::model
