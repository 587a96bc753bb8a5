// The script that tells the faulty plugin what to do wrong. One rule a line (or between `;`), blank
// lines and lines that start with # are skipped:
//
//     ENTRY[#N|#N+|#N-M] ACTION [key=value …]
//
// ENTRY is a function of PJRT's table, without PJRT_ or with it. #3 is the third call that the
// rule's conditions let through, #3+ that one and all later ones; without a number every call.
// Values with blanks stand in double quotes, \" \\ and \n inside them. All rules that match a call
// apply, in the order of the script. With a counts file (below) a number counts over all processes
// of a run.
//
// Conditions, for any action:
//     program=TEXT     the StableHLO text of the program at hand holds TEXT (Client_Compile,
//                      LoadedExecutable_Execute, Executable_OptimizedProgram, and buffers that a
//                      program has made: Buffer_ToHostBuffer, Buffer_ReadyEvent)
//     min_bytes=N      at least so many bytes (Client_BufferFromHostBuffer, Buffer_ToHostBuffer)
//     device=N         place of the device in PJRT_Client_Devices or in the launch
//     process=N        the Nth process of the run that loads the plugin (needs a counts file); two
//                      passes of a case are two processes
//
// Actions, for any entry:
//     error code=NAME [text=TEXT]   a PJRT error instead of the call
//     null                          success without the call: every result stays NULL
//     missing                       the table holds NULL instead (no number, no condition)
//     hang, abort, segfault, kill   of the process
//     exit status=N
//     leave_child s=N               fork a child that holds all descriptors for N seconds, go on
//     say fd=N text=TEXT            write to a descriptor, go on
//     sleep ms=N                    a slow call
//
// Actions of some entries:
//     late [ms=N] [round_us=N] [noise=SHARE] [drift=SHARE]
//         LoadedExecutable_Execute, Client_BufferFromHostBuffer, Buffer_ToHostBuffer: the call
//         returns at once and its work ends ms + rounds * round_us later than the real work or the
//         device's earlier late work; rounds is the scalar s32 that is the launch's first argument.
//         Each call's delay is multiplied by 1 + noise * z (z standard normal, at least 0) and by
//         1 + drift * calls before. Callbacks (PJRT_Event_OnReady) are not delayed.
//     early            LoadedExecutable_Execute: completion events that do not wait for the work
//     drop             the same three and Buffer_ReadyEvent: the call's events are NULL
//     wrong how=HOW    Buffer_ToHostBuffer: `element` (an exponent's bit of the middle one, for
//     f32), `swap` (the
//                      result of the neighbouring device of the launch), `stale` (nothing arrives),
//                      `nan` (the first element's bits are all ones)
//     count n=N        Client_Devices: so many of the devices
//     text from=TEXT to=TEXT   Client_Compile: another program is compiled
//     change how=HOW   Executable_OptimizedProgram: the answer is changed as program_change.h says
//
// Of the table itself:
//     api version value=0.38      the version that the table claims
//     api size before=ENTRY       the table ends before ENTRY
//     api null                    GetPjrtApi gives NULL
//
// RIDGELINE_FAULTY_PLUGIN   path of the real plugin, required
// RIDGELINE_FAULTY_SCRIPT   the script's text, or @FILE; empty: everything is forwarded
// RIDGELINE_FAULTY_COUNTS   file in which calls are counted over all processes
// A script that cannot be read makes PJRT_Plugin_Initialize fail with the reason.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace ridgeline::faulty {

enum class Action {
  kError,
  kNull,
  kMissing,
  kHang,
  kAbort,
  kSegfault,
  kKill,
  kExit,
  kLeaveChild,
  kSay,
  kSleep,
  kLate,
  kEarly,
  kDrop,
  kWrong,
  kCount,
  kText,
  kChange,
};

struct Rule {
  std::string entry;  // "PJRT_Client_Compile"
  int64_t first = 1;  // calls of it, from 1
  int64_t last = std::numeric_limits<int64_t>::max();
  Action action = Action::kNull;
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, double, std::less<>> numbers;

  std::string_view Text(std::string_view key) const;
  double Number(std::string_view key, double otherwise = 0) const;
};

struct Script {
  std::vector<Rule> rules;
  std::optional<std::pair<int, int>> version;
  std::string size_before;  // entry, or empty
  bool null_table = false;
};

// `entries` are the names of the table's functions. Errors name the line.
Result<Script> ParseScript(std::string_view text, std::span<const std::string_view> entries);

}  // namespace ridgeline::faulty
