// Every workload of the corpus through the analyser, beside what is known of it by other means.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "corpus.h"
#include "pjrt/discovery.h"

namespace ridgeline::tools {
namespace {

std::string Mark(bool held) { return held ? "ok" : "MISS"; }

std::string Figure(double value) { return fmt::format("{:.6g}", value); }

void PrintTable(const std::vector<CorpusRow>& rows) {
  Table table({"workload", "flops", "known", "", "least", "bytes: known", "fused", "most",
               "most/fused", "", "wire bytes", "", "collectives"},
              {false, true, true, false, true, true, true, true, true, false, true, false, false});
  for (const CorpusRow& row : rows) {
    const double width = row.fused_bytes > 0 ? row.most_bytes / row.fused_bytes : 0;
    table.Row({row.name, Figure(row.flops), row.known_flops ? Figure(*row.known_flops) : "-",
               (row.flops_checked ? Mark(row.flops_held) : "-") +
                   std::string(row.convention.empty() ? "" : " *"),
               Figure(row.least_bytes), Figure(row.known_bytes), Figure(row.fused_bytes),
               Figure(row.most_bytes), fmt::format("{:.3g}", width), Mark(row.bytes_held),
               row.collectives.empty() ? "-" : Figure(row.wire_bytes),
               row.collectives.empty() ? "-" : Mark(row.collectives_held), row.collectives});
  }
  std::cout << table.ToString();
  for (const CorpusRow& row : rows) {
    if (!row.convention.empty()) std::cout << row.name << " (*): " << row.convention << '\n';
    for (const std::string& line : row.misses) std::cout << row.name << ": " << line << '\n';
  }
}

int Run(const std::string& folder, const std::string& only, bool json) {
  const auto plugin = pjrt::FindPlugin("cpu", pjrt::SearchEnv::FromProcess());
  if (!plugin) {
    std::cerr << plugin.error().ToString() << '\n';
    return 3;
  }
  const auto rows = CheckCorpus(folder, plugin->library, only);
  if (!rows) {
    std::cerr << rows.error().ToString() << '\n';
    return 2;
  }
  size_t held = 0;
  Json list = Json::array();
  for (const CorpusRow& row : *rows) {
    held += row.misses.empty() ? 1 : 0;
    list.push_back(ToJson(row));
  }
  if (json) {
    std::cout << DumpPretty({{"schema", "ridgeline.corpus_table/1"},
                             {"workloads", list},
                             {"held", held},
                             {"of", rows->size()}})
              << '\n';
  } else {
    PrintTable(*rows);
    std::cout << fmt::format("{} of {} workloads hold\n", held, rows->size());
  }
  return held == rows->size() ? 0 : 1;
}

}  // namespace
}  // namespace ridgeline::tools

int main(int argc, char** argv) {
  CLI::App app("counts every workload of a corpus and compares with its index.json");
  std::string folder = CORPUS_DIR;
  std::string only;
  bool json = false;
  app.add_option("folder", folder, "holds index.json and the programs")->capture_default_str();
  app.add_option("--only", only, "workloads whose name holds this text");
  app.add_flag("--json", json, "one JSON object");
  CLI11_PARSE(app, argc, argv);
  return ridgeline::tools::Run(folder, only, json);
}
