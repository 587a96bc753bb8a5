#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "suite/precision_keys.h"
#include "suite/suite.h"
#include "suite/values.h"
#include "suite/yaml.h"

namespace ridgeline::suite {
namespace {

using benchmarks::Benchmark;
using Entry = YamlFile::Entry;

constexpr std::array<std::string_view, 3> kDataModes = {"normal", "zeros", "ones"};

const ParamSpec* FindParam(const Benchmark& benchmark, std::string_view name) {
  const auto it = std::ranges::find(benchmark.params, name, &ParamSpec::name);
  return it == benchmark.params.end() ? nullptr : &*it;
}

// What `defaults` gives to every case.
struct Defaults {
  Precision precision;
  std::string data_mode = "normal";
  std::vector<DeviceChoice> devices;
  std::vector<Entry> params;
};

class SuiteReader {
 public:
  SuiteReader(const YamlFile& file, std::span<const Benchmark> known, const ShapeTable& shapes)
      : file_(file), known_(known), shapes_(shapes) {}

  Result<Suite> Read(std::string_view source_name);

 private:
  Status ReadDefaults(const YAML::Node& node);
  Status ReadCase(const YAML::Node& node, std::vector<CaseTemplate>& out) const;
  Result<CaseTemplate> ReadCaseOf(const Benchmark& benchmark, const YAML::Node& node,
                                  const std::vector<Entry>& entries) const;
  Result<std::vector<const Benchmark*>> ReadBench(const YAML::Node& case_node,
                                                  const std::vector<Entry>& entries) const;
  Status ReadCaseKey(const Entry& entry, CaseTemplate& out) const;
  Result<std::string> ReadDataMode(const YAML::Node& node) const;
  Result<Axis> ReadShapesAxis(const Entry& entry, const Benchmark& benchmark) const;
  Result<Axis> ReadEachAxis(const Entry& entry, const Benchmark& benchmark) const;
  Status AddDefaultAxes(CaseTemplate& out) const;
  Status CheckWhole(const YAML::Node& node, const CaseTemplate& out) const;
  Status ReadPrecision(const Entry& entry, Precision& precision) const {
    const PrecisionKey& key = *FindPrecisionKey(entry.key);
    RL_ASSIGN(const double value, file_.Number(entry.value, fmt::format("'{}'", key.name), key.min,
                                               key.max, key.whole));
    key.set(precision, value);
    return {};
  }

  const YamlFile& file_;
  std::span<const Benchmark> known_;
  const ShapeTable& shapes_;
  Defaults defaults_;
};

Result<std::string> SuiteReader::ReadDataMode(const YAML::Node& node) const {
  RL_ASSIGN(std::string mode, file_.Text(node, "'data'"));
  if (std::ranges::find(kDataModes, mode) == kDataModes.end()) {
    return file_.Fail(node, UnknownName("data mode", mode, kDataModes));
  }
  return mode;
}

Status SuiteReader::ReadDefaults(const YAML::Node& node) {
  RL_ASSIGN(const auto entries, file_.Entries(node, "'defaults'"));
  for (const Entry& entry : entries) {
    if (FindPrecisionKey(entry.key) != nullptr) {
      RL_CHECK_OK(ReadPrecision(entry, defaults_.precision));
      continue;
    }
    if (entry.key == "data") {
      RL_ASSIGN(defaults_.data_mode, ReadDataMode(entry.value));
      continue;
    }
    if (entry.key == "devices") {
      RL_ASSIGN(defaults_.devices, ReadDevices(file_, entry.value));
      continue;
    }
    std::set<std::string_view> allowed = {"data", "devices"};
    for (const PrecisionKey& key : kPrecisionKeys) allowed.insert(key.name);
    for (const Benchmark& benchmark : known_) {
      for (const ParamSpec& spec : benchmark.params) allowed.insert(spec.name);
    }
    for (const std::string& name : SplitNames(entry.key)) {
      if (allowed.contains(name)) continue;
      return file_.Fail(entry.key_node,
                        UnknownName("key of 'defaults'", name,
                                    std::vector<std::string_view>(allowed.begin(), allowed.end())));
    }
    defaults_.params.push_back(entry);
  }
  return {};
}

Result<std::vector<const Benchmark*>> SuiteReader::ReadBench(
    const YAML::Node& case_node, const std::vector<Entry>& entries) const {
  const auto bench = std::ranges::find(entries, "bench", &Entry::key);
  if (bench == entries.end()) {
    return file_.Fail(case_node, "a case without 'bench'; expected the name of a benchmark");
  }
  std::vector<YAML::Node> items = {bench->value};
  if (bench->value.IsSequence()) {
    RL_ASSIGN(items, file_.Items(bench->value, "'bench'"));
  }
  std::vector<const Benchmark*> found;
  for (const YAML::Node& item : items) {
    RL_ASSIGN(const std::string name, file_.Text(item, "'bench'"));
    const auto it = std::ranges::find(known_, name, &Benchmark::name);
    if (it == known_.end()) {
      std::vector<std::string_view> names;
      for (const Benchmark& benchmark : known_) names.push_back(benchmark.name);
      return file_.Fail(item, UnknownName("benchmark", name, names));
    }
    found.push_back(&*it);
  }
  return found;
}

Result<Axis> SuiteReader::ReadShapesAxis(const Entry& entry, const Benchmark& benchmark) const {
  std::vector<YAML::Node> items = {entry.value};
  if (entry.value.IsSequence()) {
    RL_ASSIGN(items, file_.Items(entry.value, "'shapes'"));
  }
  Axis axis{file_.Where(entry.key_node), {}};
  for (const YAML::Node& item : items) {
    RL_ASSIGN(const std::string name, file_.Text(item, "'shapes'"));
    const auto list = shapes_.find(name);
    if (list == shapes_.end()) {
      std::vector<std::string_view> names;
      for (const auto& [known, shapes] : shapes_) names.push_back(known);
      return file_.Fail(item, UnknownName("list of shapes", name, names));
    }
    for (const NamedShape& shape : list->second) {
      Assignment assignment;
      for (const auto& [param, value] : shape.params) {
        const ParamSpec* spec = FindParam(benchmark, param);
        const Result<ParamValue> converted =
            spec == nullptr ? Fail(Code::kInvalidArgument,
                                   fmt::format("'{}' is no parameter of {}", param, benchmark.name))
                            : ConvertValue(*spec, value);
        if (!converted) {
          return file_.Fail(item, fmt::format("shape '{}' of list '{}': {}", shape.name, name,
                                              converted.error().message));
        }
        assignment[param] = *converted;
      }
      axis.alternatives.push_back(std::move(assignment));
    }
  }
  return axis;
}

Result<Axis> SuiteReader::ReadEachAxis(const Entry& entry, const Benchmark& benchmark) const {
  Axis axis{file_.Where(entry.key_node), {}};
  RL_ASSIGN(const auto items, file_.Items(entry.value, "'each'"));
  std::vector<std::string_view> names;
  for (const ParamSpec& spec : benchmark.params) names.push_back(spec.name);
  for (const YAML::Node& item : items) {
    Assignment assignment;
    RL_ASSIGN(const auto entries, file_.Entries(item, "an item of 'each'"));
    for (const Entry& param : entries) {
      std::vector<const ParamSpec*> specs;
      for (const std::string& name : SplitNames(param.key)) {
        specs.push_back(FindParam(benchmark, name));
        if (specs.back() == nullptr) {
          return file_.Fail(param.key_node,
                            UnknownName(benchmark.name + " parameter", name, names));
        }
      }
      if (!param.value.IsScalar()) {
        return file_.Fail(
            param.value, fmt::format("'{}' is {}; a value inside 'each' is a single one", param.key,
                                     Describe(param.value)));
      }
      RL_ASSIGN(const Axis values, ReadAxis(file_, param, specs, benchmark.uses_mesh));
      for (const auto& [name, value] : values.alternatives.front()) assignment[name] = value;
    }
    axis.alternatives.push_back(std::move(assignment));
  }
  return axis;
}

Status SuiteReader::ReadCaseKey(const Entry& entry, CaseTemplate& out) const {
  const Benchmark& benchmark = *out.benchmark;
  if (entry.key == "bench") return {};
  if (FindPrecisionKey(entry.key) != nullptr) return ReadPrecision(entry, out.precision);
  if (entry.key == "data") {
    RL_ASSIGN(out.data_mode, ReadDataMode(entry.value));
    return {};
  }
  if (entry.key == "devices") {
    if (benchmark.uses_mesh) {
      return file_.Fail(entry.key_node,
                        fmt::format("{} runs on the whole mesh; 'devices' is for benchmarks of one "
                                    "device, use 'group' here",
                                    benchmark.name));
    }
    RL_ASSIGN(out.devices, ReadDevices(file_, entry.value));
    return {};
  }
  if (entry.key == "pairs" && FindParam(benchmark, "source") && FindParam(benchmark, "target")) {
    if (!entry.value.IsScalar() ||
        (entry.value.Scalar() != "all" && entry.value.Scalar() != "neighbours")) {
      return file_.Fail(entry.value, fmt::format("'pairs' is {}; expected all or neighbours",
                                                 Describe(entry.value)));
    }
    out.pairs = entry.value.Scalar() == "all" ? Pairs::kAll : Pairs::kNeighbours;
    return {};
  }
  if (entry.key == "shapes" || entry.key == "each") {
    RL_ASSIGN(Axis axis, entry.key == "each" ? ReadEachAxis(entry, benchmark)
                                             : ReadShapesAxis(entry, benchmark));
    out.axes.push_back(std::move(axis));
    return {};
  }
  std::vector<const ParamSpec*> specs;
  for (const std::string& name : SplitNames(entry.key)) {
    specs.push_back(FindParam(benchmark, name));
    if (specs.back() != nullptr) continue;
    std::vector<std::string_view> allowed = {"bench", "each", "shapes", "devices", "data"};
    for (const ParamSpec& spec : benchmark.params) allowed.push_back(spec.name);
    for (const PrecisionKey& key : kPrecisionKeys) allowed.push_back(key.name);
    return file_.Fail(
        entry.key_node,
        UnknownName(fmt::format("key of a case of {}", benchmark.name), name, allowed));
  }
  RL_ASSIGN(Axis axis, ReadAxis(file_, entry, specs, benchmark.uses_mesh));
  out.axes.push_back(std::move(axis));
  return {};
}

// Whether every alternative of the axis sets `name`.
bool Sets(const Axis& axis, const std::string& name) {
  return std::ranges::all_of(axis.alternatives,
                             [&name](const Assignment& a) { return a.contains(name); });
}

// Defaults stand first, so that what the case itself says overrides them.
Status SuiteReader::AddDefaultAxes(CaseTemplate& out) const {
  std::vector<Axis> axes;
  for (const Entry& entry : defaults_.params) {
    std::vector<const ParamSpec*> specs;
    for (const std::string& name : SplitNames(entry.key)) {
      const ParamSpec* spec = FindParam(*out.benchmark, name);
      const bool given =
          std::ranges::any_of(out.axes, [&name](const Axis& axis) { return Sets(axis, name); });
      if (spec != nullptr && !given) specs.push_back(spec);
    }
    if (specs.empty()) continue;
    Result<Axis> axis = ReadAxis(file_, entry, specs, out.benchmark->uses_mesh);
    if (!axis) {
      axis.error().message +=
          fmt::format(" (default of the case of {} at {})", out.benchmark->name, out.where);
      return tl::unexpected(axis.error());
    }
    axes.push_back(std::move(*axis));
  }
  axes.insert(axes.end(), out.axes.begin(), out.axes.end());
  out.axes = std::move(axes);
  return {};
}

// What only the case as a whole shows: parameters given twice or not at all.
Status SuiteReader::CheckWhole(const YAML::Node& node, const CaseTemplate& out) const {
  std::map<std::string, const Axis*> given;
  for (const Axis& axis : out.axes) {
    std::set<std::string> names;
    for (const Assignment& assignment : axis.alternatives) {
      for (const auto& [name, value] : assignment) names.insert(name);
    }
    for (const std::string& name : names) {
      const auto [it, first] = given.emplace(name, &axis);
      if (first) continue;
      return Fail(Code::kInvalidArgument,
                  fmt::format("'{}' is given twice, here and at {}", name, it->second->where),
                  axis.where);
    }
    if (out.pairs != Pairs::kAsWritten && (names.contains("source") || names.contains("target"))) {
      return Fail(Code::kInvalidArgument,
                  "'pairs' gives source and target; leave them out beside it", axis.where);
    }
  }
  if (out.precision.max_blocks < out.precision.min_blocks) {
    return file_.Fail(node, fmt::format("max_blocks is {}, less than min_blocks {}",
                                        out.precision.max_blocks, out.precision.min_blocks));
  }
  return {};
}

Status SuiteReader::ReadCase(const YAML::Node& node, std::vector<CaseTemplate>& out) const {
  RL_ASSIGN(const auto entries, file_.Entries(node, "a case"));
  RL_ASSIGN(const auto benches, ReadBench(node, entries));
  for (const Benchmark* benchmark : benches) {
    RL_ASSIGN(CaseTemplate one, ReadCaseOf(*benchmark, node, entries));
    out.push_back(std::move(one));
  }
  return {};
}

Result<CaseTemplate> SuiteReader::ReadCaseOf(const Benchmark& benchmark, const YAML::Node& node,
                                             const std::vector<Entry>& entries) const {
  CaseTemplate out;
  out.benchmark = &benchmark;
  out.where = file_.Where(node);
  out.precision = defaults_.precision;
  out.data_mode = defaults_.data_mode;
  if (!out.benchmark->uses_mesh) out.devices = defaults_.devices;
  for (const Entry& entry : entries) RL_CHECK_OK(ReadCaseKey(entry, out));
  if (!out.benchmark->uses_mesh && out.devices.empty()) out.devices = {DeviceChoice{}};
  RL_CHECK_OK(CheckWhole(node, out));
  RL_CHECK_OK(AddDefaultAxes(out));
  for (const ParamSpec& spec : out.benchmark->params) {
    const bool of_pair =
        out.pairs != Pairs::kAsWritten && (spec.name == "source" || spec.name == "target");
    if (!spec.required || of_pair || std::ranges::any_of(out.axes, [&spec](const Axis& axis) {
          return Sets(axis, spec.name);
        })) {
      continue;
    }
    return file_.Fail(node, fmt::format("a case of {} needs '{}' ({})", out.benchmark->name,
                                        spec.name, spec.help));
  }
  return out;
}

Result<Suite> SuiteReader::Read(std::string_view source_name) {
  static constexpr std::array<std::string_view, 5> kKeys = {"version", "name", "description",
                                                            "defaults", "cases"};
  Suite suite;
  RL_ASSIGN(const auto entries, file_.Entries(file_.root(), "a suite"));
  RL_CHECK_OK(file_.CheckVersion(entries, 1));
  std::vector<YAML::Node> cases;
  for (const Entry& entry : entries) {
    if (entry.key == "name") {
      RL_ASSIGN(suite.name, file_.Text(entry.value, "'name'"));
    } else if (entry.key == "description") {
      RL_ASSIGN(suite.description, file_.Text(entry.value, "'description'"));
    } else if (entry.key == "defaults") {
      RL_CHECK_OK(ReadDefaults(entry.value));
    } else if (entry.key == "cases") {
      RL_ASSIGN(cases, file_.Items(entry.value, "'cases'"));
    } else if (entry.key != "version") {
      return file_.Fail(entry.key_node, UnknownName("key of a suite", entry.key, kKeys));
    }
  }
  if (cases.empty()) return file_.Fail(file_.root(), "'cases' is missing; expected a list");
  // Read after the defaults, wherever those stand in the file.
  for (const YAML::Node& node : cases) RL_CHECK_OK(ReadCase(node, suite.cases));
  if (suite.name.empty()) {
    std::string_view stem = source_name.substr(source_name.find_last_of('/') + 1);
    suite.name = std::string(stem.substr(0, stem.find_last_of('.')));
  }
  return suite;
}

}  // namespace

Result<Suite> ReadSuite(std::string_view text, std::string_view source_name,
                        std::span<const Benchmark> known, const ShapeTable& shapes) {
  RL_ASSIGN(const YamlFile file, YamlFile::Load(text, source_name));
  return SuiteReader(file, known, shapes).Read(source_name);
}

}  // namespace ridgeline::suite
