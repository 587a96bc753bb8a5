// Result files: JSON Lines, append-only. Line 1 is the header, then one measurement a line
// (docs/formats/result.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/measurement.h"

namespace ridgeline::store {

inline constexpr std::string_view kSchemaName = "ridgeline.result";
inline constexpr int kSchemaMajor = 1;

struct ResultFile {
  Json header = Json::object();
  std::vector<Measurement> measurements;  // no id twice
  std::vector<std::string> notes;         // what was dropped or replaced, in words
  size_t whole_bytes = 0;                 // of the text, up to the end of the last whole record
  bool ends_in_newline = true;            // the text up to whole_bytes does
};

// A half last line is dropped with a note; of two records with one id the later wins, with a note.
// Anything else that is not a record is an error that names the line.
Result<ResultFile> ReadResults(std::string_view text, std::string_view source_name);
Result<ResultFile> LoadResults(const std::string& path);

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
};

struct ResumedFile {
  ResultWriter writer;
  ResultFile file;  // what it holds already
};

// Opens an existing file to go on with it; a half last line is cut off.
Result<ResumedFile> ResumeWriter(const std::string& path);

}  // namespace ridgeline::store
