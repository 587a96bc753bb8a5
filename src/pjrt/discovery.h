// Where plugins are found: the user's word, then the environment's, then installed Python packages,
// then the project's own cache.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ridgeline::pjrt {

// What the search depends on, passed in so that it can be tried in temporary folders.
struct SearchEnv {
  std::string plugin;       // RIDGELINE_PLUGIN: a name or a path
  std::string cache;        // RIDGELINE_CACHE; empty: ./.cache
  std::string python_path;  // PYTHONPATH
  std::string virtual_env;  // VIRTUAL_ENV
  std::string path;         // PATH: a Python's bin folder stands beside its lib
  std::string home;         // HOME
  std::string root = "/";   // of usr/lib and usr/local/lib

  static SearchEnv FromProcess();
};

struct PluginInfo {
  std::string name;     // "cpu", "tpu", "cuda", "rocm", …; of a path: its file name
  std::string library;  // absolute path of the shared library
  std::string source;   // "path", "python" or "cache"
  std::string package;  // where known: the package that it came in
  std::string version;
  std::string sha256;
  std::string licence;
};

// Every plugin found, in the order of the search; the first of a name is the one that is used.
std::vector<PluginInfo> ListPlugins(const SearchEnv& env);

// Whether `./dev plugins NAME` fetches it: a row of tools/plugins.lock.
bool IsFetchable(std::string_view name);

// `requested` is a path (has a '/' or ends in .so) or a name; empty: RIDGELINE_PLUGIN, else "cpu".
// The error says what was searched and what to do.
Result<PluginInfo> FindPlugin(std::string_view requested, const SearchEnv& env);

}  // namespace ridgeline::pjrt
