// What all collectives share: their parameters, sizes, attributes and rates.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/benchmark.h"
#include "benchmarks/movement_check.h"
#include "core/collective_bytes.h"
#include "programs/body.h"
#include "programs/loop.h"

namespace ridgeline::benchmarks {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

struct Message {
  DType dtype = DType::kF32;
  int64_t asked_bytes = 0;
  int64_t elements = 0;  // of S, rounded up to what the collective needs
  int64_t bytes() const { return DeviceBytes(dtype, elements); }
  double size() const { return static_cast<double>(bytes()); }
};

// `bytes` and `dtype`; `help` says what S is.
std::vector<ParamSpec> MessageParams(const std::string& help);
ParamSpec GroupParam();
ParamSpec DirectionParam();

// Rounds up to a multiple of `divisor` elements. kOutOfRange when the parameter asks for fewer
// bytes than that: the engine marks the case as skipped, with the minimum named.
Result<Message> ResolveMessage(const Params& params, int64_t divisor);
// The array of a message of `parts` parts: in rows of 128 when the parts are whole rows, else flat.
// A TPU keeps arrays in tiles of such rows; a flat one is taken apart around the collective, and a
// flat reduce-scatter becomes an all-reduce and a slice.
Shape MessageShape(const Message& message, int64_t parts);
Shape PartOf(Shape whole, int64_t parts);
// Groups of the parameter `group`. kFailedPrecondition when they have one member.
Result<std::vector<std::vector<int64_t>>> ResolveGroups(const Params& params, const Target& target);

// The group that holds `partition`, and its place there.
const std::vector<int64_t>& MembersWith(const std::vector<std::vector<int64_t>>& groups,
                                        int64_t partition);
int64_t RankIn(const std::vector<int64_t>& members, int64_t partition);

// Mesh positions of the parameters `source` and `target`. kFailedPrecondition when the mesh is too
// small.
std::vector<ParamSpec> EndpointParams();
Result<std::pair<int64_t, int64_t>> ResolveEndpoints(const Params& params, const Target& target);

// Attributes of a collective. Group ids are mesh positions, which are partition numbers. Handles
// start at 1 and differ between the collectives of one program.
std::string ChannelAttribute(int handle);
std::string GroupsAttribute(const std::vector<std::vector<int64_t>>& groups);
std::string PairsAttribute(const Pairs& pairs);
// `"stablehlo.NAME"(…) <{attributes}>`, with `region` (or "") after it.
programs::Value Collect(programs::Body& body, std::string_view name, const std::string& attributes,
                        const programs::Value& operand, Shape result,
                        const std::string& region = "");
// Region that adds two scalars.
std::string SumRegion(DType dtype);

// Fill of integers whose sum over `ranks` ranks stays in range.
programs::Fill SummableFill(DType dtype, int64_t ranks);

// A program over the whole mesh with everything but its text, rates, check and expected operations.
programs::Program NetworkProgram(const Target& target, const Message& message,
                                 std::vector<programs::TensorSpec> inputs,
                                 std::vector<programs::TensorSpec> carried);
// algbw, busbw and wire bytes of `messages` (1, or 2 for both ways) messages a round.
void SetRates(programs::Program& program, Collective collective, int64_t ranks,
              const Message& message, int messages = 1);

// What a permute along `pairs` leaves in `output` of `partition`: input number `output` of its
// source, or zeros.
std::vector<Piece> PiecesFrom(const Pairs& pairs, int partition, int output, int64_t elements);

// Output 0 of every member of a group holds the sum of all members' input 0.
struct SumCheck {
  std::vector<std::vector<int64_t>> groups;
  int64_t elements = 0;
  bool scattered = false;  // rank r holds the r-th part; else every rank holds all
  DType dtype = DType::kF32;
};
programs::CheckResult CheckSum(const SumCheck& check, const programs::CheckInput& input);

}  // namespace ridgeline::benchmarks
