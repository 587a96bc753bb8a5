// Errors are values below src/cli: every function that can fail returns Result<T>.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace ridgeline {

// The names and numbers of PJRT_Error_Code, so that a plugin's code passes through unchanged.
enum class Code {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "INVALID_ARGUMENT", …
std::string_view CodeName(Code code);

struct Error {
  Code code = Code::kUnknown;
  std::string message;  // what is wrong, with the bad value
  std::string where;    // file:line:column, PJRT entry point, or empty
  std::string next;     // what the user can do about it, or empty

  // "WHERE: MESSAGE\n  next: NEXT"
  std::string ToString() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(Code code, std::string message, std::string where = "",
                                  std::string next = "") {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where), std::move(next)});
}

}  // namespace ridgeline

#define RL_CONCAT_INNER(a, b) a##b
#define RL_CONCAT(a, b) RL_CONCAT_INNER(a, b)

// RL_ASSIGN(auto x, Function()): binds the value, or returns the error from the enclosing function.
#define RL_ASSIGN(declaration, expression) \
  RL_ASSIGN_INNER(declaration, expression, RL_CONCAT(rl_result_, __LINE__))
#define RL_ASSIGN_INNER(declaration, expression, temporary)            \
  auto temporary = (expression);                                       \
  if (!temporary) return tl::unexpected(std::move(temporary).error()); \
  declaration = std::move(*temporary)

// RL_CHECK_OK(Function()): returns the error from the enclosing function.
#define RL_CHECK_OK(expression)                                          \
  do {                                                                   \
    auto rl_status = (expression);                                       \
    if (!rl_status) return tl::unexpected(std::move(rl_status).error()); \
  } while (false)
