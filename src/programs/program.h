// A benchmark's program: StableHLO text, the Work of one iteration, the inputs, the known answer
// and what the audit expects. Pure data and pure functions: nothing here runs or times anything.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/shape.h"
#include "core/case.h"
#include "core/work.h"
#include "hlo/audit.h"

namespace ridgeline::programs {

// How the host makes an array's values. Every element is a pure function of (seed, stream, device,
// index), where stream is the array's position in Program::inputs.
enum class FillKind {
  kNormal,       // mean + scale * N(0, 1), no zeros or subnormals; integers: uniform in
                 // [-limit, limit]
  kIndex,        // uniform in [0, limit)
  kPermutation,  // a permutation of [0, elements)
  kZeros,
  kOnes,
};

struct Fill {
  FillKind kind = FillKind::kNormal;
  double scale = 1;
  int64_t limit = 4;
  bool same_on_all_devices = false;
  double mean = 0;  // of normal floats
};

struct TensorSpec {
  std::string name;
  Shape shape;
  Fill fill;
};

// Values of one input on one device, element by element or as a whole.
class InputSource {
 public:
  InputSource(const TensorSpec& spec, int stream, int device, uint64_t seed,
              std::string_view data_mode);
  // Already rounded to the array's dtype.
  double operator()(int64_t index) const;
  // Elements from `start` on; many times faster than one by one.
  void Read(int64_t start, std::span<double> out) const;
  HostTensor Materialize() const;
  // All values as double, for checkers that need them many times.
  std::vector<double> Values() const;

 private:
  struct Integers {
    int64_t lowest;
    int64_t count;
  };
  double FromNormal(double normal) const;
  bool IsNormal() const { return kind_ == FillKind::kNormal && IsFloat(spec_.shape.dtype); }
  // Of uniform integers.
  Integers Range() const;
  // Before rounding.
  double Exact(int64_t index) const;
  void ReadExact(int64_t start, std::span<double> out) const;

  TensorSpec spec_;
  FillKind kind_;
  double least_;  // magnitude of a normal value
  RandomStream random_;
  std::optional<Permutation> permutation_;
};

struct CheckResult {
  bool passed = false;
  std::string detail;  // what was compared, how many elements, worst error against its bound
};

// What a checker sees: one partition's outputs at a time, and every partition's inputs as
// functions.
class CheckInput {
 public:
  virtual ~CheckInput() = default;
  virtual InputSource Input(int partition, int input) const = 0;
  // The whole output array.
  virtual const HostTensor& Output(int partition, int output) const = 0;
  virtual int partitions() const = 0;
};
using Checker = std::function<CheckResult(const CheckInput&)>;

// A figure made from the time of one iteration: amount / time, or amount * factor / time.
struct RateSpec {
  std::string name;   // flops, useful_flops, hbm_bw, algbw, busbw, host_bw
  std::string unit;   // "FLOP/s", "B/s"
  double amount = 0;  // per iteration, in the scope of the case
};

// Host transfers have no program: the engine times `count` back-to-back transfers of distinct
// buffers.
enum class TransferDirection { kToDevice, kFromDevice, kBoth };
struct Transfer {
  TransferDirection direction = TransferDirection::kToDevice;
  Shape shape;
  std::string memory_kind;  // empty: the device's default memory
  std::string semantics;    // "during_call", "until_transfer_completes", "zero_copy"
};

enum class Repeat {
  kLoop,       // argument 0 is the trip count of a loop inside the program
  kCalls,      // the program is called that many times, back to back
  kTransfers,  // `transfer` is repeated
};

struct Program {
  Repeat repeat = Repeat::kLoop;
  std::string stablehlo;
  int partitions = 1;
  bool shardy = false;
  std::vector<TensorSpec> inputs;  // kLoop: arguments after the trip count, never donated
  std::vector<TensorSpec>
      carried;                 // kLoop: results of the op, donated and fed back; initial values
  std::vector<Shape> outputs;  // kLoop: the carried arrays; kCalls: results of @main
  Transfer transfer;

  DType dtype = DType::kF32;
  Scope scope = Scope::kDevice;
  Work work;                      // per device and iteration
  int64_t working_set_bytes = 0;  // arrays that one iteration touches, per device
  std::vector<RateSpec> rates;
  Checker check;  // empty: no known answer (imported programs)
  hlo::Expectation expected;
  std::vector<std::string> labels;  // shown with the figure, e.g. "3 arrays: a, b read, c written"

  // Bytes on one device while it runs.
  int64_t device_bytes() const;
};

}  // namespace ridgeline::programs
