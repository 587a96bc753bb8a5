// Predictions as text for people.
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "predict/prediction.h"
#include "report/text.h"

namespace ridgeline::predict {
namespace {

constexpr size_t kOpsShown = 5;
constexpr size_t kOpsExplained = 30;
constexpr size_t kLargestShown = 3;
constexpr int kNameWidth = 60;
constexpr std::string_view kNone = "-";

std::string Bytes(std::optional<double> bytes) {
  return bytes ? FormatBytes(static_cast<int64_t>(*bytes)) : std::string(kNone);
}

std::string Gibibytes(std::optional<double> bytes) {
  return bytes ? fmt::format("{:.2f} GiB", *bytes / (1 << 30)) : std::string(kNone);
}

std::string Seconds(const Interval& interval) {
  return fmt::format("{} .. {}", FormatSeconds(interval.lower), FormatSeconds(interval.upper));
}

std::string FitText(const TargetPrediction& one) {
  return !one.fits ? "not known" : *one.fits ? "yes" : "no";
}

std::string CostText(const TargetPrediction& one) {
  if (!one.cost) return std::string(kNone);
  return fmt::format("{} .. {} {}", FormatNumber(one.cost->per_step.lower, 3),
                     FormatNumber(one.cost->per_step.upper, 3), one.cost->currency);
}

std::string Overview(std::span<const TargetPrediction> predictions) {
  Table table({"target", "by", "fits", "peak a device", "capacity", "time a step", "bound", "MFU",
               "cost a step"},
              {false, false, false, true, true, true, false, true, true});
  for (const TargetPrediction& one : predictions) {
    table.Row(
        {Printable(one.target), one.compiled ? "compiler" : "roofs",
         one.status == PredictionStatus::kRefused || one.status == PredictionStatus::kFailed
             ? std::string(Name(one.status))
             : FitText(one),
         Gibibytes(one.peak_memory_bytes), Gibibytes(one.capacity_bytes),
         one.step ? Seconds(one.step->seconds) : std::string(kNone),
         one.step ? one.step->bound.label : std::string(kNone),
         one.mfu ? fmt::format("{} .. {}", FormatShare(one.mfu->lower), FormatShare(one.mfu->upper))
                 : std::string(kNone),
         CostText(one)});
  }
  return table.ToString();
}

std::string MemoryText(const pjrt::CompiledMemory& memory) {
  const auto bytes = [](int64_t count) { return Gibibytes(static_cast<double>(count)); };
  std::string text = fmt::format(
      "memory of one device: arguments {}, results {} ({} of them in arguments), "
      "temporaries {}, code {}",
      bytes(memory.arguments), bytes(memory.outputs), bytes(memory.aliased),
      bytes(memory.temporaries), bytes(memory.code));
  if (memory.host > 0) text += fmt::format("; in the host's memory {}", bytes(memory.host));
  for (size_t i = 0; i < std::min(kLargestShown, memory.largest.size()); ++i) {
    const pjrt::NamedBytes& one = memory.largest[i];
    text += fmt::format("{}{} {}", i == 0 ? "; largest: " : ", ",
                        report::Shorten(Printable(one.name), kNameWidth), bytes(one.bytes));
  }
  return text;
}

std::string PartsText(const StepTime& step) {
  std::vector<std::string> parts;
  for (const auto& [part, seconds] : step.parts) {
    if (seconds.upper > 0) parts.push_back(fmt::format("{} {}", Name(part), Seconds(seconds)));
  }
  return fmt::format("sums of its parts, which overlap in part: {}", fmt::join(parts, "; "));
}

std::string WireTable(const StepTime& step) {
  Table table({"collective", "axes", "times", "bytes sent", "time", "beside others"},
              {false, false, true, true, true, true});
  for (const WireRow& row : step.wire) {
    table.Row({row.collective, row.axes,
               row.executions > 0 ? FormatNumber(row.executions) : std::string(kNone),
               Bytes(row.wire_bytes), FormatSeconds(row.seconds),
               row.seconds > 0 ? FormatShare(row.overlapped_s / row.seconds) : std::string(kNone)});
  }
  return table.ToString();
}

std::string OpTable(const StepTime& step, bool explain) {
  Table table(explain ? std::vector<std::string>{"operation", "part", "times", "time", "how"}
                      : std::vector<std::string>{"operation", "part", "times", "time"},
              {false, false, true, true, false});
  const size_t most = explain ? kOpsExplained : kOpsShown;
  for (size_t i = 0; i < std::min(most, step.ops.size()); ++i) {
    const OpTime& op = step.ops[i];
    const std::string name =
        op.op_name.empty() ? op.name : fmt::format("{} ({})", op.op_name, op.name);
    std::vector<std::string> cells = {report::Shorten(Printable(name), kNameWidth),
                                      std::string(Name(op.part)), FormatNumber(op.executions),
                                      Seconds(op.seconds)};
    if (explain) cells.push_back(op.how);
    table.Row(std::move(cells));
  }
  std::string text = table.ToString();
  if (step.ops.size() > most) text += fmt::format("  and {} more\n", step.ops.size() - most);
  return text;
}

std::string Details(const TargetPrediction& one, const ReportOptions& options) {
  const report::Paint paint(options.table);
  const auto line = [&](const std::string& text) {
    return report::Wrap(paint.Text(text), options.table.width, 2);
  };
  std::string out = "\n" + line(fmt::format("{}: predicted, compiler {}", Printable(one.target),
                                            one.compiler.empty() ? "gave none" : one.compiler));
  if (!one.reason.empty()) {
    out += paint.Tinted(line(fmt::format("  {}: {}", Name(one.status), Printable(one.reason))),
                        report::Tone::kWarning);
  }
  if (one.memory) out += line("  " + MemoryText(*one.memory));
  if (one.step) {
    if (!one.step->parts.empty()) out += line("  " + PartsText(*one.step));
    if (!one.step->wire.empty()) out += paint.Text(WireTable(*one.step));
    if (!one.step->ops.empty()) out += paint.Text(OpTable(*one.step, options.explain));
  }
  if (options.explain) {
    for (const std::string& what : one.basis) out += line("  " + what);
  }
  if (one.cost) out += line("  price: " + one.cost->basis);
  for (const std::string& note : one.notes) {
    out += paint.Tinted(line("  ! " + Printable(note)), report::Tone::kWarning);
  }
  return out;
}

}  // namespace

std::string PredictionReport(std::span<const TargetPrediction> predictions,
                             const ReportOptions& options) {
  const report::Paint paint(options.table);
  std::string out = paint.Text(Overview(predictions));
  for (const TargetPrediction& one : predictions) out += Details(one, options);
  return out + paint.Tinted(report::Wrap(paint.Text("All of it is predicted. Times span the best "
                                                    "and the worst overlap, and how far the "
                                                    "compiler's estimates differ from published "
                                                    "measurements; MFU counts executed FLOP."),
                                         options.table.width, 0),
                            report::Tone::kFaint);
}

}  // namespace ridgeline::predict
