// How text reaches a terminal: colours, plain ASCII, widths, and the line that says under which
// conditions a result was measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace ridgeline::report {

enum class Tone { kPlain, kTitle, kFaint, kWarning, kBad };

class Paint {
 public:
  explicit Paint(const TableOptions& options) : color_(options.color), ascii_(options.ascii) {}
  // With `ascii`, signs outside of it are spelt out: "±" becomes "+-". To be done before a table
  // measures its cells.
  std::string Text(std::string_view text) const;
  // Every line of `text` in the tone.
  std::string Tinted(const std::string& text, Tone tone) const;
  // Line i of `text` in tones[i].
  std::string Lines(const std::string& text, const std::vector<Tone>& tones) const;

 private:
  bool color_;
  bool ascii_;
};

// At most `width` columns, the middle replaced by "…".
std::string Shorten(const std::string& text, int width);

// Breaks a line at blanks to fit `width` (0: never); further lines are indented. Ends in a newline.
std::string Wrap(const std::string& line, int width, int indent);

// A table as wide as it gets, or, where `width` (0: any) does not hold it, its first `kept` columns
// with the others wrapped under each row.
std::string FoldedTable(const std::vector<std::string>& header,
                        const std::vector<std::vector<std::string>>& rows,
                        const std::vector<bool>& right, size_t kept, int width);
// The same, folded into one record a row: the first `kept` cells as its title, then a line a cell
// that is not empty and not "-".
std::string RecordTable(const std::vector<std::string>& header,
                        const std::vector<std::vector<std::string>>& rows,
                        const std::vector<bool>& right, size_t kept, int width);

// "suite quick, plugin cpu, PJRT API 0.115, 4 devices 'cpu', mesh x=4, 2026-11-30T…": what the
// header tells.
std::string Conditions(const Json& header);

}  // namespace ridgeline::report
