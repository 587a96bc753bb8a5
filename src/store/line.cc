#include "store/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"

namespace ridgeline::store {
namespace {

constexpr std::string_view kKey = ",\"crc\":\"";
constexpr size_t kDigits = 8;
constexpr std::string_view kEnd = "\"}";
constexpr size_t kSealSize = kKey.size() + kDigits + kEnd.size();

}  // namespace

SealedLine SealLine(const Json& object, uint32_t start) {
  std::string text = DumpLine(object);
  text.pop_back();  // the closing brace
  const uint32_t crc = Crc32(text, start);
  return {fmt::format("{}{}{:08x}{}", text, kKey, crc, kEnd), crc};
}

Result<OpenedLine> OpenLine(std::string_view line, uint32_t start) {
  OpenedLine opened;
  RL_ASSIGN(opened.json, ParseJson(line));
  if (!opened.json.is_object() || opened.json.erase("crc") == 0) return opened;
  const std::string_view body = line.substr(0, line.size() - std::min(line.size(), kSealSize));
  const std::string_view seal = line.substr(body.size());
  const char* const digits = seal.data() + kKey.size();
  const bool ours =
      seal.size() == kSealSize && seal.starts_with(kKey) && seal.ends_with(kEnd) &&
      std::from_chars(digits, digits + kDigits, opened.stated, 16).ptr == digits + kDigits;
  opened.seal = ours ? OpenedLine::Seal::kOurs : OpenedLine::Seal::kMoved;
  opened.actual = Crc32(body, start);
  return opened;
}

}  // namespace ridgeline::store
