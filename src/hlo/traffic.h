// Bytes that instructions read and write in the device's main memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hlo/demand.h"
#include "hlo/module.h"

namespace ridgeline::hlo {

struct Traffic {
  double bytes = 0;    // read and written, all patterns
  double gather = 0;   // the part of it in rows that indices pick
  double strided = 0;  // the part of it in steps of more than one element
  double host = 0;     // over the host link
};

// Instructions of one computation whose values come from no array and that only elementwise kernels
// and reductions use: iotas and broadcasts of single numbers. There is nothing to read, and every
// compiler makes them where they are used.
std::vector<bool> MadeWhereUsed(const Computation& computation, const std::vector<bool>& counted);

// One instruction run once as a kernel of its own, which reads its operands and writes its result.
// Slices, rows and updates are charged by what they touch; a fusion by what its parameters are read
// for. Nothing for instructions that only name values or whose computations are counted.
// `made`, of MadeWhereUsed: operands that are not read.
Traffic UnfusedTraffic(const Module& module, const Computation& computation,
                       const Instruction& instruction, DemandAnalysis& demand,
                       const std::vector<bool>* made = nullptr);

// Bytes per instruction of one computation when what can be fused is: chains of elementwise,
// broadcasting, slicing and reshaping instructions run inside the kernels that use their results,
// recomputed for each; a product, convolution or reduction is computed once, with the elementwise
// work on its result up to where that comes together in one value. The figure of a kernel stands
// with its last instruction.
std::vector<double> FusedTraffic(const Module& module, const Computation& computation,
                                 const std::vector<bool>& counted, DemandAnalysis& demand);

}  // namespace ridgeline::hlo
