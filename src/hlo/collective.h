// Collectives of a program: how much each puts on the network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hlo/module.h"

namespace ridgeline::hlo {

struct Collective {
  std::string kind;            // HLO's name, without -start
  int64_t group_size = 1;      // devices that exchange; of a permute: those that its pairs name
  std::vector<int64_t> group;  // ids of the largest group; of a permute its first pair; empty: all
  double payload_bytes = 0;    // the full array over the group: an all-gather's result, a
                               // reduce-scatter's operand, a permute's message
  double wire_bytes = 0;       // sent by one device (core/collective_bytes.h)
};

// The ids of a group; the first `size` ones where none are named; none where there are too many.
std::vector<int64_t> Members(const std::vector<int64_t>& group, int64_t size);

// `devices` make up the group where the instruction names none.
Collective ReadCollective(const Computation& computation, const Instruction& instruction,
                          int64_t devices);

// Whether a send or recv of libtpu goes to another slice, over the data-centre network.
bool IsBetweenSlices(const Instruction& instruction);

// What such a send is part of: a collective among one device of each of `slices` slices. nullopt
// for a recv, and for a transfer of a kind that we do not know.
std::optional<Collective> ReadSliceTransfer(const Computation& computation,
                                            const Instruction& instruction, int64_t slices);

}  // namespace ridgeline::hlo
