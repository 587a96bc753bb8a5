#include "corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/collective_bytes.h"
#include "pjrt/program.h"

namespace ridgeline::tools {
namespace {

using hlo::Analysis;
using hlo::CollectiveUse;

Result<std::string> ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Code::kNotFound, "cannot be read", path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The first form of the program that is there.
std::string ProgramFile(const std::filesystem::path& folder, const std::string& name) {
  for (const char* const ending : {".mlir", ".mlirbc"}) {
    if (std::filesystem::exists(folder / (name + ending))) return name + ending;
  }
  return name + ".mlir";
}

// Integer arithmetic (indices, random bits) is in none of the known figures.
double FloatFlops(const Analysis& all) {
  double flops = 0;
  for (const auto& [type, count] : all.vector) {
    const bool integer = type.starts_with('s') || type.starts_with('u') || type == "pred";
    if (!integer) flops += count;
  }
  return flops;
}

// With dots or convolutions, the known figure is theirs. Else it is all floating-point arithmetic,
// or that of the one operation that its formula is about.
double InTermsOf(double known, bool products, const Analysis& all) {
  if (products) return all.matrix_flops();
  const double flops = FloatFlops(all);
  if (flops == known || known <= 0) return flops;
  for (const hlo::OpUse& use : all.ops) {
    if (std::abs(use.vector + use.matrix - known) < 1) return known;  // the index rounds N^3/3
  }
  return flops + all.matrix_flops();
}

void CheckFlops(const Json& known, const Json& conventions, const Analysis& all, CorpusRow& row) {
  row.known_flops = OptionalNumber(known, "analytic_flops");
  const bool products = OptionalNumber(known, "jaxpr_dot_conv_flops").value_or(0) > 0;
  row.flops = InTermsOf(row.known_flops.value_or(-1), products, all);
  if (!row.known_flops) return;
  row.flops_checked = true;
  double wanted = *row.known_flops;
  if (const Json* other = Member(conventions, row.name)) {
    wanted = OptionalNumber(*other, "flops").value_or(wanted);
    row.convention = StringOr(*other, "why");
  }
  row.flops_held = row.flops == wanted;
  if (row.flops_held) return;
  row.misses.push_back(fmt::format("flops: counted {:.0f}, known {:.0f}, ratio {:.6g}; formula: {}",
                                   row.flops, wanted, row.flops / wanted,
                                   StringOr(known, "analytic_flops_formula")));
}

// The index leaves small arrays (keys, tokens, norms) out of some of its bounds.
constexpr double kSmallArrays = 1.001;

void CheckBytes(const Json& known, const Json& conventions, const Analysis& all, CorpusRow& row) {
  row.known_bytes = OptionalNumber(known, "hbm_bytes_lower_bound").value_or(0);
  row.least_bytes = all.hbm.compulsory;
  row.fused_bytes = all.hbm.fused;
  row.most_bytes = all.hbm.unfused;
  if (const Json* other = Member(conventions, row.name)) {
    row.known_bytes = OptionalNumber(*other, "hbm_bytes_lower_bound").value_or(row.known_bytes);
  }
  row.bytes_held =
      row.least_bytes <= row.known_bytes * kSmallArrays && row.known_bytes <= row.most_bytes;
  if (!row.bytes_held) {
    row.misses.push_back(fmt::format("bytes: {:.0f} is not in {:.0f} .. {:.0f}; formula: {}",
                                     row.known_bytes, row.least_bytes, row.most_bytes,
                                     StringOr(known, "hbm_bytes_formula")));
  }
}

struct KnownCollective {
  std::string kind;
  std::optional<int64_t> group;
  double instructions = 0, executions = 0, bytes = 0;
};

// What XLA's partitioner made of it, where that was recorded, else what the author expects.
std::vector<KnownCollective> KnownCollectives(const Json& known) {
  std::vector<KnownCollective> out;
  if (const Json* seen = Member(known, "observed_collectives_after_partitioner_per_device")) {
    for (const Json& one : *seen) {
      const auto group = OptionalNumber(one, "group");
      out.push_back({StringOr(one, "kind"),
                     group ? std::optional(static_cast<int64_t>(*group)) : std::nullopt,
                     OptionalNumber(one, "static_ops").value_or(0),
                     OptionalNumber(one, "executions").value_or(0),
                     OptionalNumber(one, "bytes").value_or(0)});
    }
    return out;
  }
  if (const Json* expected = Member(known, "expected_collectives")) {
    for (const Json& one : *expected) {
      const auto bytes = OptionalNumber(one, "bytes_bf16");
      out.push_back({StringOr(one, "kind"), IntegerOr(one, "group"),
                     OptionalNumber(one, "count").value_or(0),
                     OptionalNumber(one, "count").value_or(0),
                     bytes ? *bytes : OptionalNumber(one, "bytes_f32").value_or(0)});
    }
  }
  return out;
}

// Ring algorithms, as the index states them.
double WireBytes(const KnownCollective& known) {
  const double ranks = static_cast<double>(known.group.value_or(1));
  const double rest = (ranks - 1) / ranks;
  if (known.kind == "collective-permute") return known.bytes;
  return known.kind == "all-reduce" ? 2 * rest * known.bytes : rest * known.bytes;
}

// The index does not tell groups of one size apart.
std::vector<CollectiveUse> ByKindAndSize(const std::vector<CollectiveUse>& uses) {
  std::vector<CollectiveUse> out;
  for (const CollectiveUse& use : uses) {
    if (!out.empty() && out.back().kind == use.kind && out.back().group_size == use.group_size) {
      out.back().instructions += use.instructions;
      out.back().executions += use.executions;
      out.back().payload_bytes += use.payload_bytes;
      out.back().wire_bytes += use.wire_bytes;
    } else {
      out.push_back(use);
    }
  }
  return out;
}

void CheckCollectives(const Json& known, const Analysis& device, CorpusRow& row) {
  std::vector<KnownCollective> left = KnownCollectives(known);
  row.wire_bytes = device.wire_bytes();
  const auto miss = [&](std::string text) {
    row.collectives_held = false;
    row.misses.push_back("collectives: " + std::move(text));
  };
  for (const CollectiveUse& use : ByKindAndSize(device.collectives)) {
    row.collectives += fmt::format("{}{}/{} x{:.0f}", row.collectives.empty() ? "" : ", ", use.kind,
                                   use.group_size, use.executions);
    const auto found = std::find_if(left.begin(), left.end(), [&](const KnownCollective& one) {
      return one.kind == use.kind && (!one.group || *one.group == use.group_size);
    });
    if (found == left.end()) {
      miss(fmt::format("{}/{} is not in the index", use.kind, use.group_size));
      continue;
    }
    const double wire = WireBytes(*found);
    if (found->instructions != use.instructions || found->executions != use.executions ||
        found->bytes != use.payload_bytes || std::abs(wire - use.wire_bytes) > 1e-12 * wire) {
      miss(
          fmt::format("{}/{}: counted {:.0f} instructions, {:.0f} executions, {:.0f} B, {:.0f} B "
                      "on the wire; known {:.0f}, {:.0f}, {:.0f}, {:.0f}",
                      use.kind, use.group_size, use.instructions, use.executions, use.payload_bytes,
                      use.wire_bytes, found->instructions, found->executions, found->bytes, wire));
    }
    left.erase(found);
  }
  for (const KnownCollective& one : left) {
    miss(fmt::format("{} in groups of {} is not found", one.kind, one.group.value_or(0)));
  }
}

CorpusRow CheckWorkload(const Json& known, const Json& conventions,
                        const std::filesystem::path& folder, const std::string& plugin) {
  CorpusRow row;
  row.name = StringOr(known, "name");
  row.file = ProgramFile(folder, row.name);
  const Result<std::string> bytes = ReadFile(folder / row.file);
  if (!bytes) {
    row.misses.push_back(bytes.error().ToString());
    return row;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto program = pjrt::ReadProgram(
      *bytes, {.plugin_path = plugin, .partitions = 0, .unknown_trips = std::nullopt});
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!program) {
    row.misses.push_back(program.error().ToString());
    return row;
  }
  if (program->devices != IntegerOr(known, "devices")) {
    row.misses.push_back(
        fmt::format("devices: {}, known {}", program->devices, IntegerOr(known, "devices")));
  }
  const Analysis& all = program->all ? *program->all : program->device;
  CheckFlops(known, conventions, all, row);
  CheckBytes(known, conventions, all, row);
  CheckCollectives(known, program->device, row);
  return row;
}

}  // namespace

Result<std::vector<CorpusRow>> CheckCorpus(const std::string& folder, const std::string& plugin,
                                           const std::string& only) {
  const std::filesystem::path path = folder;
  RL_ASSIGN(const std::string text, ReadFile(path / "index.json"));
  RL_ASSIGN(const Json index, ParseJson(text));
  const Json* workloads = Member(index, "workloads");
  if (workloads == nullptr || !workloads->is_array()) {
    return Fail(Code::kInvalidArgument, "has no list 'workloads'", (path / "index.json").string());
  }
  Json conventions = Json::object();
  if (std::filesystem::exists(path / "conventions.json")) {
    RL_ASSIGN(const std::string other, ReadFile(path / "conventions.json"));
    RL_ASSIGN(conventions, ParseJson(other));
  }
  std::vector<CorpusRow> rows;
  for (const Json& known : *workloads) {
    if (StringOr(known, "name").find(only) == std::string::npos) continue;
    rows.push_back(CheckWorkload(known, conventions, path, plugin));
  }
  return rows;
}

Json ToJson(const CorpusRow& row) {
  return {{"name", row.name},
          {"file", row.file},
          {"flops", Number(row.flops)},
          {"known_flops", Number(row.known_flops)},
          {"hbm_bytes",
           {{"compulsory", Number(row.least_bytes)},
            {"fused", Number(row.fused_bytes)},
            {"unfused", Number(row.most_bytes)},
            {"known_lower_bound", Number(row.known_bytes)}}},
          {"wire_bytes", Number(row.wire_bytes)},
          {"collectives", row.collectives},
          {"convention", row.convention},
          {"misses", row.misses},
          {"seconds", Number(row.seconds)}};
}

}  // namespace ridgeline::tools
