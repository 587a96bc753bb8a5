#include "suite/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/text.h"

namespace ridgeline::suite {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr int kMaxNodes = 200'000;
constexpr int kMaxDepth = 16;

std::string At(std::string_view source, const YAML::Mark& mark) {
  if (mark.is_null()) return std::string(source);
  return fmt::format("{}:{}:{}", source, mark.line + 1, mark.column + 1);
}

// Remembers how far a document went.
class Probe : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { last_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { last_ = mark; }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { last_ = mark; }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    last_ = mark;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    last_ = mark;
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    last_ = mark;
  }
  void OnMapEnd() override {}
  const YAML::Mark& last() const { return last_; }

 private:
  YAML::Mark last_ = YAML::Mark::null_mark();
};

// YAML::Load drops whatever follows the first document, and YAML::LoadAll loops for ever on some
// of it (yaml-cpp 0.7), so the rest is looked for here.
Status CheckOneDocument(const std::string& text, std::string_view source) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Probe probe;
  if (!parser.HandleNextDocument(probe) || !parser) return {};
  return ridgeline::Fail(Code::kInvalidArgument,
                         "not valid YAML: the document ends here but more text follows; expected "
                         "one document",
                         At(source, probe.last()));
}

// Empty when the tree under `node` is within the bounds, else what is wrong.
std::string OutOfBounds(const YAML::Node& node, int depth, int& budget) {
  if (depth > kMaxDepth) return fmt::format("nested more than {} deep", kMaxDepth);
  if (--budget < 0) {
    return fmt::format("more than {} nodes once aliases are followed", kMaxNodes);
  }
  if (!node.IsSequence() && !node.IsMap()) return "";
  for (const auto& child : node) {
    const std::vector<YAML::Node> parts = node.IsMap()
                                              ? std::vector<YAML::Node>{child.first, child.second}
                                              : std::vector<YAML::Node>{YAML::Node(child)};
    for (const YAML::Node& part : parts) {
      std::string problem = OutOfBounds(part, depth + 1, budget);
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

}  // namespace

Result<YamlFile> YamlFile::Load(std::string_view text, std::string_view source) {
  YamlFile file;
  file.source_ = std::string(source);
  if (text.size() > kMaxBytes) {
    return ridgeline::Fail(
        Code::kInvalidArgument,
        fmt::format("the file has {} bytes; at most {} are read", text.size(), kMaxBytes),
        file.source_);
  }
  try {
    const std::string copy(text);
    RL_CHECK_OK(CheckOneDocument(copy, source));
    file.root_ = YAML::Load(copy);
    if (file.root_.IsNull()) {
      return ridgeline::Fail(Code::kInvalidArgument, "the file is empty", file.source_);
    }
    int budget = kMaxNodes;
    const std::string problem = OutOfBounds(file.root_, 0, budget);
    if (!problem.empty()) return ridgeline::Fail(Code::kInvalidArgument, problem, file.source_);
  } catch (const YAML::Exception& error) {
    return ridgeline::Fail(Code::kInvalidArgument, "not valid YAML: " + Printable(error.msg),
                           At(source, error.mark));
  }
  return file;
}

std::string YamlFile::Where(const YAML::Node& node) const { return At(source_, node.Mark()); }

tl::unexpected<Error> YamlFile::Fail(const YAML::Node& node, std::string message) const {
  return ridgeline::Fail(Code::kInvalidArgument, std::move(message), Where(node));
}

std::string Describe(const YAML::Node& node) {
  if (node.IsSequence()) return "a list";
  if (node.IsMap()) return "a mapping";
  if (!node.IsScalar()) return "empty";
  return fmt::format("'{}'", Printable(node.Scalar().substr(0, 200)));
}

Result<std::vector<YamlFile::Entry>> YamlFile::Entries(const YAML::Node& node,
                                                       std::string_view what) const {
  if (!node.IsMap()) {
    return Fail(
        node, fmt::format("{} is {}; expected a mapping of keys to values", what, Describe(node)));
  }
  std::vector<Entry> entries;
  for (const auto& child : node) {
    if (!child.first.IsScalar()) {
      return Fail(child.first,
                  fmt::format("a key of {} is {}; expected a name", what, Describe(child.first)));
    }
    const std::string& key = child.first.Scalar();
    if (std::ranges::any_of(entries, [&key](const Entry& entry) { return entry.key == key; })) {
      return Fail(child.first, fmt::format("key {} is given twice", Describe(child.first)));
    }
    entries.push_back({key, child.first, child.second});
  }
  return entries;
}

Result<std::vector<YAML::Node>> YamlFile::Items(const YAML::Node& node,
                                                std::string_view what) const {
  if (!node.IsSequence() || node.size() == 0) {
    return Fail(node, fmt::format("{} is {}; expected a list of at least one item", what,
                                  node.IsSequence() ? "an empty list" : Describe(node)));
  }
  std::vector<YAML::Node> items;
  for (const auto& child : node) items.push_back(child);
  return items;
}

Result<std::string> YamlFile::Text(const YAML::Node& node, std::string_view what) const {
  if (!node.IsScalar() || node.Scalar().empty()) {
    return Fail(node, fmt::format("{} is {}; expected text", what, Describe(node)));
  }
  return node.Scalar();
}

Result<double> YamlFile::Number(const YAML::Node& node, std::string_view what, double min,
                                double max, bool whole) const {
  double value = NAN;
  if (node.IsScalar()) {
    const std::string& text = node.Scalar();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) value = NAN;
  }
  // NaN fails every comparison.
  if (!(value >= min && value <= max) || (whole && value != std::floor(value))) {
    return Fail(node,
                fmt::format("{} is {}; expected a {}number from {} to {}", what, Describe(node),
                            whole ? "whole " : "", FormatNumber(min), FormatNumber(max)));
  }
  return value;
}

Status YamlFile::CheckVersion(const std::vector<Entry>& entries, int known) const {
  for (const Entry& entry : entries) {
    if (entry.key != "version") continue;
    RL_ASSIGN(const double version, Number(entry.value, "version", 1, 1e6, true));
    if (version > known) {
      return Fail(entry.value, fmt::format("version {} is newer than this program reads; expected "
                                           "{}",
                                           version, known));
    }
    return {};
  }
  return Fail(root_, fmt::format("'version' is missing; expected 'version: {}'", known));
}

}  // namespace ridgeline::suite
