// One case for all that are the same program on other devices: a suite over 256 devices has 65280
// pairs of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/case.h"

namespace ridgeline::predict {

struct CaseKind {
  Case example;
  int64_t cases = 1;  // of the suite that it stands for, itself included
};

// Cases that differ only in the device that they run on, or in the mesh positions that their
// parameters name, are one kind; its first case and its last one stand for it. In the order of
// `cases`.
std::vector<CaseKind> ExamplesOf(std::span<const Case> cases);

}  // namespace ridgeline::predict
