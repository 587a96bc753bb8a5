#include "script.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace ridgeline::faulty {
namespace {

struct ActionForm {
  std::string_view name;
  Action action;
  std::string_view required;  // keys, each between blanks
  std::string_view optional;
  std::string_view entries;  // empty: any
};

constexpr std::string_view kTimed =
    " PJRT_LoadedExecutable_Execute PJRT_Client_BufferFromHostBuffer PJRT_Buffer_ToHostBuffer ";
constexpr std::string_view kWithEvents =
    " PJRT_LoadedExecutable_Execute PJRT_Client_BufferFromHostBuffer PJRT_Buffer_ToHostBuffer "
    "PJRT_Buffer_ReadyEvent ";

constexpr ActionForm kForms[] = {
    {"error", Action::kError, " code ", " text ", ""},
    {"null", Action::kNull, "", "", ""},
    {"missing", Action::kMissing, "", "", ""},
    {"hang", Action::kHang, "", "", ""},
    {"abort", Action::kAbort, "", "", ""},
    {"segfault", Action::kSegfault, "", "", ""},
    {"kill", Action::kKill, "", "", ""},
    {"exit", Action::kExit, " status ", "", ""},
    {"leave_child", Action::kLeaveChild, " s ", "", ""},
    {"say", Action::kSay, " fd text ", "", ""},
    {"sleep", Action::kSleep, " ms ", "", ""},
    {"late", Action::kLate, "", " ms round_us noise drift ", kTimed},
    {"early", Action::kEarly, "", "", " PJRT_LoadedExecutable_Execute "},
    {"drop", Action::kDrop, "", "", kWithEvents},
    {"wrong", Action::kWrong, " how ", "", " PJRT_Buffer_ToHostBuffer "},
    {"count", Action::kCount, " n ", "", " PJRT_Client_Devices "},
    {"text", Action::kText, " from to ", "", " PJRT_Client_Compile "},
    {"change", Action::kChange, " how ", "", " PJRT_Executable_OptimizedProgram "},
};

constexpr std::string_view kConditions = " program min_bytes device process ";
constexpr std::string_view kNumeric =
    " status s fd ms round_us noise drift n min_bytes device process ";

bool Holds(std::string_view list, std::string_view word) {
  return list.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

std::vector<std::string_view> Words(std::string_view list) {
  std::vector<std::string_view> words;
  for (size_t begin = list.find_first_not_of(' '); begin != std::string_view::npos;) {
    const size_t end = std::min(list.find(' ', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = list.find_first_not_of(' ', end);
  }
  return words;
}

template <typename T>
std::optional<T> Parse(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Lines, and rules between `;` outside of quotes and comments.
struct Piece {
  int line;
  std::string_view text;
};
std::vector<Piece> Split(std::string_view text) {
  std::vector<Piece> pieces;
  int line = 1;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\n';
    const bool comment = text.substr(begin).starts_with('#');
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (c != '\n' && (c != ';' || quoted || comment)) continue;
    pieces.push_back({line, text.substr(begin, i - begin)});
    begin = i + 1;
    if (c == '\n') {
      ++line;
      quoted = false;
    }
  }
  return pieces;
}

// Blank-separated words; a quoted part may hold blanks.
Result<std::vector<std::string>> Tokens(std::string_view text) {
  std::vector<std::string> tokens;
  bool quoted = false;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (!quoted && (c == ' ' || c == '\t')) {
      inside = false;
      continue;
    }
    if (!inside) tokens.emplace_back();
    inside = true;
    if (c == '"') {
      quoted = !quoted;
      continue;
    }
    if (quoted && c == '\\' && i + 1 < text.size()) {
      c = text[++i];
      if (c == 'n') c = '\n';
    }
    tokens.back() += c;
  }
  if (quoted) return Fail(Code::kInvalidArgument, "a quote is not closed");
  return tokens;
}

class RuleParser {
 public:
  RuleParser(std::span<const std::string_view> entries) : entries_(entries) {}

  Status Add(const std::vector<std::string>& tokens, Script& script) const {
    if (tokens.size() < 2) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("'{}' has no action; expected ENTRY[#N] ACTION [key=value …]", tokens[0]));
    }
    if (tokens[0] == "api") return AddApi(tokens, script);
    Rule rule;
    RL_CHECK_OK(ReadCall(tokens[0], rule));
    RL_ASSIGN(const ActionForm* form, FindForm(tokens[1]));
    rule.action = form->action;
    if (!form->entries.empty() && !Holds(form->entries, rule.entry)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("'{}' does not go with {}; it goes with {}", form->name, rule.entry,
                              fmt::join(Words(form->entries), ", ")));
    }
    for (size_t i = 2; i < tokens.size(); ++i) RL_CHECK_OK(ReadValue(tokens[i], *form, rule));
    for (const std::string_view key : Words(form->required)) {
      if (!rule.texts.contains(key) && !rule.numbers.contains(key)) {
        return Fail(Code::kInvalidArgument, fmt::format("'{}' needs {}=…", form->name, key));
      }
    }
    RL_CHECK_OK(CheckCode(rule));
    script.rules.push_back(std::move(rule));
    return {};
  }

 private:
  Result<std::string> EntryName(std::string_view word) const {
    const std::string full =
        word.starts_with("PJRT_") ? std::string(word) : fmt::format("PJRT_{}", word);
    if (std::ranges::find(entries_, full) != entries_.end()) return full;
    std::string message = fmt::format("PJRT's table has no '{}'", full);
    if (const auto nearest = NearestName(full, entries_)) {
      message += fmt::format("; did you mean '{}'?", *nearest);
    }
    return Fail(Code::kInvalidArgument, message);
  }

  // "Client_Compile#2+"
  Status ReadCall(std::string_view word, Rule& rule) const {
    const size_t hash = word.find('#');
    RL_ASSIGN(rule.entry, EntryName(word.substr(0, hash)));
    if (hash == std::string_view::npos) return {};
    std::string_view number = word.substr(hash + 1);
    const bool open = number.ends_with('+');
    if (open) number.remove_suffix(1);
    const size_t dash = number.find('-');
    const auto first = Parse<int64_t>(number.substr(0, dash));
    const auto last = open                             ? std::optional(rule.last)
                      : dash == std::string_view::npos ? first
                                                       : Parse<int64_t>(number.substr(dash + 1));
    if (!first || !last || *first < 1 || *last < *first) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("'{}' names no call; expected #N, #N+ or #N-M, from 1", word));
    }
    rule.first = *first;
    rule.last = *last;
    return {};
  }

  static Result<const ActionForm*> FindForm(std::string_view name) {
    std::vector<std::string_view> names;
    for (const ActionForm& form : kForms) {
      if (form.name == name) return &form;
      names.push_back(form.name);
    }
    return Fail(Code::kInvalidArgument, UnknownName("action", name, names));
  }

  static Status ReadValue(const std::string& token, const ActionForm& form, Rule& rule) {
    const size_t equals = token.find('=');
    const std::string key = token.substr(0, equals);
    const bool known = Holds(form.required, key) || Holds(form.optional, key) ||
                       (form.action != Action::kMissing && Holds(kConditions, key));
    if (!known || equals == std::string::npos) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("'{}' does not take '{}'; it takes{}{}{}", form.name, token,
                              form.required, form.optional, kConditions));
    }
    std::string value = token.substr(equals + 1);
    if (!Holds(kNumeric, key)) {
      rule.texts[key] = std::move(value);
      return {};
    }
    const auto number = Parse<double>(value);
    if (!number || *number < 0) {
      return Fail(Code::kInvalidArgument, fmt::format("'{}' is no number from 0", token));
    }
    rule.numbers[key] = *number;
    return {};
  }

  static Status CheckCode(const Rule& rule) {
    if (rule.action != Action::kError) return {};
    std::vector<std::string_view> names;
    for (int code = 1; code <= 16; ++code) names.push_back(CodeName(static_cast<Code>(code)));
    if (std::ranges::find(names, rule.Text("code")) != names.end()) return {};
    return Fail(Code::kInvalidArgument, UnknownName("error code", rule.Text("code"), names));
  }

  Status AddApi(const std::vector<std::string>& tokens, Script& script) const {
    const std::string value = tokens.size() > 2 ? tokens[2] : "";
    if (tokens[1] == "null" && tokens.size() == 2) {
      script.null_table = true;
      return {};
    }
    if (tokens[1] == "size" && value.starts_with("before=")) {
      RL_ASSIGN(script.size_before, EntryName(value.substr(7)));
      return {};
    }
    if (tokens[1] == "version" && value.starts_with("value=")) {
      const std::string_view text = std::string_view(value).substr(6);
      const size_t dot = text.find('.');
      const auto major = Parse<int>(text.substr(0, dot));
      const auto minor =
          dot == std::string_view::npos ? std::nullopt : Parse<int>(text.substr(dot + 1));
      if (major && minor) {
        script.version = std::pair(*major, *minor);
        return {};
      }
    }
    return Fail(Code::kInvalidArgument,
                "expected 'api null', 'api size before=ENTRY' or 'api version value=0.38'");
  }

  std::span<const std::string_view> entries_;
};

}  // namespace

std::string_view Rule::Text(std::string_view key) const {
  const auto it = texts.find(key);
  return it == texts.end() ? std::string_view() : it->second;
}

double Rule::Number(std::string_view key, double otherwise) const {
  const auto it = numbers.find(key);
  return it == numbers.end() ? otherwise : it->second;
}

Result<Script> ParseScript(std::string_view text, std::span<const std::string_view> entries) {
  Script script;
  const RuleParser parser(entries);
  for (const Piece& piece : Split(text)) {
    const auto at_line = [&piece](Error error) {
      error.where = fmt::format("faulty script:{}", piece.line);
      return tl::unexpected(std::move(error));
    };
    const size_t start = piece.text.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || piece.text[start] == '#') continue;
    const auto tokens = Tokens(piece.text.substr(start));
    if (!tokens) return at_line(tokens.error());
    if (const Status added = parser.Add(*tokens, script); !added) return at_line(added.error());
  }
  return script;
}

}  // namespace ridgeline::faulty
