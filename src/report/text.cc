#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ridgeline::report {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
constexpr std::array<std::string_view, 5> kCodes = {"", "\x1b[1m", "\x1b[2m", "\x1b[33m",
                                                    "\x1b[31m"};

struct Spelling {
  std::string_view sign;
  std::string_view ascii;
};
constexpr std::array<Spelling, 5> kSpellings = {
    {{"±", "+-"}, {"µ", "u"}, {"…", "..."}, {"·", "*"}, {"×", "x"}}};

size_t CharacterBytes(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

// The first or last `count` characters.
std::string Head(std::string_view text, int count) {
  size_t at = 0;
  for (; count > 0 && at < text.size(); --count) {
    at += CharacterBytes(static_cast<unsigned char>(text[at]));
  }
  return std::string(text.substr(0, at));
}
std::string Tail(std::string_view text, int count) {
  return std::string(text.substr(Head(text, DisplayWidth(text) - count).size()));
}

std::string Whole(const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows,
                  const std::vector<bool>& right) {
  Table table(header, right);
  for (const std::vector<std::string>& row : rows) table.Row(row);
  return table.ToString();
}

bool Fits(const std::string& text, int width) {
  if (width <= 0) return true;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (DisplayWidth(std::string_view(text).substr(begin, end - begin)) > width) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

std::string Paint::Text(std::string_view text) const {
  if (!ascii_) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const auto it = std::ranges::find_if(
        kSpellings, [&text](const Spelling& s) { return text.starts_with(s.sign); });
    const size_t bytes = CharacterBytes(static_cast<unsigned char>(text.front()));
    if (it != kSpellings.end()) {
      out += it->ascii;
    } else {
      out += bytes == 1 ? text.front() : '?';
    }
    text.remove_prefix(std::min(bytes, text.size()));
  }
  return out;
}

std::string Paint::Tinted(const std::string& text, Tone tone) const {
  return Lines(text,
               std::vector<Tone>(static_cast<size_t>(std::ranges::count(text, '\n')) + 1, tone));
}

std::string Paint::Lines(const std::string& text, const std::vector<Tone>& tones) const {
  if (!color_) return text;
  std::string out;
  size_t line = 0;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view code = kCodes[static_cast<size_t>(tones[line])];
    out += code;
    out += text.substr(begin, end - begin);
    if (!code.empty()) out += kReset;
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string Shorten(const std::string& text, int width) {
  if (DisplayWidth(text) <= width) return text;
  const int tail = (width - 1) / 2;
  return Head(text, width - 1 - tail) + "…" + Tail(text, tail);
}

std::string Wrap(const std::string& line, int width, int indent) {
  if (width <= 0 || DisplayWidth(line) <= width) return line + "\n";
  std::string out;
  std::string current = line.substr(0, line.find_first_not_of(' '));
  bool empty = true;
  for (size_t begin = current.size(); begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    const std::string word = line.substr(begin, end - begin);
    begin = end + 1;
    if (!empty && DisplayWidth(current) + 1 + DisplayWidth(word) > width) {
      out += current + "\n";
      current = std::string(static_cast<size_t>(indent), ' ');
      empty = true;
    }
    current += (empty ? "" : " ") + word;
    empty = false;
  }
  return out + current + "\n";
}

std::string FoldedTable(const std::vector<std::string>& header,
                        const std::vector<std::vector<std::string>>& rows,
                        const std::vector<bool>& right, size_t kept, int width) {
  if (std::string whole = Whole(header, rows, right); Fits(whole, width)) return whole;
  const auto first = [kept](const auto& cells) {
    return std::decay_t<decltype(cells)>(cells.begin(),
                                         cells.begin() + static_cast<std::ptrdiff_t>(kept));
  };
  std::vector<std::vector<std::string>> heads;
  for (const std::vector<std::string>& row : rows) heads.push_back(first(row));
  const std::string table = Whole(first(header), heads, first(right));
  std::string out;
  size_t line = 0;
  for (size_t begin = 0; begin < table.size(); ++line) {
    const size_t end = table.find('\n', begin) + 1;
    out += table.substr(begin, end - begin);
    begin = end;
    if (line == 0) continue;
    for (size_t i = kept; i < header.size(); ++i) {
      if (const std::string& cell = rows[line - 1][i]; !cell.empty())
        out += Wrap("    " + cell, width, 6);
    }
  }
  return out;
}

std::string RecordTable(const std::vector<std::string>& header,
                        const std::vector<std::vector<std::string>>& rows,
                        const std::vector<bool>& right, size_t kept, int width) {
  if (std::string whole = Whole(header, rows, right); Fits(whole, width)) return whole;
  int widest = 0;
  for (size_t i = kept; i < header.size(); ++i) widest = std::max(widest, DisplayWidth(header[i]));
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    std::string title;
    for (size_t i = 0; i < kept; ++i) title += (i > 0 ? "  " : "") + row[i];
    out += Wrap(title, width, 2);
    for (size_t i = kept; i < header.size(); ++i) {
      if (row[i].empty() || row[i] == "-") continue;
      const auto padding = static_cast<size_t>(widest - DisplayWidth(header[i])) + 2;
      out += Wrap("  " + header[i] + std::string(padding, ' ') + row[i], width, widest + 4);
    }
  }
  return out;
}

std::string Conditions(const Json& header) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view before, const std::string& text) {
    if (!text.empty()) parts.push_back(std::string(before) + Printable(text));
  };
  add("suite ", StringOr(ObjectOr(header, "suite"), "name"));
  const Json plugin = ObjectOr(header, "plugin");
  add("plugin ", StringOr(plugin, "platform"));
  add("PJRT API ", StringOr(plugin, "api_version"));
  const Json* devices = Member(header, "devices");
  if (devices != nullptr && devices->is_array() && !devices->empty()) {
    add("", fmt::format("{} device{} '{}'", devices->size(), devices->size() == 1 ? "" : "s",
                        StringOr(devices->front(), "kind")));
  }
  std::string axes;
  const Json mesh_axes = ObjectOr(ObjectOr(header, "mesh"), "axes");
  for (const auto& [name, size] : mesh_axes.items()) {
    axes += fmt::format("{}{}={}", axes.empty() ? "" : ",", name, DumpLine(size));
  }
  add("mesh ", axes);
  add("", StringOr(header, "created"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace ridgeline::report
