// Counter-based random numbers: element i of a stream is a pure function of (seed, stream, i), so a
// checker regenerates any input element without holding the array.
#pragma once

#include <cstdint>
#include <span>

namespace ridgeline {

// SplitMix64's finaliser (Steele, Lea, Flood 2014): a bijection of 64 bits.
inline constexpr uint64_t kGamma = 0x9e3779b97f4a7c15ull;
constexpr uint64_t Mix64(uint64_t x) {
  x += kGamma;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

class RandomStream {
 public:
  RandomStream(uint64_t seed, uint64_t stream) : key_(Mix64(seed ^ Mix64(stream))) {}
  // SplitMix64 started at the stream's key.
  uint64_t Bits(int64_t index) const { return Mix64(key_ + static_cast<uint64_t>(index) * kGamma); }
  // Uniform in [0, 1).
  double Uniform(int64_t index) const { return static_cast<double>(Bits(index) >> 11) * 0x1p-53; }
  // Uniform in [0, limit).
  int64_t Below(int64_t index, int64_t limit) const {
    return static_cast<int64_t>(
        (static_cast<unsigned __int128>(Bits(index)) * static_cast<uint64_t>(limit)) >> 64);
  }
  // Standard normal, by interpolation in a table of quantiles; |value| <= 4.2, more than 2^30
  // distinct values.
  double Normal(int64_t index) const;
  // Normal(start), Normal(start + 1) …
  void Normals(int64_t start, std::span<double> out) const;

 private:
  uint64_t key_;
};

// A pseudo-random permutation of [0, size): a Feistel network with cycle walking.
class Permutation {
 public:
  Permutation(uint64_t seed, int64_t size);
  int64_t operator()(int64_t index) const;

 private:
  uint64_t seed_;
  int64_t size_;
  int half_bits_;
};

}  // namespace ridgeline
