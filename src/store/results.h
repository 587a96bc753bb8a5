// Result files: JSON Lines, append-only. Line 1 is the header, then one measurement a line; each
// ends in its checksum (docs/formats/result.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/measurement.h"

namespace ridgeline::store {

inline constexpr std::string_view kSchemaName = "ridgeline.result";
inline constexpr int kSchemaMajor = 1;
inline constexpr int kSchemaMinor = 1;  // 1: every line has a checksum

struct ResultFile {
  Json header = Json::object();
  std::vector<Measurement> measurements;  // no id twice
  std::vector<std::string> notes;         // what was dropped or cannot be vouched for, in words
  int dropped = 0;                        // lines that salvaging left out
  size_t whole_bytes = 0;                 // of the text, up to the end of the last whole record
  bool ends_in_newline = true;            // the text up to whole_bytes does
  uint32_t header_crc = 0;                // which the records' checksums go on from
};

enum class ReadMode {
  kStrict,   // what is damaged is an error
  kSalvage,  // what is damaged is left out, with a note
};

// A half last line, which a kill leaves, is dropped with a note in both modes. Damage is a line
// that is no record or has another checksum, a second record of one id, or a second header, which
// ends the good part. Errors and notes name the line. A header of another major version is always
// an error; a damaged one is not used when salvaging.
Result<ResultFile> ReadResults(std::string_view text, std::string_view source_name,
                               ReadMode mode = ReadMode::kStrict);
Result<ResultFile> LoadResults(const std::string& path);

// The text of a result file.
std::string FormatResults(const Json& header, std::span<const Measurement> measurements);

// The header line's "schema" with the caller's members after it.
Json MakeHeader(const Json& header);

struct ResumedFile;

// Holds the file open and locked, so that no two runs write one file.
class ResultWriter {
 public:
  // The file must not exist yet (a device such as /dev/null may). The header is on disk on return.
  static Result<ResultWriter> Create(const std::string& path, const Json& header);

  ResultWriter(ResultWriter&& other) noexcept;
  ResultWriter& operator=(ResultWriter&& other) noexcept;
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  ~ResultWriter();

  // The record is on disk when this returns without an error. After one, the file ends in the last
  // whole record still; the next Append tries again.
  Status Append(const Measurement& measurement);
  // Errors of the last writes that only show on closing.
  Status Close();
  const std::string& path() const { return path_; }

 private:
  friend Result<ResumedFile> ResumeWriter(const std::string& path);
  ResultWriter(std::string path, int fd, bool regular)
      : path_(std::move(path)), fd_(fd), regular_(regular) {}
  Status WriteLine(std::string line);

  std::string path_;
  int fd_ = -1;
  bool regular_ = true;  // false: a device, which has no length and cannot be synced
  uint32_t header_crc_ = 0;
};

struct ResumedFile {
  ResultWriter writer;
  ResultFile file;  // what it holds already
};

// Opens an existing file to go on with it; a half last line is cut off.
Result<ResumedFile> ResumeWriter(const std::string& path);

}  // namespace ridgeline::store
