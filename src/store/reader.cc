#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>

#include "base/text.h"
#include "store/line.h"
#include "store/results.h"

namespace ridgeline::store {
namespace {

constexpr std::string_view kSalvageNext =
    "`ridgeline show FILE --salvage` uses the good part; `ridgeline export FILE --salvage --format "
    "jsonl` writes it as a result file";

struct Version {
  int major = 0;  // 0: not a version of ours
  int minor = 0;
};

Version ParseVersion(std::string_view schema) {
  const std::string prefix = fmt::format("{}/", kSchemaName);
  if (!schema.starts_with(prefix)) return {};
  Version version;
  const char* const end = schema.data() + schema.size();
  const char* rest = std::from_chars(schema.data() + prefix.size(), end, version.major).ptr;
  if (rest != end && *rest == '.') rest = std::from_chars(rest + 1, end, version.minor).ptr;
  return rest == end ? version : Version{};
}

class Reader {
 public:
  Reader(std::string_view source, ReadMode mode) : source_(source), mode_(mode) {}

  Result<ResultFile> Read(std::string_view text) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      whole_ = end < text.size();
      std::string_view line = text.substr(begin, end - begin);
      begin = end + (whole_ ? 1 : 0);
      ++number_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      RL_CHECK_OK(lines_ == 0 ? TakeHeader(line) : TakeRecord(line));
      if (ended_) break;
      file_.whole_bytes = begin;
      file_.ends_in_newline = whole_;
    }
    if (lines_ == 0) {
      return Fail(Code::kInvalidArgument, "the file is empty: a result file begins with a header",
                  std::string(source_));
    }
    Conclude();
    return std::move(file_);
  }

 private:
  std::string Where() const { return fmt::format("{}:{}", source_, number_); }

  Status TakeHeader(std::string_view line) {
    Result<OpenedLine> opened = OpenLine(line);
    if (!opened) return Fail(Code::kDataLoss, opened.error().message, Where());
    schema_ = StringOr(opened->json, "schema");
    version_ = ParseVersion(schema_);
    RL_CHECK_OK(CheckVersion());
    CountLine(*opened);
    file_.header_crc = opened->stated;
    file_.header = std::move(opened->json);
    const std::string damage = DamageOf(*opened);
    if (damage.empty()) return {};
    file_.header = {{"schema", schema_}};
    return Drop(damage);
  }

  Status CheckVersion() {
    if (version_.major < 1) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("not a ridgeline result file: line 1 has no \"schema\": \"{}/{}\"",
                              kSchemaName, kSchemaMajor),
                  Where());
    }
    if (version_.major > kSchemaMajor) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("written by a newer ridgeline (schema {}); this one reads {}/{}",
                              Printable(schema_), kSchemaName, kSchemaMajor),
                  Where(), "read it with the newer program");
    }
    if (version_.minor > kSchemaMinor) {
      file_.notes.push_back(fmt::format(
          "{}: written by a newer ridgeline (schema {}, this one knows {}/{}.{}): what it does not "
          "know is kept and not used",
          Where(), Printable(schema_), kSchemaName, kSchemaMajor, kSchemaMinor));
    }
    return {};
  }

  Status TakeRecord(std::string_view line) {
    Result<OpenedLine> opened = OpenLine(line, file_.header_crc);
    // A record is written with its newline in one go, so an unfinished one is what a kill left.
    if (!opened && !whole_) {
      file_.notes.push_back(
          fmt::format("{}: half a line ({} bytes) dropped: the run was stopped while writing it",
                      Where(), line.size()));
      ended_ = true;
      return {};
    }
    if (!opened) return Drop(opened.error().message);
    if (ParseVersion(StringOr(opened->json, "schema")).major > 0) {
      ended_ = true;
      return Drop("a second header: what follows is another result file");
    }
    if (const std::string damage = DamageOf(*opened); !damage.empty()) return Drop(damage);
    Result<Measurement> measurement = MeasurementFromJson(opened->json);
    if (!measurement) return Drop(measurement.error().message);
    const auto [it, first] = lines_of_.emplace(measurement->id, number_);
    if (!first) {
      return Drop(
          fmt::format("measures {} again, as line {} did", Printable(measurement->id), it->second));
    }
    CountLine(*opened);
    file_.measurements.push_back(std::move(*measurement));
    return {};
  }

  void CountLine(const OpenedLine& line) {
    ++lines_;
    unsealed_ += line.seal == OpenedLine::Seal::kNone ? 1 : 0;
  }

  // What is wrong with a line's checksum, in words; "" when nothing is.
  std::string DamageOf(const OpenedLine& line) const {
    switch (line.seal) {
      case OpenedLine::Seal::kMoved:
        return "its checksum does not end the line: another program wrote the line anew";
      case OpenedLine::Seal::kOurs:
        if (line.stated == line.actual) return "";
        return fmt::format(
            "its checksum is {:08x}, that of what it holds {:08x}: the line was edited or damaged, "
            "or comes from another file",
            line.stated, line.actual);
      case OpenedLine::Seal::kNone:
        break;
    }
    if (version_.minor < 1) return "";
    return fmt::format("it has no checksum, as every line of schema {} has: the line was edited",
                       Printable(schema_));
  }

  Status Drop(const std::string& why) {
    if (mode_ == ReadMode::kStrict) {
      return Fail(Code::kDataLoss, why, Where(), std::string(kSalvageNext));
    }
    file_.notes.push_back(fmt::format("{}: dropped: {}", Where(), why));
    ++file_.dropped;
    return {};
  }

  void Conclude() {
    if (unsealed_ > 0) {
      file_.notes.push_back(fmt::format(
          "{}: {} of {} lines have no checksum, as an older ridgeline (schema {}) wrote "
          "them: an edit of them would not show",
          source_, unsealed_, lines_, Printable(schema_)));
    }
    if (file_.dropped > 0) {
      file_.notes.push_back(fmt::format("{}: {} records salvaged, {} lines dropped", source_,
                                        file_.measurements.size(), file_.dropped));
    }
  }

  std::string_view source_;
  ReadMode mode_;
  ResultFile file_;
  std::map<std::string, int> lines_of_;  // by id
  std::string schema_;
  Version version_;
  bool ended_ = false;  // nothing after this line is of this run
  bool whole_ = true;   // the line at hand ends in a newline
  int number_ = 0;      // of the line at hand
  int lines_ = 0;       // taken
  int unsealed_ = 0;    // of them
};

}  // namespace

Json MakeHeader(const Json& header) {
  Json line = {{"schema", fmt::format("{}/{}.{}", kSchemaName, kSchemaMajor, kSchemaMinor)}};
  for (const auto& [key, value] : header.items()) {
    if (key != "schema") line[key] = value;
  }
  return line;
}

std::string FormatResults(const Json& header, std::span<const Measurement> measurements) {
  const SealedLine first = SealLine(MakeHeader(header));
  std::string text = first.text + "\n";
  for (const Measurement& m : measurements) text += SealLine(ToJson(m), first.crc).text + "\n";
  return text;
}

Result<ResultFile> ReadResults(std::string_view text, std::string_view source_name, ReadMode mode) {
  return Reader(source_name, mode).Read(text);
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
