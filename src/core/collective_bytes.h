// Bytes and bandwidths of collectives, as nccl-tests defines them (its doc/PERFORMANCE.md). S is
// the full array: the buffer that an all-reduce, all-to-all or broadcast holds on every rank, the
// gathered array of an all-gather, the input array of a reduce-scatter, the message of a permute.
#pragma once

#include <cstdint>

namespace ridgeline {

enum class Collective {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kPermute,
};

// busbw / algbw, where algbw = S / time: 2(n-1)/n for an all-reduce, (n-1)/n for all-gather,
// reduce-scatter and all-to-all, 1 for a broadcast and a permute. 0 for one rank.
double BusFactor(Collective collective, int64_t ranks);

// Bytes that one rank sends when the ranks form a ring (all-to-all: sends directly): S times the
// bus factor. busbw is this over the time.
double BusBytes(Collective collective, int64_t ranks, double bytes);

}  // namespace ridgeline
