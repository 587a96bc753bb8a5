// Suite files: text -> Suite -> Cases. The format is docs/formats/suite.md.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "benchmarks/benchmark.h"
#include "core/case.h"
#include "core/mesh.h"

namespace ridgeline::suite {

inline constexpr int64_t kMaxCases = 100'000;

// Values of some parameters of one case.
using Assignment = std::map<std::string, ParamValue>;

// Named lists of parameter maps, such as the GEMMs of a model (data/shapes/*.yaml).
struct NamedShape {
  std::string name;
  Assignment params;
};
using ShapeTable = std::map<std::string, std::vector<NamedShape>, std::less<>>;

Result<ShapeTable> ReadShapes(std::string_view text, std::string_view source_name);

// One dimension of a sweep: a case takes one of the alternatives.
struct Axis {
  std::string where;  // file:line:column, as everywhere below
  std::vector<Assignment> alternatives;
};

struct DeviceChoice {
  enum class Kind { kOne, kEach, kAll };
  Kind kind = Kind::kOne;
  int device = 0;  // of kOne
  std::string where;
};

// Source and target of a point-to-point benchmark: as written, every ordered pair, or each
// position and the next one around the ring.
enum class Pairs { kAsWritten, kAll, kNeighbours };

struct CaseTemplate {
  const benchmarks::Benchmark* benchmark = nullptr;  // into the span that ReadSuite was given
  std::string where;
  std::vector<Axis> axes;  // first is outermost
  std::vector<DeviceChoice> devices;
  Pairs pairs = Pairs::kAsWritten;
  Precision precision;
  std::string data_mode = "normal";
};

struct Suite {
  std::string name;
  std::string description;
  std::vector<CaseTemplate> cases;
};

Result<Suite> ReadSuite(std::string_view text, std::string_view source_name,
                        std::span<const benchmarks::Benchmark> known, const ShapeTable& shapes);

struct PrecisionOverride {
  std::optional<double> relative_half_width = {};
  std::optional<int> min_blocks = {};
  std::optional<int> max_blocks = {};
  std::optional<int> passes = {};
  std::optional<double> block_seconds = {};
  std::optional<double> time_limit_s = {};
};

struct ExpandOptions {
  Mesh mesh;
  int device_count = 1;
  std::set<Component> only;  // empty: all
  std::string filter;  // with * or ?: a pattern for the whole id; else a part of it; empty: all
  PrecisionOverride precision;
};

// Cases in the order network, compute, hbm, host, attention, imported; within a component in the
// file's order; no id twice. Never empty: a filter that matches nothing is kNotFound.
Result<std::vector<Case>> ExpandSuite(const Suite& suite, const ExpandOptions& options);

// Whether `id` passes ExpandOptions::filter.
bool MatchesFilter(std::string_view filter, std::string_view id);

// The suites and shapes that are compiled into the program.
std::vector<std::string_view> ListEmbeddedSuites();
// Text of suite NAME; the error names the nearest one.
Result<std::string_view> FindEmbeddedSuite(std::string_view name);
Result<ShapeTable> EmbeddedShapes();

}  // namespace ridgeline::suite
