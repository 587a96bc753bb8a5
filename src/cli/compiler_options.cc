#include "cli/compiler_options.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/build_info.h"
#include "cli/common.h"

namespace ridgeline::cli {

void AddCompilerOptions(CLI::App& command, CompilerOptions& options, double limit_s) {
  options.limit_s = limit_s;
  command.add_option(
      "--plugin", options.plugin,
      "name or path of the plugin that compiles (default: tpu or cuda, as the target needs)");
  command.add_option("--time-limit", options.limit_s, "seconds for one compile")
      ->check(CLI::Range(0.01, 86400.0))
      ->capture_default_str();
  command.add_option("--flag", options.flags,
                     "FLAG=VALUE of the compiler, as in XLA_FLAGS; may be repeated");
  command.add_flag("--no-cache", options.no_cache,
                   "compile anew, and keep nothing of it (see docs/predict.md)");
}

std::unique_ptr<predict::CompileCache> OpenCache(const CompilerOptions& options) {
  const std::string folder = options.no_cache ? "" : predict::CompileCacheFolder();
  if (folder.empty()) return nullptr;
  return std::make_unique<predict::CompileCache>(folder, std::string(Version()));
}

void TellCache(const predict::CompileCache* cache) {
  if (cache == nullptr) return;
  if (cache->found() > 0) {
    Err(fmt::format("ridgeline: {} compile{} cached (--no-cache compiles anew)\n", cache->found(),
                    cache->found() == 1 ? "" : "s"));
  }
  for (const std::string& warning : cache->warnings()) {
    Err(fmt::format("ridgeline: warning: cache: {}\n", Printable(warning)));
  }
}

}  // namespace ridgeline::cli
