// Compiled programs with one change in them, as a compiler could have made it. The program that
// runs stays as it was: what is tried is the audit.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace ridgeline::faulty {

// `bytes` is an HloProto or HloModuleProtoWithConfig with one `while`. `how`:
//   empty      the loop body's work is gone
//   hoist      it runs once, before the loop
//   twice      it runs twice a round
//   copy       its result is copied once more
//   widen      it computes in the next wider type, its operands are converted
//   groups     a collective runs in other groups, or along the reversed pairs
//   constant   its first operand is a constant array
//   trips      the loop runs seven times, whatever its argument says
//   step       the loop's counter steps by two
//   no_loop    the while is a call of its body
//   cut        half of the bytes
//   garbage    other bytes
Result<std::string> ChangeProgram(const std::string& bytes, std::string_view how);

}  // namespace ridgeline::faulty
