// Short fingerprints of text: of programs, for seeds, and against damage. Not cryptographic.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridgeline {

// FNV-1a, 64 bits (Fowler, Noll, Vo).
constexpr uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ull;
  }
  return hash;
}

// CRC-32 as in zlib, gzip and PNG (ISO 3309; reflected polynomial 0xedb88320). `start` is the CRC
// of what comes before: Crc32(b, Crc32(a)) is that of a followed by b.
constexpr uint32_t Crc32(std::string_view text, uint32_t start = 0) {
  uint32_t crc = ~start;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

}  // namespace ridgeline
