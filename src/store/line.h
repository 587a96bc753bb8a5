// One line of a result file: a JSON object whose last member is the checksum of what stands before
// it, so that an edited or damaged line shows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace ridgeline::store {

struct SealedLine {
  std::string text;  // {…,"crc":"1a2b3c4d"}, no newline
  uint32_t crc = 0;
};

// `start` is the header's crc for a record, so that it belongs to that header; 0 for a header.
// `object` has at least one member.
SealedLine SealLine(const Json& object, uint32_t start = 0);

struct OpenedLine {
  Json json;  // without its "crc"
  enum class Seal {
    kNone,
    kOurs,
    kMoved,  // a "crc" that does not end the line: another program wrote the line anew
  } seal = Seal::kNone;
  uint32_t stated = 0;  // the crc that the line names,
  uint32_t actual = 0;  // and the one that it has
};

// An error when the line is no JSON.
Result<OpenedLine> OpenLine(std::string_view line, uint32_t start = 0);

}  // namespace ridgeline::store
