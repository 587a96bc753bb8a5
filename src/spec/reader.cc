#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "spec/fields.h"
#include "spec/shape.h"
#include "spec/spec.h"

namespace ridgeline::spec {
namespace {

using suite::YamlFile;

constexpr int kVersion = 1;
constexpr int64_t kMaxChips = 10'000'000;

constexpr std::array<std::string_view, 17> kFileKeys = {
    "version", "name",   "title",   "vendor",         "status",    "aliases",
    "sources", "dcn",    "compute", "chips_per_host", "host_link", "device_kinds",
    "memory",  "prices", "network", "power_w",        "reached"};
constexpr std::array<std::string_view, 10> kFigureKeys = {
    "value",      "kind", "scope",       "direction", "source",
    "confidence", "note", "emulated_as", "hosts",     "alternatives"};
constexpr std::array<std::string_view, 3> kConfidences = {"official", "official-derived",
                                                          "third-party"};
constexpr std::array<std::string_view, 3> kPer = {"chip-hour", "vm-hour", "device-hour"};
// Names of element types that StableHLO does not have, and "f8" for both of its 8-bit floats.
constexpr std::array<std::string_view, 5> kOtherTypes = {"f8", "f8fnuz", "tf32", "f6", "f4"};
constexpr std::array<std::string_view, 4> kWrapRules = {"never", "axis_of_16", "cubes_of_4",
                                                        "full_pod"};

struct Source {
  std::string title;
  std::string as_of;
};
using Sources = std::map<std::string, Source, std::less<>>;

// What a figure must say beside its value.
enum class Link { kNo, kYes };

class Reader {
 public:
  explicit Reader(const YamlFile& file) : file_(file) {}

  Result<Spec> Read();

 private:
  Status ReadNames(const Fields& fields);
  Status ReadSources(const YAML::Node& node);
  Result<Figure> ReadSource(const Fields& fields) const;
  Result<SpecFigure> ReadFigure(const YAML::Node& node, Dimension dimension, Link link) const;
  Result<std::optional<SpecFigure>> OptionalFigure(const Fields& fields, std::string_view key,
                                                   Dimension dimension,
                                                   Link link = Link::kNo) const;
  Status ReadCompute(const YAML::Node& node);
  Status ReadMemory(const YAML::Node& node);
  Status ReadNetwork(const YAML::Node& node);
  Status CheckShapes(const Fields& fields, const SpecNetwork& network) const;
  Status ReadHostSide(const Fields& fields);
  Result<SpecPrice> ReadPrice(const YAML::Node& node) const;
  Result<Reached> ReadReached(const YAML::Node& node) const;
  Result<std::string> OneOf(const Fields& fields, std::string_view key,
                            std::span<const std::string_view> allowed,
                            std::string_view fallback) const;

  const YamlFile& file_;
  Sources sources_;
  Spec spec_;
};

Result<std::string> Reader::OneOf(const Fields& fields, std::string_view key,
                                  std::span<const std::string_view> allowed,
                                  std::string_view fallback) const {
  if (!fields.Has(key) && !fallback.empty()) return std::string(fallback);
  RL_ASSIGN(std::string text, fields.Text(key));
  if (std::ranges::find(allowed, text) == allowed.end()) {
    return fields.Fail(key, UnknownName(key, Printable(text), allowed));
  }
  return text;
}

Status Reader::ReadNames(const Fields& fields) {
  RL_ASSIGN(spec_.name, fields.Text("name"));
  RL_ASSIGN(spec_.title, fields.TextOr("title", spec_.name));
  RL_ASSIGN(spec_.vendor, fields.TextOr("vendor", ""));
  RL_ASSIGN(spec_.status, fields.TextOr("status", ""));
  RL_ASSIGN(spec_.aliases, fields.TextsOr("aliases"));
  RL_ASSIGN(spec_.device_kinds, fields.TextsOr("device_kinds"));
  RL_ASSIGN(spec_.notes, fields.TextsOr("notes"));
  RL_ASSIGN(const std::optional<int64_t> devices, fields.Whole("devices_per_chip", 1, 64));
  spec_.devices_per_chip = static_cast<int>(devices.value_or(1));
  return {};
}

Status Reader::ReadSources(const YAML::Node& node) {
  static constexpr std::array<std::string_view, 3> kKeys = {"title", "where", "as_of"};
  RL_ASSIGN(const std::vector<YamlFile::Entry> entries, file_.Entries(node, "'sources'"));
  for (const YamlFile::Entry& entry : entries) {
    RL_ASSIGN(const Fields fields, Fields::Read(file_, entry.value, "a source", kKeys));
    Source source;
    RL_ASSIGN(source.title, fields.Text("title"));
    RL_ASSIGN(source.as_of, fields.Text("as_of"));
    sources_[entry.key] = std::move(source);
  }
  return {};
}

// Title and date of the sources that a figure names: the date is that of the first.
Result<Figure> Reader::ReadSource(const Fields& fields) const {
  RL_CHECK_OK(fields.Need("source"));
  RL_ASSIGN(const std::vector<std::string> names, fields.TextsOr("source"));
  if (names.empty()) return fields.Fail("source", "'source' names no source");
  std::vector<std::string_view> known;
  for (const auto& [name, source] : sources_) known.push_back(name);
  Figure figure;
  for (const std::string& name : names) {
    const auto it = sources_.find(name);
    if (it == sources_.end()) {
      return fields.Fail("source", UnknownName("source", Printable(name), known));
    }
    figure.source += (figure.source.empty() ? "" : "; ") + it->second.title;
    if (figure.as_of.empty()) figure.as_of = it->second.as_of;
  }
  return figure;
}

Result<SpecFigure> Reader::ReadFigure(const YAML::Node& node, Dimension dimension,
                                      Link link) const {
  RL_ASSIGN(const Fields fields, Fields::Read(file_, node, "a figure", kFigureKeys));
  SpecFigure read;
  RL_ASSIGN(read.figure, ReadSource(fields));
  RL_ASSIGN(read.figure.value, fields.Quantity("value", dimension));
  RL_ASSIGN(
      const std::string kind,
      OneOf(fields, "kind", std::array<std::string_view, 2>{"nominal", "practical"}, "nominal"));
  RL_ASSIGN(read.figure.kind, ParseFigureKind(kind));
  RL_ASSIGN(const std::string scope,
            OneOf(fields, "scope", std::array<std::string_view, 2>{"chip", "device"}, "chip"));
  read.figure.scope = scope == "chip" ? Scope::kChip : Scope::kDevice;
  RL_ASSIGN(read.figure.note, fields.TextOr("note", ""));
  RL_ASSIGN(read.confidence, OneOf(fields, "confidence", kConfidences, "third-party"));
  RL_ASSIGN(read.emulated_as, fields.TextOr("emulated_as", ""));
  RL_ASSIGN(read.hosts, fields.TextOr("hosts", ""));
  if (link == Link::kYes && !fields.Has("direction")) {
    return file_.Fail(node,
                      "a link's figure has no 'direction': 900 GB/s may be one way or both ways "
                      "added up; expected 'direction: one_way' or 'direction: both'");
  }
  if (fields.Has("direction")) {
    RL_ASSIGN(const std::string direction, fields.Text("direction"));
    const Result<Direction> parsed = ParseDirection(direction);
    if (!parsed) return fields.Fail("direction", parsed.error().message);
    read.figure.direction = *parsed;
  }
  if (const YAML::Node* others = fields.Find("alternatives")) {
    RL_ASSIGN(const std::vector<YAML::Node> items, file_.Items(*others, "'alternatives'"));
    for (const YAML::Node& item : items) {
      RL_ASSIGN(SpecFigure other, ReadFigure(item, dimension, link));
      read.alternatives.push_back(std::move(other));
    }
  }
  return read;
}

Result<std::optional<SpecFigure>> Reader::OptionalFigure(const Fields& fields, std::string_view key,
                                                         Dimension dimension, Link link) const {
  const YAML::Node* node = fields.Find(key);
  if (node == nullptr) return std::optional<SpecFigure>();
  RL_ASSIGN(SpecFigure figure, ReadFigure(*node, dimension, link));
  return std::optional(std::move(figure));
}

Status Reader::ReadCompute(const YAML::Node& node) {
  std::vector<std::string_view> types(kOtherTypes.begin(), kOtherTypes.end());
  for (const DTypeInfo& info : AllDTypes()) types.push_back(info.name);
  RL_ASSIGN(const std::vector<YamlFile::Entry> units, file_.Entries(node, "'compute'"));
  for (const YamlFile::Entry& unit : units) {
    const Result<ComputeUnit> parsed = ParseComputeUnit(unit.key);
    if (!parsed) return file_.Fail(unit.key_node, parsed.error().message);
    RL_ASSIGN(const std::vector<YamlFile::Entry> rates, file_.Entries(unit.value, unit.key));
    for (const YamlFile::Entry& rate : rates) {
      if (std::ranges::find(types, rate.key) == types.end()) {
        return file_.Fail(rate.key_node, UnknownName("dtype", Printable(rate.key), types));
      }
      RL_ASSIGN(SpecFigure figure, ReadFigure(rate.value, Dimension::kFlopsPerSecond, Link::kNo));
      // One figure on a sheet for both of HLO's 8-bit floats.
      const std::vector<std::string> names =
          rate.key == "f8"       ? std::vector<std::string>{"f8e4m3fn", "f8e5m2"}
          : rate.key == "f8fnuz" ? std::vector<std::string>{"f8e4m3fnuz", "f8e5m2fnuz"}
                                 : std::vector<std::string>{rate.key};
      for (const std::string& name : names) spec_.compute[*parsed].insert_or_assign(name, figure);
    }
  }
  return {};
}

Status Reader::ReadMemory(const YAML::Node& node) {
  static constexpr std::array<std::string_view, 3> kKeys = {"capacity_bytes", "runtime_bytes",
                                                            "bytes_per_s"};
  RL_ASSIGN(const std::vector<YamlFile::Entry> levels, file_.Entries(node, "'memory'"));
  for (const YamlFile::Entry& entry : levels) {
    RL_ASSIGN(const Fields fields, Fields::Read(file_, entry.value, "a memory level", kKeys));
    SpecLevel level{
        .name = entry.key, .capacity_bytes = {}, .runtime_bytes = {}, .bytes_per_s = {}};
    RL_ASSIGN(level.capacity_bytes, OptionalFigure(fields, "capacity_bytes", Dimension::kBytes));
    RL_ASSIGN(level.runtime_bytes, OptionalFigure(fields, "runtime_bytes", Dimension::kBytes));
    RL_ASSIGN(level.bytes_per_s, OptionalFigure(fields, "bytes_per_s", Dimension::kBytesPerSecond));
    spec_.memory.push_back(std::move(level));
  }
  return {};
}

Status Reader::CheckShapes(const Fields& fields, const SpecNetwork& network) const {
  const auto fits = [&network](const Shape& shape) {
    return shape.size() == static_cast<size_t>(network.axes);
  };
  for (const Shape& shape : network.shapes) {
    if (!fits(shape)) {
      return fields.Fail(
          "shapes", fmt::format("shape {} does not have {} axes", ToString(shape), network.axes));
    }
  }
  if (network.wrap == WrapRule::kFullPod && !fits(network.pod)) {
    return fields.Fail("pod", fmt::format("'wrap: full_pod' needs 'pod' with {} axes, such as "
                                          "16x16",
                                          network.axes));
  }
  return {};
}

Status Reader::ReadNetwork(const YAML::Node& node) {
  static constexpr std::array<std::string_view, 10> kKeys = {
      "fabric", "axes", "links_per_chip", "link_bytes_per_s", "core_link_bytes_per_s", "hop_s",
      "wrap",   "pod",  "shapes",         "max_chips"};
  RL_ASSIGN(const Fields fields, Fields::Read(file_, node, "'network'", kKeys));
  SpecNetwork network;
  RL_ASSIGN(const std::string fabric,
            OneOf(fields, "fabric", std::array<std::string_view, 2>{"torus", "switch"}, ""));
  RL_ASSIGN(network.fabric, ParseFabric(fabric));
  RL_ASSIGN(const std::optional<int64_t> axes, fields.Whole("axes", 1, 3));
  if (network.fabric == Fabric::kTorus && !axes) {
    return fields.Fail("axes", "a torus needs 'axes', from 1 to 3");
  }
  network.axes = static_cast<int>(axes.value_or(1));
  RL_ASSIGN(network.links_per_chip, fields.Whole("links_per_chip", 1, 1000));
  RL_ASSIGN(network.max_chips, fields.Whole("max_chips", 1, kMaxChips));
  RL_ASSIGN(const YAML::Node link, fields.Need("link_bytes_per_s"));
  RL_ASSIGN(network.link, ReadFigure(link, Dimension::kBytesPerSecond, Link::kYes));
  RL_ASSIGN(network.core_link, OptionalFigure(fields, "core_link_bytes_per_s",
                                              Dimension::kBytesPerSecond, Link::kYes));
  RL_ASSIGN(network.hop, OptionalFigure(fields, "hop_s", Dimension::kSeconds));
  RL_ASSIGN(const std::string wrap, OneOf(fields, "wrap", kWrapRules, "never"));
  network.wrap = static_cast<WrapRule>(std::ranges::find(kWrapRules, wrap) - kWrapRules.begin());
  if (fields.Has("pod")) {
    RL_ASSIGN(const std::string pod, fields.Text("pod"));
    const Result<Shape> shape = ParseShape(pod);
    if (!shape) return fields.Fail("pod", shape.error().message);
    network.pod = *shape;
  }
  RL_ASSIGN(const std::vector<std::string> shapes, fields.TextsOr("shapes"));
  for (const std::string& text : shapes) {
    const Result<Shape> shape = ParseShape(text);
    if (!shape) return fields.Fail("shapes", shape.error().message);
    network.shapes.push_back(*shape);
  }
  RL_CHECK_OK(CheckShapes(fields, network));
  spec_.network = std::move(network);
  return {};
}

Status Reader::ReadHostSide(const Fields& fields) {
  static constexpr std::array<std::string_view, 2> kKeys = {"type", "bytes_per_s"};
  RL_ASSIGN(spec_.chips_per_host, fields.Whole("chips_per_host", 1, 1000));
  RL_ASSIGN(spec_.power_w, OptionalFigure(fields, "power_w", Dimension::kWatts));
  if (const YAML::Node* dcn = fields.Find("dcn")) {
    RL_ASSIGN(const std::vector<YAML::Node> items, file_.Items(*dcn, "'dcn'"));
    for (const YAML::Node& item : items) {
      RL_ASSIGN(SpecFigure figure, ReadFigure(item, Dimension::kBytesPerSecond, Link::kYes));
      spec_.dcn.push_back(std::move(figure));
    }
  }
  if (const YAML::Node* link = fields.Find("host_link")) {
    RL_ASSIGN(const Fields of_link, Fields::Read(file_, *link, "'host_link'", kKeys));
    RL_ASSIGN(spec_.host_link_type, of_link.TextOr("type", ""));
    RL_ASSIGN(spec_.host_link,
              OptionalFigure(of_link, "bytes_per_s", Dimension::kBytesPerSecond, Link::kYes));
  }
  return {};
}

Result<SpecPrice> Reader::ReadPrice(const YAML::Node& node) const {
  static constexpr std::array<std::string_view, 9> kKeys = {
      "value", "currency", "per", "includes", "terms", "region", "as_of", "source", "note"};
  RL_ASSIGN(const Fields fields, Fields::Read(file_, node, "a price", kKeys));
  SpecPrice read;
  RL_ASSIGN(const YAML::Node value, fields.Need("value"));
  RL_ASSIGN(read.price.value, file_.Number(value, "'value'", 0, 1e9, false));
  RL_ASSIGN(read.price.currency, fields.Text("currency"));
  RL_ASSIGN(read.price.per, OneOf(fields, "per", kPer, ""));
  RL_ASSIGN(read.price.includes, fields.Text("includes"));
  RL_ASSIGN(const Figure source, ReadSource(fields));
  read.price.source = source.source;
  RL_ASSIGN(read.price.as_of, fields.TextOr("as_of", source.as_of));
  RL_ASSIGN(read.terms, fields.TextOr("terms", ""));
  RL_ASSIGN(read.region, fields.TextOr("region", ""));
  RL_ASSIGN(read.note, fields.TextOr("note", ""));
  return read;
}

Result<Reached> Reader::ReadReached(const YAML::Node& node) const {
  static constexpr std::array<std::string_view, 6> kKeys = {"what", "value",  "share",
                                                            "of",   "source", "note"};
  RL_ASSIGN(const Fields fields, Fields::Read(file_, node, "an item of 'reached'", kKeys));
  Reached read;
  RL_ASSIGN(read.what, fields.Text("what"));
  if (const YAML::Node* value = fields.Find("value")) {
    RL_ASSIGN(read.value, file_.Number(*value, "'value'", 0, 1e30, false));
  }
  if (const YAML::Node* share = fields.Find("share")) {
    RL_ASSIGN(read.share, file_.Number(*share, "'share'", 0, 10, false));
  }
  if (!read.value && !read.share) {
    return file_.Fail(node, "an item of 'reached' has neither 'value' nor 'share'");
  }
  RL_ASSIGN(read.of, fields.TextOr("of", ""));
  RL_ASSIGN(const Figure source, ReadSource(fields));
  read.source = source.source;
  RL_ASSIGN(read.note, fields.TextOr("note", ""));
  return read;
}

Result<Spec> Reader::Read() {
  std::vector<std::string_view> keys(kFileKeys.begin(), kFileKeys.end());
  keys.insert(keys.end(), {"devices_per_chip", "notes"});
  RL_ASSIGN(const std::vector<YamlFile::Entry> entries, file_.Entries(file_.root(), "a spec"));
  RL_CHECK_OK(file_.CheckVersion(entries, kVersion));
  RL_ASSIGN(const Fields fields, Fields::Read(file_, file_.root(), "a spec", keys));
  RL_CHECK_OK(ReadNames(fields));
  RL_ASSIGN(const YAML::Node sources, fields.Need("sources"));
  RL_CHECK_OK(ReadSources(sources));
  if (const YAML::Node* node = fields.Find("compute")) RL_CHECK_OK(ReadCompute(*node));
  if (const YAML::Node* node = fields.Find("memory")) RL_CHECK_OK(ReadMemory(*node));
  if (const YAML::Node* node = fields.Find("network")) RL_CHECK_OK(ReadNetwork(*node));
  RL_CHECK_OK(ReadHostSide(fields));
  if (const YAML::Node* node = fields.Find("prices")) {
    RL_ASSIGN(const std::vector<YAML::Node> items, file_.Items(*node, "'prices'"));
    for (const YAML::Node& item : items) {
      RL_ASSIGN(SpecPrice price, ReadPrice(item));
      spec_.prices.push_back(std::move(price));
    }
  }
  if (const YAML::Node* node = fields.Find("reached")) {
    RL_ASSIGN(const std::vector<YAML::Node> items, file_.Items(*node, "'reached'"));
    for (const YAML::Node& item : items) {
      RL_ASSIGN(Reached reached, ReadReached(item));
      spec_.reached.push_back(std::move(reached));
    }
  }
  return std::move(spec_);
}

}  // namespace

std::string_view Name(WrapRule rule) { return kWrapRules[static_cast<size_t>(rule)]; }

Result<Spec> ReadSpec(std::string_view text, std::string_view file_name) {
  RL_ASSIGN(const YamlFile file, YamlFile::Load(text, file_name));
  return Reader(file).Read();
}

}  // namespace ridgeline::spec
