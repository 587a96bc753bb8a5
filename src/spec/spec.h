// Specs: what a system gives on paper, every figure with its source. Text -> Spec -> Machine; the
// format is docs/formats/spec.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/machine.h"

namespace ridgeline::spec {

struct SpecFigure {
  Figure figure = {};
  std::string confidence = {};   // official, official-derived, third-party
  std::string emulated_as = {};  // the dtype that it is computed in, when it is not native
  std::string hosts = {};        // dcn: the kind of host that has it
  std::vector<SpecFigure> alternatives = {};  // what other sources say
};

struct SpecLevel {
  std::string name = {};
  std::optional<SpecFigure> capacity_bytes = {};
  std::optional<SpecFigure> runtime_bytes = {};  // what the runtime reports
  std::optional<SpecFigure> bytes_per_s = {};
};

// Which axes of a slice of a torus close into rings (docs/formats/spec.md).
enum class WrapRule {
  kNever,
  kAxisOf16,  // an axis of exactly 16
  kCubesOf4,  // all axes, when each is a multiple of 4
  kFullPod,   // all axes, when the slice is the whole pod
};
std::string_view Name(WrapRule rule);

// Chips along each axis.
using Shape = std::vector<int64_t>;
std::string ToString(const Shape& shape);

struct SpecNetwork {
  Fabric fabric = Fabric::kTorus;
  int axes = 1;  // torus: how many
  std::optional<int64_t> links_per_chip = {};
  SpecFigure link = {};                      // torus: one link; switch: one chip into the switch
  std::optional<SpecFigure> core_link = {};  // between the devices of a chip
  std::optional<SpecFigure> hop = {};        // s
  WrapRule wrap = WrapRule::kNever;
  Shape pod = {};                  // the whole pod
  std::vector<Shape> shapes = {};  // slices that exist; kCubesOf4: besides the multiples of 4
  std::optional<int64_t> max_chips = {};  // of a pod, or behind one switch
};

struct SpecPrice {
  Price price = {};
  std::string terms = {};  // on-demand, 1y, spot …
  std::string region = {};
  std::string note = {};
};

// A rate that others have published.
struct Reached {
  std::string what = {};
  std::optional<double> value = {};
  std::optional<double> share = {};
  std::string of = {};  // what `share` is a share of
  std::string source = {};
  std::string note = {};
};

struct Spec {
  std::string name = {};
  std::string title = {};
  std::string vendor = {};
  std::string status = {};  // "" for what can be bought; else announced …
  std::vector<std::string> aliases = {};
  std::vector<std::string> device_kinds = {};  // of PJRT
  int devices_per_chip = 1;
  std::map<ComputeUnit, std::map<std::string, SpecFigure>> compute = {};
  std::vector<SpecLevel> memory = {};
  std::optional<SpecNetwork> network = {};
  std::vector<SpecFigure> dcn =
      {};  // one chip's share, by kind of host; the first is the usual one
  std::optional<int64_t> chips_per_host = {};
  std::string host_link_type = {};
  std::optional<SpecFigure> host_link = {};
  std::optional<SpecFigure> power_w = {};
  std::vector<SpecPrice> prices = {};  // the first is taken when none is given
  std::vector<Reached> reached = {};
  std::vector<std::string> notes = {};
};

// Errors name file:line:column. A figure without a source or a date, and a link without a
// direction, are errors.
Result<Spec> ReadSpec(std::string_view text, std::string_view file_name);

// The machine of a slice. `shape` empty: one chip whose network is not laid out, with one axis of
// any size for each fabric. Torus: chips along each axis; axes of one chip are left out. Switch:
// the number of chips, which fill whole switches. Emulated rates stay out: they are no roof.
// `slices` of that shape, a torus each, are joined by the data-centre network: axis "dcn", without
// a rate when the spec has none.
Result<Machine> MakeMachine(const Spec& spec, const Shape& shape, int64_t slices = 1);

// "tpu-v5e", "tpu-v5e:4x4" or "tpu-v5e:4x4,slices=2": name, shape, and how many of it.
struct Target {
  std::string name = {};
  Shape shape = {};
  int64_t slices = 1;
};
Result<Target> ParseTarget(std::string_view text);

// The specs that are compiled into the program.
Result<std::span<const Spec>> EmbeddedSpecs();
// By name or alias; the error names the nearest.
Result<const Spec*> FindSpec(std::span<const Spec> specs, std::string_view name);
// The spec that lists exactly this PJRT device kind, or nullptr: never by likeness, so that
// "H100 NVL" is not taken for an H100.
const Spec* MatchDeviceKind(std::span<const Spec> specs, std::string_view kind);

Json ToJson(const Spec& spec);

}  // namespace ridgeline::spec
