// A compiled program (XLA HLO) as plain structs. hlo/reader.h makes one from the plugin's bytes;
// its names are printable ASCII then.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace ridgeline::hlo {

// XLA's PrimitiveType; only those that the code names. primitive.def has all.
inline constexpr int kTupleType = 13;
// "bf16" for 16; "type99" for a number that no XLA known to us uses.
std::string PrimitiveName(int primitive);
// Bits of an element of a type below one byte; 0 for all others.
int PackedBits(int primitive);
// The number of "bf16"; absent for what is no name.
std::optional<int> PrimitiveNumber(std::string_view name);

struct Shape {
  int primitive = 0;          // XLA's PrimitiveType number
  std::vector<int64_t> dims;  // arrays; each >= 0
  std::vector<Shape> tuple;   // elements of a tuple
  std::vector<int64_t> minor_to_major;
  int64_t element_bits = 0;  // layout's own element size (packed s4: 4); 0: the type's
  int64_t memory_space = 0;  // 0 is the device's default memory; on a TPU 1 is VMEM
  bool dynamic = false;      // a dimension (of an element) is an upper bound

  bool is_tuple() const { return primitive == kTupleType; }
  bool is_array() const;
  // Rank 0, pred or an integer: what loop counters are made of.
  bool is_scalar_integer() const;
  double elements() const;
  // Of an array, without padding; a tuple's are the sum over its elements.
  double bytes() const;
  std::string type_name() const { return PrimitiveName(primitive); }
  // "bf16[4,8]{1,0:S(1)}"
  std::string ToString() const;
};

struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
  int64_t window_dilation = 1;
  int64_t base_dilation = 1;
  bool reversal = false;
};

struct ConvolutionDimensions {
  int64_t input_batch = 0, input_feature = 0;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  int64_t output_batch = 0, output_feature = 0;
  std::vector<int64_t> input_spatial, kernel_spatial, output_spatial;
};

struct DotDimensions {
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};

// FftType's numbers.
enum class FftType { kFft = 0, kInverse = 1, kReal = 2, kInverseReal = 3 };

struct Instruction {
  int64_t id = 0;
  std::string name;
  std::string opcode;  // HLO's: "dot", "get-tuple-element", "all-reduce-start"
  Shape shape;
  std::vector<int64_t> operands;  // ids, in the same computation, defined before this one
  std::vector<int64_t> called;    // computation ids; `while`: body, condition
  std::string op_name;            // where the instruction comes from in the user's program

  int64_t parameter_number = 0;
  int64_t tuple_index = 0;
  std::vector<int64_t> dimensions;
  std::vector<WindowDimension> window;
  std::optional<ConvolutionDimensions> convolution;
  std::optional<DotDimensions> dot;
  int64_t feature_group_count = 1;
  int64_t batch_group_count = 1;
  std::string fusion_kind;  // kLoop, kInput, kOutput, kCustom
  std::string custom_call_target;
  std::string comparison_direction;  // EQ NE GE GT LE LT
  std::string backend_config;        // as it is in the file; usually JSON
  int64_t channel_id = 0;
  bool use_global_device_ids = false;
  std::vector<std::vector<int64_t>> groups;  // of a collective; empty: one group of all
  std::vector<std::pair<int64_t, int64_t>> source_target;
  std::optional<int64_t> integer;  // value of a scalar integer or pred constant
  FftType fft_type = FftType::kFft;
  std::vector<int64_t> fft_length;
  std::vector<int64_t> slice_strides;
  bool left_side = false;    // triangular-solve
  bool side_effect = false;  // a custom call that says so
  bool high_precision =
      false;  // a dot or convolution in several passes: HIGH, HIGHEST or an algorithm
  std::map<std::string, std::string, std::less<>> frontend_attributes;
  // Of all that the file states but name, operands, called computations and metadata: instructions
  // that agree in this too compute the same.
  uint64_t fingerprint = 0;
};

struct Computation {
  int64_t id = 0;
  std::string name;
  std::vector<Instruction> instructions;  // operands before users; the schedule where there is one
  int64_t root = 0;                       // instruction id
  bool is_fusion = false;

  // Defined for every id that an operand or `root` names.
  const Instruction& Get(int64_t instruction_id) const {
    return instructions[index_.at(instruction_id)];
  }
  const Instruction& Root() const { return Get(root); }

 private:
  friend struct Module;
  std::unordered_map<int64_t, size_t> index_;
};

struct Alias {
  std::vector<int64_t> output_index;  // path into the result tuple
  int64_t parameter = 0;
};

struct Module {
  std::string name;
  std::vector<Computation> computations;
  int64_t entry = 0;            // computation id
  std::vector<Alias> aliases;   // donated parameters
  std::vector<int64_t> donors;  // parameters whose memory any output may take
  bool scheduled = false;       // compiled: fusions and order are final
  int64_t partitions = 0;       // as HLO text states it; 0: not stated
  int64_t replicas = 0;
  std::map<std::string, std::string, std::less<>> frontend_attributes;

  const Computation& Get(int64_t computation_id) const {
    return computations[index_.at(computation_id)];
  }
  const Computation& Entry() const { return Get(entry); }

  // Checks every id and makes the look-ups; needed after any change. Afterwards operands precede
  // their users, a `while` has one operand and two computations, called computations exist and nest
  // at most kMaxNesting deep without a cycle.
  Status Link();
  static constexpr int kMaxNesting = 400;

 private:
  std::unordered_map<int64_t, size_t> index_;
};

// Computations that run in the place of `instruction`: of a fusion, call, while, conditional or
// async-start. Empty for the functions that reduce, sort and the like apply to elements, and for
// async-update and async-done, which name the computation of their async-start again.
std::span<const int64_t> RunsInPlace(const Instruction& instruction);

// The same, and the computation that a custom call carries as its own definition: libtpu hands work
// to the SparseCore so. Its result has the call's shape, which tells it from the functions of
// scalars (comparators) that other custom calls carry.
std::span<const int64_t> RunsOrDefines(const Module& module, const Instruction& instruction);

// Every computation that `from` reaches through any call, itself first, each once.
std::vector<const Computation*> Reachable(const Module& module, const Computation& from);

// all-reduce, all-gather …, also their -start forms.
bool IsCollective(const Instruction& instruction);
// "all-reduce" for "all-reduce-start".
std::string_view BaseOpcode(std::string_view opcode);

}  // namespace ridgeline::hlo
