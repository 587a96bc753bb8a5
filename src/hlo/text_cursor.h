// A place in HLO text: what both the reader of instructions and the reader of attributes need.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hlo_wire.pb.h"

namespace ridgeline::hlo {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }
  char Peek() const { return done() ? '\0' : text_[at_]; }
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view Between(size_t from, size_t to) const { return text_.substr(from, to - from); }

  // Blanks and /* comments */; line ends and // comments too where `lines`.
  void SkipBlanks(bool lines = true);
  // Skips blanks, then `word` if it is there.
  bool Take(std::string_view word);
  Status Expect(std::string_view word);
  // A name of letters, digits and _.-: without its %; empty when there is none.
  std::string_view TakeName();
  Result<int64_t> TakeInteger();
  // Up to one of `ends` outside of brackets and quotes, or the end of the text.
  Result<std::string_view> TakeUntil(std::string_view ends);
  Result<hlo_wire::Shape> TakeShape(int depth = 0);

  // "line:column: expected WHAT, found 'TEXT'".
  tl::unexpected<Error> Expected(std::string_view what) const;
  tl::unexpected<Error> Bad(size_t at, const std::string& message) const;

 private:
  Status TakeDimensions(hlo_wire::Shape& shape);
  Status TakeLayout(hlo_wire::Shape& shape);

  std::string_view text_;
  size_t at_;
};

// Every integer in "{0, 1,2}", whatever stands between.
std::vector<int64_t> Integers(std::string_view list);

}  // namespace ridgeline::hlo
