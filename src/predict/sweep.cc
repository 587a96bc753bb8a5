#include "predict/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text.h"
#include "report/text.h"

namespace ridgeline::predict {
namespace {

constexpr size_t kMostVariants = 64;
constexpr std::string_view kNone = "-";

// "--name=value": its two sides, the dashes taken off; no name when there is no '='.
std::pair<std::string, std::string> Split(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {};
  const size_t start = std::min(text.find_first_not_of('-'), equals);
  return {text.substr(start, equals - start), text.substr(equals + 1)};
}

std::vector<std::string> SplitValues(const std::string& text) {
  std::vector<std::string> values;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return values;
}

Error Twice(const std::string& name) {
  return {Code::kInvalidArgument, fmt::format("compiler flag {} is named twice", Printable(name)),
          "", "to try several values: --sweep-flags FLAG=A,B"};
}

std::string TextOf(const device::OptionValue& value) {
  return std::visit([](const auto& one) { return fmt::format("{}", one); }, value);
}

std::string TimeOf(const TargetPrediction& one) {
  if (!one.step) return std::string(Name(one.status));
  return fmt::format("{} .. {}", FormatSeconds(one.step->seconds.lower),
                     FormatSeconds(one.step->seconds.upper));
}

}  // namespace

Result<Flags> ParseFlags(std::span<const std::string> texts) {
  Flags flags;
  for (const std::string& text : texts) {
    const auto [name, value] = Split(text);
    if (name.empty()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("'{}' is no compiler flag; expected FLAG=VALUE", Printable(text)), "",
                  "for example --flag xla_tpu_scoped_vmem_limit_kib=65536");
    }
    if (!flags.emplace(name, value).second) return tl::unexpected(Twice(name));
  }
  return flags;
}

Result<std::vector<Flags>> FlagSweep(const Flags& base, std::span<const std::string> texts) {
  std::vector<Flags> variants = {base};
  for (const std::string& text : texts) {
    const auto [name, list] = Split(text);
    const std::vector<std::string> values = SplitValues(list);
    if (name.empty() || std::ranges::find(values, "") != values.end()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("'{}' is no sweep; expected FLAG=A,B,…", Printable(text)), "",
                  "for example --sweep-flags xla_tpu_scoped_vmem_limit_kib=16384,65536");
    }
    if (variants.front().contains(name)) return tl::unexpected(Twice(name));
    std::vector<Flags> longer;
    for (const Flags& variant : variants) {
      for (const std::string& value : values) {
        longer.push_back(variant);
        longer.back()[name] = value;
      }
    }
    variants = std::move(longer);
    if (variants.size() > kMostVariants) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("the sweep has more than {} combinations", kMostVariants), "",
                  "leave values out, or sweep one flag after the other");
    }
  }
  if (!texts.empty()) variants.insert(variants.begin(), base);
  return variants;
}

std::string ToString(const Flags& flags) {
  std::string text;
  for (const auto& [name, value] : flags) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, TextOf(value));
  }
  return text;
}

std::optional<double> Change(const TargetPrediction& one, const TargetPrediction& base) {
  if (!one.step || !base.step || !(base.step->seconds.middle() > 0)) return std::nullopt;
  return one.step->seconds.middle() / base.step->seconds.middle() - 1;
}

std::string SweepReport(std::span<const TargetPrediction> predictions,
                        const ReportOptions& options) {
  const report::Paint paint(options.table);
  std::string out;
  for (auto at = predictions.begin(); at != predictions.end();) {
    const auto end = std::find_if(at, predictions.end(),
                                  [&at](const auto& one) { return one.target != at->target; });
    Table table({"time a step", "change", "peak a device", "flags"}, {true, true, true, false});
    std::string reasons;
    for (auto one = at; one != end; ++one) {
      const std::string flags = ToString(one->flags);
      const std::optional<double> change = Change(*one, *at);
      table.Row({TimeOf(*one),
                 one == at ? std::string(kNone)
                 : !change ? std::string(kNone)
                           : fmt::format("{:+.1f} %", 100 * *change),
                 one->peak_memory_bytes ? FormatBytes(static_cast<int64_t>(*one->peak_memory_bytes))
                                        : std::string(kNone),
                 flags.empty() ? "(the compiler's defaults)" : Printable(flags)});
      if (!one->reason.empty()) {
        reasons += report::Wrap(
            paint.Text(fmt::format("  {}: {}", Printable(flags), Printable(one->reason))),
            options.table.width, 4);
      }
    }
    out += report::Wrap(paint.Text(fmt::format("{}: predicted, compiler {}", Printable(at->target),
                                               at->compiler.empty() ? "gave none" : at->compiler)),
                        options.table.width, 2);
    out += paint.Text(table.ToString()) + paint.Tinted(reasons, report::Tone::kWarning) + "\n";
    at = end;
  }
  return out + paint.Tinted(report::Wrap("All of it is predicted. The change is that of the middle "
                                         "of the time against the first row.",
                                         options.table.width, 0),
                            report::Tone::kFaint);
}

}  // namespace ridgeline::predict
