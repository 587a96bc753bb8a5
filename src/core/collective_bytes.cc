#include "core/collective_bytes.h"

namespace ridgeline {

double BusFactor(Collective collective, int64_t ranks) {
  if (ranks < 2) return 0;
  const double rest = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (collective) {
    case Collective::kAllReduce:
      // A reduce-scatter and an all-gather behind each other.
      return 2 * rest;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
      return rest;
    case Collective::kBroadcast:
    case Collective::kPermute:
      return 1;
  }
  return 0;
}

double BusBytes(Collective collective, int64_t ranks, double bytes) {
  return BusFactor(collective, ranks) * bytes;
}

}  // namespace ridgeline
