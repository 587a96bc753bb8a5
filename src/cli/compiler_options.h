// What `compile` and `predict` let a user say of compilers: plugin, time, flags, the cache.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "predict/compile_cache.h"

namespace ridgeline::cli {

struct CompilerOptions {
  std::string plugin;
  double limit_s = 0;
  bool no_cache = false;
  std::vector<std::string> flags;  // NAME=VALUE
};

// --plugin, --time-limit, --flag, --no-cache; `limit_s` is the default.
void AddCompilerOptions(CLI::App& command, CompilerOptions& options, double limit_s);

// nullptr when none is wanted, or there is no place for it.
std::unique_ptr<predict::CompileCache> OpenCache(const CompilerOptions& options);
// What came from it and what went wrong with it, on stderr.
void TellCache(const predict::CompileCache* cache);

}  // namespace ridgeline::cli
