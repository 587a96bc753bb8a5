#include "base/random.h"

#include <array>
#include <bit>
#include <cmath>

namespace ridgeline {
namespace {

constexpr int kTableBits = 12;
constexpr int kTableSize = 1 << kTableBits;

// Quantile of the standard normal by bisection on erfc: exact to double, run once.
double NormalQuantile(double p) {
  double lo = -9;
  double hi = 9;
  for (int i = 0; i < 80; ++i) {
    const double mid = 0.5 * (lo + hi);
    (0.5 * std::erfc(-mid / std::sqrt(2.0)) < p ? lo : hi) = mid;
  }
  return 0.5 * (lo + hi);
}

const std::array<double, kTableSize + 1>& QuantileTable() {
  static const auto kTable = [] {
    std::array<double, kTableSize + 1> table{};
    for (int i = 0; i <= kTableSize; ++i) {
      const double p = i == 0            ? 0.25 / kTableSize
                       : i == kTableSize ? 1 - 0.25 / kTableSize
                                         : static_cast<double>(i) / kTableSize;
      table[static_cast<size_t>(i)] = NormalQuantile(p);
    }
    return table;
  }();
  return kTable;
}

double Interpolate(const std::array<double, kTableSize + 1>& table, uint64_t bits) {
  const auto cell = static_cast<size_t>(bits >> (64 - kTableBits));
  const double fraction = static_cast<double>((bits << kTableBits) >> 32) * 0x1p-32;
  return table[cell] + fraction * (table[cell + 1] - table[cell]);
}

}  // namespace

double RandomStream::Normal(int64_t index) const {
  return Interpolate(QuantileTable(), Bits(index));
}

void RandomStream::Normals(int64_t start, std::span<double> out) const {
  const auto& table = QuantileTable();
  for (double& value : out) value = Interpolate(table, Bits(start++));
}

Permutation::Permutation(uint64_t seed, int64_t size) : seed_(Mix64(seed)), size_(size) {
  const auto bits =
      static_cast<int>(std::bit_width(static_cast<uint64_t>(size > 1 ? size - 1 : 1)));
  half_bits_ = (bits + 1) / 2;
}

int64_t Permutation::operator()(int64_t index) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  auto value = static_cast<uint64_t>(index);
  do {
    uint64_t left = value >> half_bits_;
    uint64_t right = value & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (Mix64(seed_ ^ (round << 56) ^ right) & mask);
      left = right;
      right = next;
    }
    value = (left << half_bits_) | right;
  } while (value >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(value);
}

}  // namespace ridgeline
