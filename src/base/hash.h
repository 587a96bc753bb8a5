// A short fingerprint of text, for program identities and seeds. Not cryptographic.
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

}  // namespace ridgeline
