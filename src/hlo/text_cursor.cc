#include "hlo/text_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/text.h"
#include "hlo/module.h"

namespace ridgeline::hlo {
namespace {

constexpr int kMaxShapeDepth = 64;
constexpr size_t kShown = 30;  // characters of the text that a message repeats

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

}  // namespace

void TextCursor::SkipBlanks(bool lines) {
  while (!done()) {
    const char c = Peek();
    if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n')) {
      ++at_;
    } else if (rest().starts_with("/*")) {
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == text_.npos ? text_.size() : end + 2;
    } else if (lines && rest().starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool TextCursor::Take(std::string_view word) {
  SkipBlanks();
  if (!rest().starts_with(word)) return false;
  at_ += word.size();
  return true;
}

Status TextCursor::Expect(std::string_view word) {
  if (Take(word)) return {};
  return Expected(fmt::format("'{}'", word));
}

std::string_view TextCursor::TakeName() {
  SkipBlanks();
  if (Peek() == '%') ++at_;
  const size_t start = at_;
  while (!done() && IsNameCharacter(Peek())) ++at_;
  return Between(start, at_);
}

Result<int64_t> TextCursor::TakeInteger() {
  SkipBlanks();
  int64_t value = 0;
  const auto [end, problem] =
      std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (problem == std::errc::result_out_of_range) return Bad(at_, "a number beyond 64 bits");
  if (problem != std::errc()) return Expected("a number");
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

Result<std::string_view> TextCursor::TakeUntil(std::string_view ends) {
  const size_t start = at_;
  std::vector<size_t> open;
  for (; !done(); ++at_) {
    const char c = Peek();
    if (open.empty() && ends.find(c) != ends.npos) break;
    if (c == '"') {
      const size_t quote = at_;
      for (++at_; !done() && Peek() != '"'; ++at_) {
        if (Peek() == '\\') ++at_;
      }
      at_ = std::min(at_, text_.size());  // a backslash may be the last character
      if (done()) return Bad(quote, "this quote is not closed before the file ends");
    } else if (c == '{' || c == '[' || c == '(') {
      open.push_back(at_);
    } else if (c == '}' || c == ']' || c == ')') {
      if (open.empty()) return Bad(at_, fmt::format("'{}' closes nothing", c));
      open.pop_back();
    }
  }
  if (!open.empty()) {
    return Bad(open.back(),
               fmt::format("this '{}' is not closed before the file ends", text_[open.back()]));
  }
  return Between(start, at_);
}

Result<hlo_wire::Shape> TextCursor::TakeShape(int depth) {
  hlo_wire::Shape shape;
  if (depth > kMaxShapeDepth) {
    return Bad(at_, fmt::format("tuples nest more than {} deep", kMaxShapeDepth));
  }
  if (Take("(")) {
    shape.set_element_type(kTupleType);
    while (!Take(")")) {
      if (shape.tuple_shapes_size() > 0) RL_CHECK_OK(Expect(","));
      RL_ASSIGN(*shape.add_tuple_shapes(), TakeShape(depth + 1));
    }
    return shape;
  }
  SkipBlanks();
  const size_t start = at_;
  const std::string_view type = TakeName();
  const std::optional<int> number = PrimitiveNumber(type);
  if (!number) {
    at_ = start;
    return Expected("a shape such as f32[8,16]");
  }
  shape.set_element_type(*number);
  RL_CHECK_OK(TakeDimensions(shape));
  // Without a blank between: "f32[8]{0}", not the brace of a computation.
  if (Peek() == '{') RL_CHECK_OK(TakeLayout(shape));
  return shape;
}

Status TextCursor::TakeDimensions(hlo_wire::Shape& shape) {
  RL_CHECK_OK(Expect("["));
  while (!Take("]")) {
    if (shape.dimensions_size() > 0) RL_CHECK_OK(Expect(","));
    shape.add_is_dynamic_dimension(Take("<="));
    if (Take("?")) {
      shape.add_dimensions(std::numeric_limits<int64_t>::min());
      continue;
    }
    RL_ASSIGN(const int64_t size, TakeInteger());
    shape.add_dimensions(size);
  }
  return {};
}

// "{1,0:T(8,128)(2,1)E(4)S(1)}"
Status TextCursor::TakeLayout(hlo_wire::Shape& shape) {
  ++at_;
  RL_ASSIGN(const std::string_view layout, TakeUntil("}"));
  RL_CHECK_OK(Expect("}"));
  const size_t colon = std::min(layout.find(':'), layout.size());
  for (const int64_t dim : Integers(layout.substr(0, colon))) {
    shape.mutable_layout()->add_minor_to_major(dim);
  }
  const auto property = [&](char letter) -> int64_t {
    const std::string sign = {letter, '('};
    const size_t at = layout.find(sign, colon);
    const auto found = at == layout.npos ? std::vector<int64_t>() : Integers(layout.substr(at));
    return found.empty() ? 0 : found[0];
  };
  if (const int64_t space = property('S'); space != 0) {
    shape.mutable_layout()->set_memory_space(space);
  }
  if (const int64_t bits = property('E'); bits != 0) {
    shape.mutable_layout()->set_element_size_in_bits(bits);
  }
  return {};
}

tl::unexpected<Error> TextCursor::Expected(std::string_view what) const {
  if (done()) return Bad(at_, fmt::format("expected {}, but the file ends", what));
  const std::string_view found = rest().substr(0, std::min(rest().find('\n'), kShown));
  return Bad(at_, fmt::format("expected {}, found '{}'", what, Printable(found)));
}

tl::unexpected<Error> TextCursor::Bad(size_t at, const std::string& message) const {
  const std::string_view before = text_.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  return Fail(Code::kInvalidArgument, "HLO text: " + message,
              fmt::format("{}:{}", line, at - start + 1),
              "HLO text as --xla_dump_to writes it; is the file whole?");
}

std::vector<int64_t> Integers(std::string_view list) {
  std::vector<int64_t> found;
  const char* const end = list.data() + list.size();
  for (const char* at = list.data(); at < end;) {
    int64_t value = 0;
    const auto [next, problem] = std::from_chars(at, end, value);
    if (problem == std::errc()) found.push_back(value);
    at = problem == std::errc() ? next : at + 1;
  }
  return found;
}

}  // namespace ridgeline::hlo
