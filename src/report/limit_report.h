// Limits of workloads on machines as text for people, and as a picture.
#pragma once

#include <span>
#include <string>

#include "core/machine.h"
#include "report/report.h"
#include "report/roofline_plot.h"
#include "verdict/limit.h"

namespace ridgeline::report {

// A workload with its limit on each machine.
struct JudgedWorkload {
  workload::Workload workload;
  std::vector<verdict::Limit> limits;  // in the order of the machines
};

// The machines' figures and where they come from; a table of workloads by machines; then for each
// workload its sentence, its longest operations and what a reader has to know.
std::string LimitReport(std::span<const Machine> machines, std::span<const JudgedWorkload> judged,
                        const TableOptions& options);

// Roofs of all machines; each workload once, on the first machine, beside its measured point where
// there is one.
RooflinePlot LimitPlot(std::span<const Machine> machines, std::span<const JudgedWorkload> judged);

}  // namespace ridgeline::report
