// Machine: what a system gives. Every figure says where it comes from and what it speaks of; what
// is not known is absent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "core/case.h"
#include "core/work.h"

namespace ridgeline {

// nominal: the vendor's sheet; practical: what others reached, published; measured: by us, here.
enum class FigureKind { kNominal, kPractical, kMeasured };
std::string_view Name(FigureKind kind);
Result<FigureKind> ParseFigureKind(std::string_view text);

// Whether a figure of a link counts one direction or both added up.
enum class Direction { kOneWay, kBoth };
std::string_view Name(Direction direction);
Result<Direction> ParseDirection(std::string_view text);

// SI units without prefix: FLOP/s, B/s, B, s.
struct Figure {
  double value = 0;
  FigureKind kind = FigureKind::kNominal;
  std::string source = {};  // title of a document, or the id of the measured case
  std::string as_of = {};   // date of the document, or the result file
  Scope scope = Scope::kDevice;
  std::optional<Direction> direction = {};  // links only
  std::string note = {};
};

// The figure for one direction: half of one that counts both.
double OneWay(const Figure& figure);

enum class ComputeUnit { kMatrix, kVector, kTranscendental };
std::string_view Name(ComputeUnit unit);
Result<ComputeUnit> ParseComputeUnit(std::string_view text);

// Peak rates of one unit by dtype: HLO's names, and what HLO has no name for ("tf32", "f4").
// Transcendental rates count one an element.
using Peaks = std::map<std::string, Figure, std::less<>>;

struct MemoryLevel {
  std::string name = {};  // "hbm", "vmem", "l2", or the working sets of a measured plateau
  std::optional<Figure> capacity_bytes = {};
  std::map<Pattern, Figure> bytes_per_s = {};  // read plus written
  std::string note = {};                       // why a figure is absent
};

enum class Fabric {
  kTorus,   // neighbours have a link of their own; each axis in two directions
  kSwitch,  // any device reaches any other at its full rate
  kDcn,     // a network between hosts or slices
};
std::string_view Name(Fabric fabric);
Result<Fabric> ParseFabric(std::string_view text);

// One collective along one axis, measured: time = alpha + payload / bandwidth (core/alpha_beta.h).
struct CollectiveLaw {
  Figure alpha_s = {};
  Figure payload_bytes_per_s = {};
};

struct NetworkAxis {
  std::string name = {};
  std::optional<int64_t> size = {};  // devices along it; absent: any
  Fabric fabric = Fabric::kTorus;
  bool wrap = false;                            // torus: the last is a neighbour of the first
  std::optional<Figure> link_bytes_per_s = {};  // torus: one link; else: one device into the fabric
  std::optional<Figure> hop_s = {};             // latency of one step
  std::map<std::string, CollectiveLaw, std::less<>> laws = {};  // by collective
};

struct Price {
  double value = 0;
  std::string currency = {};
  std::string per = {};       // chip-hour, vm-hour, device-hour
  std::string includes = {};  // what the price covers, in words
  std::string source = {};
  std::string as_of = {};
};

struct Machine {
  std::string name = {};     // "tpu-v5e:4x4", or the result file's machine
  std::string title = {};    // for people
  int devices_per_chip = 1;  // PJRT devices
  std::optional<int64_t> devices =
      {};  // of the slice or run; absent: one chip, network not laid out
  std::map<ComputeUnit, Peaks> peaks = {};
  std::vector<MemoryLevel> memory = {};  // the device's main memory is named "hbm"
  std::vector<NetworkAxis> axes = {};
  std::optional<Figure> host_to_device = {};  // B/s, one way
  std::optional<Figure> device_to_host = {};
  std::optional<Figure> launch_s = {};  // from the host's call to the start of the program
  std::optional<Price> price = {};
  std::vector<std::string> notes = {};

  // nullptr when there is none; never a neighbour's.
  const Figure* Peak(ComputeUnit unit, std::string_view dtype) const;
  const MemoryLevel* Level(std::string_view level) const;
  const NetworkAxis* Axis(std::string_view axis) const;
  // What one device gets of a figure: a chip's is shared among its devices.
  double PerDevice(const Figure& figure) const;
  // One way B/s of one device over one link of the axis, or into its fabric.
  std::optional<double> LinkRate(const NetworkAxis& axis) const;
  // Bytes per second that one device can send along the axis: a ring sends in both directions, so
  // over two links. An axis of two is one link.
  std::optional<double> Egress(const NetworkAxis& axis) const;
};

Json ToJson(const Figure& figure);
Json ToJson(const Machine& machine);

}  // namespace ridgeline
