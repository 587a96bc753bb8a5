// The tables of results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/text.h"
#include "report/figures.h"
#include "report/labels.h"
#include "report/report.h"
#include "report/text.h"

namespace ridgeline::report {
namespace {

constexpr int kLeastLabel = 24;
constexpr std::string_view kNone = "-";

using Pointers = std::vector<const Measurement*>;

std::optional<int64_t> BytesOf(const Measurement& m) {
  const auto it = m.params.values().find("bytes");
  const auto* size = it == m.params.values().end() ? nullptr : std::get_if<int64_t>(&it->second);
  return size ? std::optional(*size) : std::nullopt;
}

// A component's cases. They ran in random order; here each sweep over a size stands together.
Pointers OfComponent(std::span<const Measurement> all, Component component) {
  Pointers of;
  for (const Measurement& m : all) {
    if (m.component == component) of.push_back(&m);
  }
  const auto without_size = [](const Measurement& m) {
    auto values = m.params.values();
    values.erase("bytes");
    return values;
  };
  std::ranges::stable_sort(of, [&](const Measurement* a, const Measurement* b) {
    const auto key = [&](const Measurement& m) {
      const std::string_view placement = PlacementOf(m);
      // By length first: device2 before device10.
      return std::tuple(m.bench, without_size(m), placement.size(), placement, BytesOf(m));
    };
    return key(*a) < key(*b);
  });
  return of;
}

// Of the time where there is one, as that is what was measured until it was sure; a rate is an
// amount over it, so the share is the same.
std::string HalfWidth(const Measurement& m, const Rate& rate) {
  const double share = (m.time_s ? *m.time_s : rate.value).relative_half_width();
  if (!std::isfinite(share)) return std::string(kNone);
  return share > 9.99 ? "±>999 %" : "±" + FormatShare(share);
}

std::string CheckText(const Measurement& m) {
  return m.check_status == "passed"   ? "passed"
         : m.check_status == "failed" ? "FAILED"
                                      : std::string(kNone);
}

std::string StatusText(CaseStatus status) {
  std::string text = status == CaseStatus::kOk ? "" : std::string(Name(status));
  std::ranges::replace(text, '_', ' ');
  return text;
}

Tone ToneOf(CaseStatus status) {
  switch (status) {
    case CaseStatus::kOk:
      return Tone::kPlain;
    case CaseStatus::kFailed:
    case CaseStatus::kWrongResult:
      return Tone::kBad;
    case CaseStatus::kUnconverged:
    case CaseStatus::kSuspect:
    case CaseStatus::kEmulated:
      return Tone::kWarning;
    default:
      return Tone::kFaint;
  }
}

// A column of the table of one component.
struct Column {
  std::string title;
  bool right = false;
  bool optional = false;  // left out where the terminal is too narrow
  std::vector<std::string> cells;

  int width() const {
    int width = DisplayWidth(title);
    for (const std::string& cell : cells) width = std::max(width, DisplayWidth(cell));
    return width;
  }
};

std::vector<Column> Columns(Component component, const Pointers& of,
                            const std::vector<std::string>& labels) {
  std::vector<Column> columns = {{"case", false, false, labels}};
  const bool shares = std::ranges::any_of(of, [](const Measurement* m) {
    const Rate* figure = FigureOf(*m);
    return figure != nullptr && figure->of_reference.has_value();
  });
  bool first = true;
  for (const std::string& name : RateNames(component, of)) {
    Column values{name, true, !first, {}};
    Column widths{"±", true, false, {}};
    Column of_reference{"share", true, false, {}};
    for (const Measurement* m : of) {
      const auto it = std::ranges::find(m->rates, name, &Rate::name);
      const bool has = it != m->rates.end();
      values.cells.push_back(has ? FormatRate(it->value.value, it->unit) : std::string(kNone));
      widths.cells.push_back(has ? HalfWidth(*m, *it) : std::string(kNone));
      of_reference.cells.push_back(has && it->of_reference ? FormatShare(*it->of_reference)
                                                           : std::string(kNone));
    }
    columns.push_back(std::move(values));
    // Every rate is an amount over the same time: one interval and one share speak for all.
    if (first) columns.push_back(std::move(widths));
    if (first && shares) columns.push_back(std::move(of_reference));
    first = false;
  }
  Column time{"time", true, false, {}};
  Column check{"check", false, false, {}};
  Column status{"status", false, false, {}};
  for (const Measurement* m : of) {
    time.cells.push_back(m->time_s ? FormatSeconds(m->time_s->value) : std::string(kNone));
    check.cells.push_back(CheckText(*m));
    status.cells.push_back(StatusText(m->status));
  }
  columns.push_back(std::move(time));
  columns.push_back(std::move(check));
  columns.push_back(std::move(status));
  return columns;
}

int TotalWidth(const std::vector<Column>& columns) {
  int total = -2;
  for (const Column& column : columns) total += column.width() + 2;
  return total;
}

// Narrower: first the further rates go, then names are shortened; figures never.
void Fit(std::vector<Column>& columns, int width) {
  if (width <= 0) return;
  while (TotalWidth(columns) > width) {
    const auto last = std::find_if(columns.rbegin(), columns.rend(),
                                   [](const Column& column) { return column.optional; });
    if (last == columns.rend()) break;
    columns.erase(std::next(last).base());
  }
  const int room = std::max(kLeastLabel, width - (TotalWidth(columns) - columns[0].width()));
  for (std::string& label : columns[0].cells) label = Shorten(label, room);
}

std::string Render(const std::vector<Column>& columns, const Pointers& of, const Paint& paint) {
  std::vector<std::string> titles;
  std::vector<bool> right;
  for (const Column& column : columns) {
    titles.push_back(paint.Text(column.title));
    right.push_back(column.right);
  }
  Table table(titles, right);
  for (size_t row = 0; row < of.size(); ++row) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(paint.Text(column.cells[row]));
    table.Row(std::move(cells));
  }
  std::vector<Tone> tones = {Tone::kFaint};
  for (const Measurement* m : of) tones.push_back(ToneOf(m->status));
  return paint.Lines(table.ToString(), tones);
}

// Remarks, each with the cases that it holds for; those for the same cases share a line.
class Remarks {
 public:
  void Add(const std::string& text, const std::string& label) {
    const auto it = std::ranges::find(remarks_, text, &Remark::text);
    if (it == remarks_.end()) {
      remarks_.push_back({text, {label}});
    } else if (it->labels.back() != label) {
      it->labels.push_back(label);
    }
  }

  std::string ToString(char mark, size_t cases, Tone tone, const Paint& paint, int width) const {
    std::vector<Remark> merged;
    for (const Remark& remark : remarks_) {
      const auto it = std::ranges::find(merged, remark.labels, &Remark::labels);
      if (it == merged.end()) {
        merged.push_back(remark);
      } else {
        it->text += "; " + remark.text;
      }
    }
    std::string out;
    for (const Remark& remark : merged) {
      out += paint.Tinted(Wrap(fmt::format("  {} {}: {}", mark, Whom(remark.labels, cases),
                                           paint.Text(remark.text)),
                               width, 4),
                          tone);
    }
    return out;
  }

 private:
  struct Remark {
    std::string text;
    std::vector<std::string> labels;
  };
  static std::string Whom(const std::vector<std::string>& labels, size_t cases) {
    if (labels.size() == cases && cases > 1) return "all cases";
    if (labels.size() <= 3) return fmt::format("{}", fmt::join(labels, "; "));
    return fmt::format("{}; {}; and {} more", labels[0], labels[1], labels.size() - 2);
  }

  std::vector<Remark> remarks_;
};

std::string RemarkLines(const Pointers& of, const std::vector<std::string>& labels,
                        const Paint& paint, int width) {
  Remarks warnings;
  Remarks notes;
  for (size_t i = 0; i < of.size(); ++i) {
    const Measurement& m = *of[i];
    const std::string label = paint.Text(labels[i]);
    if (m.status != CaseStatus::kOk) {
      const std::string reason =
          m.reason.empty() ? "no reason recorded" : Printable(FirstLine(m.reason));
      (ToneOf(m.status) == Tone::kFaint ? notes : warnings)
          .Add(fmt::format("{}: {}", StatusText(m.status), reason), label);
    }
    for (const AuditLine& line : m.audit) {
      if (line.level == "warning" || line.level == "refused") {
        warnings.Add(Printable(FirstLine(line.text)), label);
      }
    }
    for (const std::string& text : m.labels) notes.Add(Printable(text), label);
    if (m.simulated) notes.Add("simulated", label);
    if (m.predicted) notes.Add("predicted", label);
  }
  return warnings.ToString('!', of.size(), Tone::kWarning, paint, width) +
         notes.ToString('-', of.size(), Tone::kFaint, paint, width);
}

// Latency and bandwidth of every size sweep, once.
std::string FitLines(const Pointers& of, const std::vector<std::string>& labels, const Paint& paint,
                     int width) {
  std::map<std::string, bool> seen;
  std::string out;
  for (size_t i = 0; i < of.size(); ++i) {
    if (!of[i]->alpha_beta) continue;
    const AlphaBeta& law = *of[i]->alpha_beta;
    const std::string text = fmt::format(
        "{} + bytes / {}; {}", FormatSeconds(law.alpha_s), FormatRate(law.bytes_per_s, "B/s"),
        law.half_size_bytes ? "half of it at " + FormatBytes(std::llround(*law.half_size_bytes))
                            : "half-size not reached");
    // The sweep's name is that of its members without their size.
    std::string name = labels[i];
    if (const std::optional<int64_t> size = BytesOf(*of[i])) {
      const std::string shown = " " + FormatBytes(*size);
      if (const size_t at = name.find(shown); at != std::string::npos) name.erase(at, shown.size());
    }
    if (!seen.emplace(name + text, true).second) continue;
    out += Wrap(paint.Text(fmt::format("  = {}: {}", name, text)), width, 4);
  }
  return out;
}

std::string LevelLines(const Json& header, const Pointers& of, const Paint& paint, int width) {
  std::string out;
  for (const LevelSweep& sweep : FindLevels(header, of)) {
    std::vector<std::string> levels;
    for (const Plateau& plateau : sweep.levels.plateaus) {
      levels.push_back(fmt::format("{} {}", plateau.name(), FormatRate(plateau.rate, "B/s")));
    }
    std::string text =
        levels.empty() ? "no level found" : fmt::format("{}", fmt::join(levels, ", "));
    text += sweep.levels.memory
                ? fmt::format("; memory: {}", FormatRate(sweep.levels.memory->rate, "B/s"))
                : "; " + sweep.levels.note;
    out +=
        Wrap(paint.Text(fmt::format("  = {} @{} by working set: {}", Printable(sweep.first->bench),
                                    Printable(PlacementOf(*sweep.first)), text)),
             width, 4);
  }
  return out;
}

std::string ChecksText(const ComponentSummary& summary) {
  const int checked = summary.checks_passed + summary.checks_failed;
  if (checked == 0) return std::string(kNone);
  if (summary.checks_failed == 0) return fmt::format("{} passed", checked);
  return fmt::format("{} of {} FAILED", summary.checks_failed, checked);
}

std::string LabelOf(const ComponentSummary& summary, const Measurement* one,
                    std::span<const Measurement> all) {
  const Pointers of = OfComponent(all, summary.component);
  const std::vector<std::string> labels = CaseLabels(of);
  return labels[static_cast<size_t>(std::ranges::find(of, one) - of.begin())];
}

// The best share need not be that of the best figure, whose dtype the reference may lack.
std::string ScoreText(const ComponentSummary& summary, std::span<const Measurement> all,
                      const store::ResultFile* baseline) {
  const std::string reference(ReferenceName(summary, baseline));
  if (!summary.score) {
    if (baseline != nullptr) return "not in the baseline";
    const bool scored = std::ranges::any_of(all, [](const Measurement& m) {
      return std::ranges::any_of(m.rates, [](const Rate& r) { return r.of_reference.has_value(); });
    });
    return scored ? "not in the spec" : reference;
  }
  const bool above_spec = baseline == nullptr && *summary.score > 1;
  const bool other_case =
      FormatShare(summary.figure->of_reference.value_or(0)) != FormatShare(*summary.score);
  return fmt::format("{} of {}{}{}", FormatShare(*summary.score), reference,
                     other_case ? " by " + LabelOf(summary, summary.score_case, all) : "",
                     above_spec ? ", above it: see the case" : "");
}

}  // namespace

std::string ResultTable(const Json& header, std::span<const Measurement> measurements,
                        const TableOptions& options) {
  const Paint paint(options);
  std::string out;
  if (const std::string conditions = Conditions(header); !conditions.empty()) {
    out = Wrap(paint.Text(conditions), options.width, 2);
  }
  for (const Component component :
       {Component::kNetwork, Component::kCompute, Component::kHbm, Component::kHost,
        Component::kAttention, Component::kImported}) {
    const Pointers of = OfComponent(measurements, component);
    if (of.empty()) continue;
    const std::vector<std::string> labels = CaseLabels(of);
    std::vector<Column> columns = Columns(component, of, labels);
    Fit(columns, options.width);
    if (!out.empty()) out += "\n";
    out += paint.Tinted(std::string(Name(component)) + "\n", Tone::kTitle);
    out += Render(columns, of, paint);
    out +=
        FitLines(of, labels, paint, options.width) + LevelLines(header, of, paint, options.width);
    out += RemarkLines(of, labels, paint, options.width);
  }
  return out;
}

std::string SummaryTable(const Json& header, std::span<const Measurement> measurements,
                         const store::ResultFile* baseline, const TableOptions& options) {
  const Paint paint(options);
  Table table({"component", "best", paint.Text("±"), "usable", "check", "score", "case"},
              {false, true, true, true, false, false, false});
  std::vector<Tone> tones = {Tone::kFaint};
  std::vector<std::pair<std::string, std::string>> expectations;  // text, components
  std::string notes;
  for (const ComponentSummary& summary : Summarise(header, measurements)) {
    const std::string name(Name(summary.component));
    const bool bad = summary.checks_failed > 0;
    tones.push_back(bad ? Tone::kBad : summary.best ? Tone::kPlain : Tone::kFaint);
    const std::string usable = fmt::format("{} of {}", summary.usable(), summary.cases);
    if (summary.best == nullptr) {
      table.Row({name, std::string(kNone), std::string(kNone), usable, ChecksText(summary),
                 std::string(kNone), summary.cases == 0 ? "not measured" : "no usable figure"});
      continue;
    }
    const Rate& figure = *summary.figure;
    table.Row({name, FormatRate(figure.value.value, figure.unit),
               paint.Text(HalfWidth(*summary.best, figure)), usable, ChecksText(summary),
               ScoreText(summary, measurements, baseline),
               paint.Text(LabelOf(summary, summary.best, measurements))});
    const std::string expectation = Expectation(summary, baseline);
    if (expectations.empty() || expectations.back().first != expectation) {
      expectations.emplace_back(expectation, name);
    } else {
      expectations.back().second += ", " + name;
    }
    if (!summary.note.empty()) notes += fmt::format("  - {}: {}\n", name, summary.note);
  }
  std::string out = paint.Lines(table.ToString(), tones);
  for (const auto& [text, names] : expectations) {
    notes += fmt::format("  - {}: {}\n", names, text);
  }
  return out + paint.Tinted(paint.Text(notes), Tone::kFaint);
}

std::string ComponentLine(const Json& header, Component component,
                          std::span<const Measurement> measurements,
                          const store::ResultFile* baseline) {
  for (const ComponentSummary& summary : Summarise(header, measurements)) {
    if (summary.component != component) continue;
    std::string line = fmt::format("{}: ", Name(component));
    line += summary.best == nullptr
                ? std::string("no usable figure")
                : fmt::format("best {} {} {} ({}), {}", summary.figure->name,
                              FormatRate(summary.figure->value.value, summary.figure->unit),
                              HalfWidth(*summary.best, *summary.figure),
                              LabelOf(summary, summary.best, measurements),
                              ScoreText(summary, measurements, baseline));
    return line + fmt::format("; {} of {} cases usable, checks: {}", summary.usable(),
                              summary.cases, ChecksText(summary));
  }
  return fmt::format("{}: not measured", Name(component));
}

std::string OutcomeLine(const Json& header, std::span<const Measurement> measurements,
                        const store::ResultFile* baseline) {
  std::vector<std::string> parts;
  bool scored = false;
  for (const ComponentSummary& summary : Summarise(header, measurements)) {
    if (summary.best == nullptr) continue;
    scored = scored || summary.score;
    parts.push_back(fmt::format(
        "{} {}{}", Name(summary.component),
        FormatRate(summary.figure->value.value, summary.figure->unit),
        summary.score ? " (" + ScoreText(summary, measurements, baseline) + ")" : std::string()));
  }
  if (parts.empty()) return "";
  return fmt::format("{}{}", fmt::join(parts, ", "), scored ? "" : "; no reference");
}

}  // namespace ridgeline::report
