// Workloads whose flops, bytes and collectives are known by other means (tests/corpus/README.md),
// against what the analyser counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace ridgeline::tools {

struct CorpusRow {
  std::string name;
  std::string file;
  double flops = 0;                   // ours, in the terms of the known figure
  std::optional<double> known_flops;  // closed form, all devices
  bool flops_checked = false;
  bool flops_held = true;
  std::string convention;  // why ours is another figure than the index's, where conventions.json
                           // says so; then ours has to be that figure
  double least_bytes = 0, most_bytes = 0, fused_bytes = 0;  // of memory, all devices
  double known_bytes = 0;                                   // lower bound
  bool bytes_held = true;
  double wire_bytes = 0;    // one device
  std::string collectives;  // "all-reduce/16 x451"
  bool collectives_held = true;
  std::vector<std::string> misses;  // in words
  double seconds = 0;
};

// `index` names the workloads; each is read from `folder`. Errors: no index, or not one.
Result<std::vector<CorpusRow>> CheckCorpus(const std::string& folder, const std::string& plugin,
                                           const std::string& only = "");

Json ToJson(const CorpusRow& row);

}  // namespace ridgeline::tools
