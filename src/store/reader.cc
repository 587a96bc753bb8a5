#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>

#include "base/text.h"
#include "store/results.h"

namespace ridgeline::store {
namespace {

Status CheckSchema(const Json& header, const std::string& where) {
  const std::string schema = StringOr(header, "schema");
  const size_t slash = schema.find('/');
  int major = 0;
  if (schema.substr(0, slash) == kSchemaName && slash != std::string::npos) {
    std::from_chars(schema.data() + slash + 1, schema.data() + schema.size(), major);
  }
  if (major < 1) {
    return Fail(Code::kInvalidArgument,
                fmt::format("not a ridgeline result file: line 1 has no \"schema\": \"{}/{}\"",
                            kSchemaName, kSchemaMajor),
                where);
  }
  if (major > kSchemaMajor) {
    return Fail(Code::kInvalidArgument,
                fmt::format("written by a newer ridgeline (schema {}); this one reads {}/{}",
                            Printable(schema), kSchemaName, kSchemaMajor),
                where, "read it with the newer program");
  }
  return {};
}

}  // namespace

Json MakeHeader(const Json& header) {
  Json line = {{"schema", fmt::format("{}/{}", kSchemaName, kSchemaMajor)}};
  for (const auto& [key, value] : header.items()) {
    if (key != "schema") line[key] = value;
  }
  return line;
}

Result<ResultFile> ReadResults(std::string_view text, std::string_view source_name) {
  ResultFile file;
  std::map<std::string, std::pair<size_t, int>> seen;  // id -> place in measurements, line
  bool header_read = false;
  int line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const bool whole = end != std::string_view::npos;
    const size_t next = whole ? end + 1 : text.size();
    const std::string_view line = text.substr(begin, (whole ? end : text.size()) - begin);
    const std::string where = fmt::format("{}:{}", source_name, ++line_number);
    begin = next;
    if (line.empty()) continue;

    const Result<Json> json = ParseJson(line);
    // A record is written with its newline in one go, so an unfinished one is what a kill left.
    if (!json && !whole && header_read) {
      file.notes.push_back(
          fmt::format("{}: half a line ({} bytes) dropped: the run was stopped "
                      "while writing it",
                      where, line.size()));
      break;
    }
    if (!json) return Fail(Code::kDataLoss, json.error().message, where);
    if (!header_read) {
      RL_CHECK_OK(CheckSchema(*json, where));
      file.header = *json;
      header_read = true;
    } else {
      Result<Measurement> measurement = MeasurementFromJson(*json);
      if (!measurement) return Fail(Code::kDataLoss, measurement.error().message, where);
      const auto [it, first] =
          seen.emplace(measurement->id, std::pair(file.measurements.size(), line_number));
      if (first) {
        file.measurements.push_back(std::move(*measurement));
      } else {
        file.notes.push_back(fmt::format("{}: measures {} again; the record of line {} is not used",
                                         where, Printable(measurement->id), it->second.second));
        it->second.second = line_number;
        file.measurements[it->second.first] = std::move(*measurement);
      }
    }
    file.whole_bytes = next;
    file.ends_in_newline = whole;
  }
  if (!header_read) {
    return Fail(Code::kInvalidArgument, "the file is empty: a result file begins with a header",
                std::string(source_name));
  }
  return file;
}

Result<ResultFile> LoadResults(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  std::string chunk(size_t{1} << 16, '\0');
  ssize_t n = fd < 0 ? -1 : 1;
  while (n > 0) {
    n = read(fd, chunk.data(), chunk.size());
    if (n > 0) text.append(chunk, 0, static_cast<size_t>(n));
  }
  const int error = errno;
  if (fd >= 0) close(fd);
  if (n < 0) {
    return Fail(error == ENOENT ? Code::kNotFound : Code::kUnavailable,
                fmt::format("cannot read the result file: {}", std::strerror(error)), path);
  }
  return ReadResults(text, path);
}

}  // namespace ridgeline::store
