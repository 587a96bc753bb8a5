#include "benchmarks/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace ridgeline::benchmarks {
namespace {

constexpr std::string_view kTextHint =
    "write it as text: jax.jit(f).lower(...).as_text(), or stablehlo-translate --deserialize";

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}

// Walks MLIR text; strings and comments are stepped over as wholes.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  size_t position() const { return at_; }

  void SkipBlanks() {
    while (!AtEnd()) {
      if (std::string_view(" \t\r\n").find(Peek()) != std::string_view::npos) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  bool Take(std::string_view token) {
    SkipBlanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  std::string_view TakeName() {
    SkipBlanks();
    const size_t start = at_;
    while (!AtEnd() && IsNameChar(Peek())) ++at_;
    return text_.substr(start, at_ - start);
  }

  // One character, string or name; its text.
  std::string_view TakeAny() {
    SkipBlanks();
    const size_t start = at_;
    if (Peek() == '"') {
      for (++at_; !AtEnd() && Peek() != '"'; ++at_) {
        if (Peek() == '\\') ++at_;
      }
      at_ = std::min(at_ + 1, text_.size());
    } else if (IsNameChar(Peek())) {
      return TakeName();
    } else if (!AtEnd()) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  // At an opening bracket: everything up to its partner, which is taken too. False at the end of
  // the text. The '>' of "->" closes nothing.
  bool SkipBracketed() {
    int depth = 0;
    do {
      SkipBlanks();
      if (AtEnd()) return false;
      if (Take("->")) continue;
      const std::string_view token = TakeAny();
      if (token.size() != 1) continue;
      if (std::string_view("({[<").find(token[0]) != std::string_view::npos) ++depth;
      if (std::string_view(")}]>").find(token[0]) != std::string_view::npos) --depth;
    } while (depth > 0);
    return true;
  }

  std::string Where(size_t position) const {
    const std::string_view before = text_.substr(0, position);
    const auto line = std::ranges::count(before, '\n') + 1;
    const size_t line_start = before.rfind('\n');
    const size_t column =
        line_start == std::string_view::npos ? position + 1 : position - line_start;
    return fmt::format("{}:{}", line, column);
  }

  std::string_view Excerpt(size_t from) const {
    constexpr size_t kShown = 60;
    const size_t end = std::min({text_.find('\n', from), from + kShown, text_.size()});
    return text_.substr(from, end - from);
  }

  void Rewind(size_t position) { at_ = position; }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text), scan_(text) {}

  Result<Signature> Read() {
    RL_CHECK_OK(RefuseOtherFormats());
    RL_CHECK_OK(FindMain());
    RL_CHECK_OK(ReadArguments());
    RL_CHECK_OK(ReadResults());
    if (scan_.Take("attributes")) RL_CHECK_OK(SkipAttributes());
    scan_.SkipBlanks();
    if (scan_.Peek() != '{') return Expected("the body of @main");
    RL_CHECK_OK(RefuseHostCalls());
    return std::move(signature_);
  }

 private:
  tl::unexpected<Error> Bad(Code code, size_t position, std::string message,
                            std::string next = "") const {
    return Fail(code, std::move(message), scan_.Where(position), std::move(next));
  }
  tl::unexpected<Error> Expected(std::string_view what) {
    scan_.SkipBlanks();
    const size_t position = scan_.position();
    return Bad(Code::kInvalidArgument, position,
               fmt::format("expected {}, found '{}'", what, Printable(scan_.Excerpt(position))));
  }

  Status RefuseOtherFormats() const {
    if (text_.starts_with("ML\xefR")) {
      return Fail(Code::kUnimplemented, "this is MLIR bytecode; only StableHLO text can be run", "",
                  std::string(kTextHint));
    }
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      return Fail(Code::kInvalidArgument, "the file is empty; expected StableHLO text");
    }
    const bool text_only = std::ranges::none_of(text_.substr(0, 4096), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
    });
    if (!text_only) {
      return Fail(Code::kInvalidArgument, "the file is not text; expected StableHLO text", "",
                  std::string(kTextHint));
    }
    if (text_.starts_with("HloModule")) {
      return Fail(Code::kUnimplemented, "this is HLO text; only StableHLO text can be run", "",
                  std::string(kTextHint));
    }
    return {};
  }

  // Leaves the scanner after "@main". The module's partition counts stand before it.
  Status FindMain() {
    while (true) {
      scan_.SkipBlanks();
      if (scan_.AtEnd()) break;
      const std::string_view token = scan_.TakeAny();
      if (token == "mhlo.num_partitions") RL_CHECK_OK(ReadCount(signature_.partitions));
      if (token == "mhlo.num_replicas") RL_CHECK_OK(ReadCount(signature_.replicas));
      if (token == "\"func.func\"") {
        return Bad(Code::kUnimplemented, scan_.position(),
                   "functions in MLIR's generic form cannot be read", std::string(kTextHint));
      }
      if (token != "func.func") continue;
      (void)(scan_.Take("public ") || scan_.Take("private ") || scan_.Take("nested "));
      if (scan_.Take("@") && scan_.TakeName() == "main") return {};
    }
    return Fail(Code::kInvalidArgument, "no function @main; expected a StableHLO module with one");
  }

  Status ReadCount(int64_t& count) {
    if (!scan_.Take("=")) return Expected("'='");
    const std::string_view digits = scan_.TakeName();
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return Expected("a number of partitions");
    }
    return {};
  }

  // {attributes} and loc(…) after a type.
  Status SkipAttributes() {
    while (true) {
      scan_.SkipBlanks();
      if (scan_.Peek() != '{' && !scan_.Take("loc")) return {};
      scan_.SkipBlanks();
      if (!scan_.SkipBracketed()) return Expected("the end of the attributes");
    }
  }

  Status ReadArguments() {
    if (!scan_.Take("(")) return Expected("'('");
    if (scan_.Take(")")) return {};
    do {
      if (!scan_.Take("%")) return Expected("an argument such as %arg0");
      scan_.TakeName();
      if (!scan_.Take(":")) return Expected("':'");
      RL_CHECK_OK(ReadType(signature_.arguments));
      RL_CHECK_OK(SkipAttributes());
    } while (scan_.Take(","));
    if (!scan_.Take(")")) return Expected("',' or ')'");
    return {};
  }

  Status ReadResults() {
    if (!scan_.Take("->")) return {};
    if (!scan_.Take("(")) return ReadType(signature_.results);
    if (scan_.Take(")")) return {};
    do {
      RL_CHECK_OK(ReadType(signature_.results));
      RL_CHECK_OK(SkipAttributes());
    } while (scan_.Take(","));
    if (!scan_.Take(")")) return Expected("',' or ')'");
    return {};
  }

  // A tensor, or a tuple of types, which is taken apart.
  Status ReadType(std::vector<Shape>& out, int depth = 0) {
    constexpr int kMaxDepth = 64;
    scan_.SkipBlanks();
    const size_t start = scan_.position();
    if (scan_.Take("tuple<")) {
      if (depth > kMaxDepth) return Bad(Code::kInvalidArgument, start, "tuples nest too deep");
      if (scan_.Take(">")) return {};
      do RL_CHECK_OK(ReadType(out, depth + 1));
      while (scan_.Take(","));
      if (!scan_.Take(">")) return Expected("',' or '>'");
      return {};
    }
    if (!scan_.Take("tensor<")) {
      if (scan_.Peek() != '!' && !IsNameChar(scan_.Peek())) return Expected("a type");
      return Bad(Code::kUnimplemented, start,
                 fmt::format("type '{}' cannot be passed to a program; expected tensors",
                             Printable(scan_.Excerpt(start))));
    }
    const size_t inside = scan_.position();
    scan_.Rewind(inside - 1);
    if (!scan_.SkipBracketed()) return Expected("the end of the type");
    const std::string_view type = text_.substr(inside, scan_.position() - 1 - inside);
    RL_ASSIGN(Shape shape, ReadTensor(type, start));
    out.push_back(std::move(shape));
    return {};
  }

  // "4x8xbf16", "f32", with an encoding behind a comma.
  Result<Shape> ReadTensor(std::string_view type, size_t start) const {
    const std::string shown = fmt::format("tensor<{}>", Printable(type));
    Shape shape;
    int64_t elements = 1;
    std::string_view rest = type.substr(0, type.find(','));
    while (!rest.empty() &&
           (rest[0] == '?' || rest[0] == '*' || (rest[0] >= '0' && rest[0] <= '9'))) {
      if (rest[0] == '?' || rest[0] == '*') {
        return Bad(Code::kUnimplemented, start, fmt::format("dynamic shapes: {}", shown),
                   "export the program for fixed shapes");
      }
      int64_t dim = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), dim);
      const bool fits = error == std::errc() && end != rest.data() + rest.size() && *end == 'x' &&
                        (dim == 0 || elements <= kMaxElements / dim);
      if (!fits)
        return Bad(Code::kInvalidArgument, start, fmt::format("bad or too large shape {}", shown));
      elements *= std::max<int64_t>(dim, 1);
      shape.dims.push_back(dim);
      rest.remove_prefix(static_cast<size_t>(end - rest.data()) + 1);
    }
    while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
    const auto dtypes = AllDTypes();
    const auto known = std::ranges::find_if(
        dtypes, [rest](const DTypeInfo& info) { return info.stablehlo == rest; });
    if (known == dtypes.end()) {
      return Bad(Code::kUnimplemented, start,
                 fmt::format("element type '{}' of {} is not supported", Printable(rest), shown));
    }
    shape.dtype = known->dtype;
    return shape;
  }

  // Programs that wait for the host while they run: it would be timed too, and the callback of the
  // process that wrote them is not here.
  Status RefuseHostCalls() {
    scan_.Rewind(0);
    while (true) {
      scan_.SkipBlanks();
      if (scan_.AtEnd()) return {};
      const size_t start = scan_.position();
      const std::string_view name = Unquoted(scan_.TakeAny());
      const bool has_target = (name.ends_with("custom_call") && scan_.Take("@")) ||
                              (name == "call_target_name" && scan_.Take("="));
      if (has_target) {
        const std::string_view target = Unquoted(scan_.TakeAny());
        if (target.find("callback") != std::string_view::npos) return Host(start, target);
      }
      if (name == "stablehlo.infeed" || name == "stablehlo.outfeed") return Host(start, name);
      if (name == "is_host_transfer" && scan_.Take("=") && scan_.Take("true")) {
        return Host(start, "a send to or a receive from the host");
      }
    }
  }

  static std::string_view Unquoted(std::string_view token) {
    const bool quoted = token.size() > 1 && token.front() == '"' && token.back() == '"';
    return quoted ? token.substr(1, token.size() - 2) : token;
  }

  tl::unexpected<Error> Host(size_t position, std::string_view what) const {
    return Bad(Code::kUnimplemented, position,
               fmt::format("the program calls back into the host: {}", Printable(what)),
               "export it without callbacks, debug prints and infeeds");
  }

  static constexpr int64_t kMaxElements = int64_t{1} << 50;

  std::string_view text_;
  Scanner scan_;
  Signature signature_;
};

}  // namespace

Result<Signature> ReadSignature(std::string_view text) { return SignatureReader(text).Read(); }

std::string WithoutDonation(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kMarks = {
      {{"tf.aliasing_output", "jax.was_aliasing_output"},
       {"jax.buffer_donor", "jax.was_buffer_donor"}}};
  std::string out(text);
  for (const auto& [mark, renamed] : kMarks) {
    for (size_t at = out.find(mark); at != std::string::npos;
         at = out.find(mark, at + renamed.size())) {
      out.replace(at, mark.size(), renamed);
    }
  }
  return out;
}

}  // namespace ridgeline::benchmarks
