// Results as text for people and for other programs: pure functions of a result file's content.
// 1 GB/s is 1e9 B/s everywhere; sizes are in KiB, MiB, GiB.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/machine.h"
#include "core/measurement.h"
#include "store/results.h"

namespace ridgeline::report {

struct TableOptions {
  int width = 0;  // columns of the terminal; 0: no limit. Figures are never cut.
  bool color = false;
  bool ascii = false;
};

// Fills in what follows from all records together: latency and bandwidth of size sweeps, and
// of_reference of every rate of a usable case: with a baseline its share of the case with the same
// id, else its share of what `spec` gives (model/nominal.h); a rate above that is labelled so,
// and one over model::kImpossibleShare makes the case suspect. Both may be null.
void Derive(std::span<Measurement> measurements, const store::ResultFile* baseline,
            const Machine* spec = nullptr);

// The conditions, then a table a component: figures, time, check and status of every case, with
// fits, labels and warnings in words underneath.
std::string ResultTable(const Json& header, std::span<const Measurement> measurements,
                        const TableOptions& options);

// One row a component: best figure, score, and the case that gave it. `baseline` may be null.
std::string SummaryTable(const Json& header, std::span<const Measurement> measurements,
                         const store::ResultFile* baseline, const TableOptions& options);

// What a run says when a component is done; no newline at the end.
std::string ComponentLine(const Json& header, Component component,
                          std::span<const Measurement> measurements,
                          const store::ResultFile* baseline);

// What a finished run says in one line: per component its best figure against the reference, e.g.
// "network 10.37 GB/s, compute 927.2 GFLOP/s; no reference". Empty when nothing is usable.
std::string OutcomeLine(const Json& header, std::span<const Measurement> measurements,
                        const store::ResultFile* baseline);

// The one JSON object of `run --json` and `show --json` (design.md section 7): {schema, header{},
// components{name: {best, figure{}, score, score_case, reference, expected, note, cases,
// statuses{}, checks{}}}, measurements[]}.
Json RunJson(const Json& header, std::span<const Measurement> measurements,
             const store::ResultFile* baseline = nullptr);

// A flat table for spreadsheets and data frames: fixed columns, then other rates and param_NAME in
// alphabetical order (docs/formats/result.md). CSV is RFC 4180; null is an empty field; text that a
// spreadsheet would take for a formula gets a leading apostrophe.
std::string Csv(std::span<const Measurement> measurements);
// The same as a list of flat objects, each with every column.
Json FlatJson(std::span<const Measurement> measurements);

}  // namespace ridgeline::report
