// `ridgeline specs`: what systems give on paper, with the source of every figure.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/spec_choice.h"
#include "report/text.h"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string name;
  bool json = false;
};

std::string Cell(const std::optional<spec::SpecFigure>& figure, std::string_view unit) {
  return figure ? FormatRate(figure->figure.value, unit) : "-";
}

const spec::SpecFigure* RateOf(const spec::Spec& spec, ComputeUnit unit, const std::string& dtype) {
  const auto rates = spec.compute.find(unit);
  if (rates == spec.compute.end()) return nullptr;
  const auto rate = rates->second.find(dtype);
  return rate == rates->second.end() ? nullptr : &rate->second;
}

std::string LinkText(const spec::Spec& spec) {
  if (!spec.network) return "-";
  return fmt::format("{} {}", Name(spec.network->fabric),
                     FormatRate(OneWay(spec.network->link.figure), "B/s"));
}

std::string ListText(std::span<const spec::Spec> specs) {
  Table table({"spec", "bf16 a chip", "HBM", "memory", "link, one way", "devices a chip", ""},
              {false, true, true, true, true, true, false});
  for (const spec::Spec& spec : specs) {
    const spec::SpecFigure* bf16 = RateOf(spec, ComputeUnit::kMatrix, "bf16");
    const spec::SpecLevel* hbm = spec.memory.empty() ? nullptr : &spec.memory.front();
    table.Row({spec.name, bf16 ? FormatRate(bf16->figure.value, "FLOP/s") : "-",
               hbm ? Cell(hbm->bytes_per_s, "B/s") : "-",
               hbm && hbm->capacity_bytes
                   ? FormatBytes(static_cast<int64_t>(hbm->capacity_bytes->figure.value))
                   : "-",
               LinkText(spec), std::to_string(spec.devices_per_chip),
               spec.status.empty() ? spec.title : spec.title + " (" + spec.status + ")"});
  }
  return table.ToString() +
         "Rates are dense, nominal and for one chip; `ridgeline specs show NAME` "
         "gives the source of each.\n";
}

using Rows = std::vector<std::vector<std::string>>;

// One figure a row: value, scope, where it comes from, and what others say.
void AddRow(Rows& rows, const std::string& what, const spec::SpecFigure& figure,
            std::string_view unit) {
  const auto value = [unit](const Figure& f) {
    return unit == "B" ? FormatBytes(static_cast<int64_t>(f.value)) : FormatRate(f.value, unit);
  };
  std::string remarks = figure.figure.note;
  const auto add = [&remarks](const std::string& text) {
    remarks += (remarks.empty() ? "" : "; ") + text;
  };
  if (!figure.emulated_as.empty()) add("emulated as " + figure.emulated_as + ": no roof");
  if (!figure.hosts.empty()) add("of " + figure.hosts);
  for (const spec::SpecFigure& other : figure.alternatives) {
    add(fmt::format("{} says {}{}", other.figure.source, value(other.figure),
                    other.figure.kind == FigureKind::kPractical ? " (practical)" : ""));
  }
  rows.push_back({what, value(figure.figure),
                  figure.figure.direction ? fmt::format("{}, {}", Name(figure.figure.scope),
                                                        Name(*figure.figure.direction))
                                          : std::string(Name(figure.figure.scope)),
                  fmt::format("{} ({})", figure.figure.source, figure.figure.as_of), remarks});
}

void AddNetworkRows(Rows& rows, const spec::SpecNetwork& network) {
  AddRow(rows, fmt::format("{} link", Name(network.fabric)), network.link, "B/s");
  if (network.core_link) AddRow(rows, "link between a chip's devices", *network.core_link, "B/s");
  if (network.hop) {
    const Figure& hop = network.hop->figure;
    rows.push_back({"hop", FormatSeconds(hop.value), "", hop.source, hop.note});
  }
}

std::string ShowText(const spec::Spec& spec, int width) {
  std::string text = fmt::format("{}: {}{}\n", spec.name, spec.title,
                                 spec.status.empty() ? "" : " (" + spec.status + ")");
  text += report::Wrap(
      fmt::format("device kinds: {}; {} PJRT device{} a chip; also called: {}",
                  spec.device_kinds.empty() ? "none known"
                                            : fmt::format("{}", fmt::join(spec.device_kinds, ", ")),
                  spec.devices_per_chip, spec.devices_per_chip == 1 ? "" : "s",
                  spec.aliases.empty() ? "-" : fmt::format("{}", fmt::join(spec.aliases, ", "))),
      width, 2);
  text += "\n";
  Rows rows;
  for (const auto& [unit, rates] : spec.compute) {
    for (const auto& [dtype, rate] : rates) {
      AddRow(rows, fmt::format("{} {}, dense", Name(unit), dtype), rate, "FLOP/s");
    }
  }
  for (const spec::SpecLevel& level : spec.memory) {
    if (level.bytes_per_s) AddRow(rows, level.name, *level.bytes_per_s, "B/s");
    if (level.capacity_bytes) AddRow(rows, level.name + " capacity", *level.capacity_bytes, "B");
    if (level.runtime_bytes) {
      AddRow(rows, level.name + " as the runtime reports", *level.runtime_bytes, "B");
    }
  }
  if (spec.network) AddNetworkRows(rows, *spec.network);
  for (const spec::SpecFigure& dcn : spec.dcn) AddRow(rows, "between hosts", dcn, "B/s");
  if (spec.host_link) AddRow(rows, "host link, " + spec.host_link_type, *spec.host_link, "B/s");
  if (spec.power_w) AddRow(rows, "power", *spec.power_w, "W");
  text += report::FoldedTable({"figure", "value", "of", "source", "remarks"}, rows,
                              {false, true, false, false, false}, 3, width);
  if (!spec.prices.empty()) {
    Rows prices;
    for (const spec::SpecPrice& price : spec.prices) {
      prices.push_back({FormatNumber(price.price.value),
                        price.price.currency + " a " + price.price.per, price.terms, price.region,
                        price.price.includes,
                        fmt::format("{} ({})", price.price.source, price.price.as_of)});
    }
    text += "\n" + report::FoldedTable({"price", "", "terms", "region", "includes", "source"},
                                       prices, {true, false, false, false, false, false}, 4, width);
  }
  for (const std::string& note : spec.notes) text += "\n" + report::Wrap("- " + note, width, 2);
  return text;
}

// A slice's axes, so that its wraps are seen.
std::string SliceText(const Machine& machine) {
  std::string text = fmt::format("\nslice {}: {} devices\n", machine.name,
                                 machine.devices.value_or(machine.devices_per_chip));
  for (const NetworkAxis& axis : machine.axes) {
    text += fmt::format(
        "  {} = {}: {}{}, a device sends {}\n", axis.name, axis.size.value_or(0), Name(axis.fabric),
        axis.fabric == Fabric::kTorus ? axis.wrap ? " that wraps" : ", no wrap" : "",
        FormatRate(machine.Egress(axis).value_or(0), "B/s"));
  }
  return text;
}

Result<int> List(const Options& options) {
  RL_ASSIGN(const std::span<const spec::Spec> specs, spec::EmbeddedSpecs());
  if (!options.json) {
    Out(ListText(specs));
    return kExitOk;
  }
  Json list = Json::array();
  for (const spec::Spec& spec : specs) list.push_back(spec::ToJson(spec));
  Out(DumpPretty({{"schema", "ridgeline.specs/1"}, {"specs", list}}) + "\n");
  return kExitOk;
}

Result<int> Show(const Options& options) {
  RL_ASSIGN(const ChosenSpec chosen, ChooseSpec(options.name));
  RL_ASSIGN(const Machine machine, spec::MakeMachine(chosen.spec, chosen.shape, chosen.slices));
  if (options.json) {
    Out(DumpPretty({{"schema", "ridgeline.spec/1"},
                    {"spec", spec::ToJson(chosen.spec)},
                    {"machine", ToJson(machine)}}) +
        "\n");
  } else {
    Out(ShowText(chosen.spec, TerminalWidth(STDOUT_FILENO)) +
        (chosen.shape.empty() ? "" : SliceText(machine)));
  }
  return kExitOk;
}

Result<int> Match(const Options& options) {
  RL_ASSIGN(const std::span<const spec::Spec> specs, spec::EmbeddedSpecs());
  const spec::Spec* match = spec::MatchDeviceKind(specs, options.name);
  if (options.json) {
    Out(DumpPretty({{"schema", "ridgeline.spec_match/1"},
                    {"device_kind", options.name},
                    {"spec", match ? Json(match->name) : Json(nullptr)}}) +
        "\n");
  } else {
    Out(match ? match->name + "\n"
              : fmt::format("no spec lists the device kind '{}': its figures are measured only\n",
                            Printable(options.name)));
  }
  return match ? kExitOk : kExitVerdict;
}

}  // namespace

void Add_specs(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("specs", "What systems give on paper, with the source of every figure");
  command->require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& help, const std::string& operand,
                       const std::string& operand_help, Result<int> (*run)(const Options&)) {
    auto options = std::make_shared<Options>();
    CLI::App* sub = command->add_subcommand(name, help);
    if (!operand.empty()) sub->add_option(operand, options->name, operand_help)->required();
    sub->add_flag("--json", options->json, "one JSON object on stdout");
    sub->callback([options, run, &exit_code] {
      const Result<int> result = run(*options);
      exit_code = result ? *result : Report(result.error());
    });
  };
  add("list", "One row a system", "", "", List);
  add("show", "All figures of a system, or of a slice of it", "name",
      "name or alias, with a shape: tpu-v5e:4x4, h100-sxm:8; or a spec file", Show);
  add("match", "The spec that lists a PJRT device kind; exit code 1 when none does", "device_kind",
      "as `ridgeline devices` prints it, matched whole", Match);
  command->footer(
      "Examples:\n"
      "  ridgeline specs list\n"
      "  ridgeline specs show tpu-v5e:8x16\n"
      "  ridgeline specs show my_chip.yaml --json\n"
      "  ridgeline specs match 'TPU v5 lite'");
}

}  // namespace ridgeline::cli
