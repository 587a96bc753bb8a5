#include "benchmarks/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "programs/check.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Program;
using programs::TensorSpec;
using programs::Value;

// Result of adding integers in two's complement arithmetic of the dtype's width.
double Wrap(DType dtype, double sum) {
  const double range = std::ldexp(1.0, Info(dtype).bits);
  double value = std::fmod(sum, range);
  const bool is_signed = Info(dtype).kind == DTypeKind::kSigned;
  const double highest = is_signed ? range / 2 : range;
  if (value >= highest) value -= range;
  if (value < highest - range) value += range;
  return value;
}

// Rounding of n - 1 additions in any order and of the result: at most eps/2 * n * sum|x|, and by
// design.md's rule 8 * 2 eps * sqrt(n) * rms (values have rms 1), whichever is less.
double SumBound(DType dtype, int64_t ranks, double magnitude) {
  if (!IsFloat(dtype)) return 0;
  const double certain = Epsilon(dtype) / 2 * static_cast<double>(ranks) * magnitude;
  return std::min(certain, programs::DotBound(dtype, dtype, ranks, 1, 1));
}

}  // namespace

std::vector<ParamSpec> MessageParams(const std::string& help) {
  return {
      {.name = "bytes", .type = ParamType::kBytes, .fallback = int64_t{1} << 20, .help = help},
      {.name = "dtype",
       .type = ParamType::kDType,
       .fallback = std::string("f32"),
       .help = "element type",
       .allowed = {"s8", "s32", "u8", "u32", "f8e4m3fn", "f8e5m2", "bf16", "f16", "f32", "f64"}}};
}

ParamSpec GroupParam() {
  return {.name = "group",
          .type = ParamType::kText,
          .fallback = std::string("all"),
          .help = "who takes part: all, a mesh axis, axes joined by '+', or halves"};
}

ParamSpec DirectionParam() {
  return {.name = "direction",
          .type = ParamType::kText,
          .fallback = std::string("one_way"),
          .help = "one_way, or both_ways: a second message the other way in the same round",
          .allowed = {"one_way", "both_ways"}};
}

Result<Message> ResolveMessage(const Params& params, int64_t divisor) {
  Message message;
  message.dtype = params.Type("dtype");
  message.asked_bytes = params.Integer("bytes");
  const int64_t least = DeviceBytes(message.dtype, divisor);
  if (message.asked_bytes < least) {
    return Fail(Code::kOutOfRange,
                fmt::format("{} B of {} are too few: needs at least {} B on {} device{}",
                            message.asked_bytes, Name(message.dtype), least, divisor,
                            divisor == 1 ? "" : "s"));
  }
  const int64_t parts = (message.asked_bytes - 1) / least + 1;
  message.elements = parts * divisor;
  return message;
}

Result<std::vector<std::vector<int64_t>>> ResolveGroups(const Params& params,
                                                        const Target& target) {
  const std::string& group = params.Text("group");
  RL_ASSIGN(auto groups, target.mesh->Groups(group));
  if (groups.front().size() < 2) {
    return Fail(Code::kFailedPrecondition,
                fmt::format("needs 2 devices; group '{}' has 1", Printable(group)));
  }
  return groups;
}

const std::vector<int64_t>& MembersWith(const std::vector<std::vector<int64_t>>& groups,
                                        int64_t partition) {
  return *std::ranges::find_if(groups, [partition](const std::vector<int64_t>& group) {
    return std::ranges::find(group, partition) != group.end();
  });
}

Shape MessageShape(const Message& message, int64_t parts) {
  constexpr int64_t kLanes = 128;
  if (message.elements % (parts * kLanes) != 0) return {message.dtype, {message.elements}};
  return {message.dtype, {message.elements / kLanes, kLanes}};
}

Shape PartOf(Shape whole, int64_t parts) {
  whole.dims[0] /= parts;
  return whole;
}

int64_t RankIn(const std::vector<int64_t>& members, int64_t partition) {
  return std::ranges::find(members, partition) - members.begin();
}

std::vector<ParamSpec> EndpointParams() {
  return {{.name = "source",
           .fallback = int64_t{0},
           .help = "mesh position of the sender",
           .min = 0,
           .names_device = true},
          {.name = "target",
           .fallback = int64_t{1},
           .help = "mesh position of the receiver",
           .min = 0,
           .names_device = true}};
}

Result<std::pair<int64_t, int64_t>> ResolveEndpoints(const Params& params, const Target& target) {
  const int64_t from = params.Integer("source");
  const int64_t to = params.Integer("target");
  if (from == to) {
    return Fail(Code::kInvalidArgument,
                fmt::format("source and target are both mesh position {}", from));
  }
  const int64_t needed = std::max(from, to) + 1;
  if (needed > target.mesh->size()) {
    return Fail(Code::kFailedPrecondition,
                fmt::format("needs {} devices; the mesh has {}", needed, target.mesh->size()));
  }
  return std::pair{from, to};
}

std::string ChannelAttribute(int handle) {
  return fmt::format("channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>", handle);
}

std::string GroupsAttribute(const std::vector<std::vector<int64_t>>& groups) {
  std::vector<std::string> rows;
  for (const auto& group : groups) rows.push_back(fmt::format("[{}]", fmt::join(group, ", ")));
  return fmt::format("replica_groups = dense<[{}]> : tensor<{}x{}xi64>", fmt::join(rows, ", "),
                     groups.size(), groups.front().size());
}

std::string PairsAttribute(const Pairs& pairs) {
  std::vector<std::string> rows;
  for (const auto& [source, target] : pairs)
    rows.push_back(fmt::format("[{}, {}]", source, target));
  return fmt::format("source_target_pairs = dense<[{}]> : tensor<{}x2xi64>", fmt::join(rows, ", "),
                     pairs.size());
}

Value Collect(programs::Body& body, std::string_view name, const std::string& attributes,
              const Value& operand, Shape result, const std::string& region) {
  std::string text =
      fmt::format("\"stablehlo.{}\"({}) <{{{}}}>{} : ({}) -> {}", name, operand.name, attributes,
                  region, operand.shape.ToStableHlo(), result.ToStableHlo());
  return body.Define(std::move(text), std::move(result));
}

std::string SumRegion(DType dtype) {
  const std::string scalar = Shape{dtype, {}}.ToStableHlo();
  return fmt::format(
      " ({{\n        ^bb0(%x: {0}, %y: {0}):\n          %sum = stablehlo.add %x, %y : {0}\n"
      "          stablehlo.return %sum : {0}\n      }})",
      scalar);
}

programs::Fill SummableFill(DType dtype, int64_t ranks) {
  programs::Fill fill;
  const auto most = static_cast<int64_t>(std::min(MaxValue(dtype), 1e6));
  fill.limit = std::clamp<int64_t>(most / ranks, 1, fill.limit);
  return fill;
}

Program NetworkProgram(const Target& target, const Message& message, std::vector<TensorSpec> inputs,
                       std::vector<TensorSpec> carried) {
  Program program;
  program.partitions = static_cast<int>(target.mesh->size());
  program.dtype = message.dtype;
  // algbw and busbw are those of one rank, to be held against one device's links.
  program.scope = Scope::kDevice;
  program.inputs = std::move(inputs);
  program.carried = std::move(carried);
  for (const TensorSpec& spec : program.carried) program.outputs.push_back(spec.shape);
  program.working_set_bytes = program.device_bytes();
  program.work.hbm_bytes = static_cast<double>(program.working_set_bytes);
  program.expected.dtype = message.dtype;
  program.expected.moved_bytes = program.work.hbm_bytes;
  if (target.platform == "cpu") program.labels.emplace_back("shared memory, not a network");
  if (message.bytes() != message.asked_bytes) {
    program.labels.push_back(
        fmt::format("moved bytes: {} (asked {})", message.bytes(), message.asked_bytes));
  }
  return program;
}

void SetRates(Program& program, Collective collective, int64_t ranks, const Message& message,
              int messages) {
  const double bytes = message.size() * messages;
  program.work.wire_bytes = BusBytes(collective, ranks, bytes);
  program.rates = {{"algbw", "B/s", bytes}, {"busbw", "B/s", BusBytes(collective, ranks, bytes)}};
}

std::vector<Piece> PiecesFrom(const Pairs& pairs, int partition, int output, int64_t elements) {
  Piece piece{Piece::kZeros, output, 0, 0, elements};
  for (const auto& [source, target] : pairs) {
    if (target == partition) piece.partition = static_cast<int>(source);
  }
  return {piece};
}

programs::CheckResult CheckSum(const SumCheck& check, const programs::CheckInput& input) {
  // Outputs may be read from the device for every call of Output(): few and long chunks.
  constexpr int64_t kChunk = int64_t{1} << 23;
  programs::Comparison comparison("sum over the group, every element on every rank");
  std::vector<double> value;
  for (const auto& group : check.groups) {
    const auto ranks = static_cast<int64_t>(group.size());
    for (int64_t start = 0; start < check.elements; start += kChunk) {
      const int64_t end = std::min(start + kChunk, check.elements);
      value.resize(static_cast<size_t>(end - start));
      std::vector<double> sum(value.size());
      std::vector<double> magnitude(value.size());
      for (const int64_t member : group) {
        input.Input(static_cast<int>(member), 0).Read(start, value);
        for (size_t i = 0; i < value.size(); ++i) {
          sum[i] += value[i];
          magnitude[i] += std::fabs(value[i]);
        }
      }
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const int64_t part = check.elements / (check.scattered ? ranks : 1);
        const int64_t offset = check.scattered ? rank * part : 0;
        const int64_t first = std::max(start, offset);
        const int64_t count = std::min(end, offset + part) - first;
        if (count <= 0) continue;
        const auto member = group[static_cast<size_t>(rank)];
        const HostTensor& output = input.Output(static_cast<int>(member), 0);
        const auto actual = std::span(value).first(static_cast<size_t>(count));
        LoadElements(check.dtype, output.bytes.data(), first - offset, actual);
        const std::string where = fmt::format("device {} ", member);
        for (size_t i = 0; i < actual.size(); ++i) {
          const size_t at = static_cast<size_t>(first - start) + i;
          const double expected = IsFloat(check.dtype) ? sum[at] : Wrap(check.dtype, sum[at]);
          comparison.Expect(expected, actual[i], SumBound(check.dtype, ranks, magnitude[at]), where,
                            first - offset + static_cast<int64_t>(i));
        }
      }
    }
  }
  return comparison.Finish();
}

}  // namespace ridgeline::benchmarks
