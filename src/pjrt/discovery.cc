#include "pjrt/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/json.h"
#include "base/text.h"

namespace ridgeline::pjrt {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Sorted, so that the same folders always give the same plugin. Unreadable folders are empty.
std::vector<fs::path> Entries(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    result.push_back(it->path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string Absolute(const fs::path& path) {
  std::error_code error;
  const fs::path result = fs::absolute(path, error);
  return (error ? path : result.lexically_normal()).string();
}

// LIB/python3*/PACKAGES for each of `names`.
void AddPythonFolders(const fs::path& lib, std::initializer_list<const char*> names,
                      std::vector<fs::path>& folders) {
  for (const fs::path& entry : Entries(lib)) {
    if (!entry.filename().string().starts_with("python3")) continue;
    for (const char* name : names) {
      std::error_code error;
      if (fs::is_directory(entry / name, error)) folders.push_back(entry / name);
    }
  }
}

// The folders of a list such as PATH; empty ones are left out.
std::vector<fs::path> SplitPath(std::string_view list) {
  std::vector<fs::path> folders;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) folders.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

std::vector<fs::path> PythonFolders(const SearchEnv& env) {
  std::vector<fs::path> folders = SplitPath(env.python_path);
  if (!env.virtual_env.empty()) {
    AddPythonFolders(fs::path(env.virtual_env) / "lib", {"site-packages"}, folders);
  }
  for (const fs::path& bin : SplitPath(env.path)) {
    if (bin.filename() == "bin" && IsFile(bin / "python3")) {
      AddPythonFolders(bin.parent_path() / "lib", {"site-packages"}, folders);
    }
  }
  if (!env.home.empty()) {
    AddPythonFolders(fs::path(env.home) / ".local/lib", {"site-packages"}, folders);
  }
  const fs::path root(env.root);
  AddPythonFolders(root / "usr/lib", {"dist-packages"}, folders);
  AddPythonFolders(root / "usr/local/lib", {"site-packages", "dist-packages"}, folders);
  return folders;
}

// Places of plugins in packages that do not register with jax_plugins.
struct KnownLayout {
  const char* name;
  const char* library;
};
constexpr KnownLayout kKnown[] = {
    {"cpu", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"},
    {"cpu", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"},
    {"tpu", "libtpu/libtpu.so"},
};

std::string ReadText(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The value of a header line "KEY: value" of a METADATA file.
std::string MetadataField(const fs::path& metadata, const std::string& key) {
  std::ifstream file(metadata);
  const std::string start = key + ": ";
  // The description follows the first empty line.
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return "";
}

// Fills in the package whose list of files (RECORD of its dist-info folder) names the library.
void NamePackage(const fs::path& folder, const fs::path& library, PluginInfo& plugin) {
  const std::string start = library.lexically_relative(folder).generic_string() + ",";
  for (const fs::path& info : Entries(folder)) {
    if (info.extension() != ".dist-info") continue;
    const std::string record = ReadText(info / "RECORD");
    if (!record.starts_with(start) && record.find("\n" + start) == std::string::npos) continue;
    plugin.package = MetadataField(info / "METADATA", "Name");
    plugin.version = MetadataField(info / "METADATA", "Version");
    plugin.licence = MetadataField(info / "METADATA", "License");
    return;
  }
}

// "xla_cuda13" -> "cuda", "pjrt_plugin_tt" -> "tt".
std::string PlatformName(std::string folder) {
  for (std::string_view prefix : {"xla_", "pjrt_plugin_"}) {
    if (folder.starts_with(prefix)) folder.erase(0, prefix.size());
  }
  while (folder.size() > 1 && folder.back() >= '0' && folder.back() <= '9') folder.pop_back();
  return folder;
}

// The plugin's library under one folder of jax_plugins; helper libraries beside it are passed over.
fs::path LibraryUnder(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string file = it->path().filename().string();
    const bool named =
        file.find("plugin") != std::string::npos || file.find("pjrt") != std::string::npos;
    if (named && file.ends_with(".so") && IsFile(it->path())) found.push_back(it->path());
  }
  return found.empty() ? fs::path() : *std::min_element(found.begin(), found.end());
}

void AddFromPython(const fs::path& folder, std::vector<PluginInfo>& plugins) {
  for (const KnownLayout& known : kKnown) {
    const fs::path library = folder / known.library;
    if (!IsFile(library)) continue;
    plugins.push_back({known.name, Absolute(library), "python", "", "", "", ""});
    NamePackage(folder, library, plugins.back());
  }
  for (const fs::path& package : Entries(folder / "jax_plugins")) {
    const fs::path library = LibraryUnder(package);
    if (library.empty()) continue;
    const std::string name = PlatformName(package.filename().string());
    plugins.push_back({name, Absolute(library), "python", "", "", "", ""});
    NamePackage(folder, library, plugins.back());
  }
}

// CACHE/plugins/NAME/plugin.json, as ./dev writes it.
Result<PluginInfo> ReadManifest(const fs::path& path) {
  auto json = ParseJson(ReadText(path));
  if (!json || !json->is_object()) {
    return Fail(Code::kInvalidArgument, json ? "not a JSON object" : json.error().message,
                path.string());
  }
  PluginInfo info;
  info.name = StringOr(*json, "name");
  info.source = "cache";
  info.package = StringOr(*json, "package");
  info.version = StringOr(*json, "version");
  info.sha256 = StringOr(*json, "sha256");
  info.licence = StringOr(*json, "licence");
  const fs::path library = path.parent_path() / StringOr(*json, "library");
  if (info.name.empty() || !IsFile(library)) {
    return Fail(Code::kNotFound,
                fmt::format("names plugin '{}' and library '{}', which is not there", info.name,
                            library.string()),
                path.string());
  }
  info.library = Absolute(library);
  return info;
}

struct Search {
  std::vector<PluginInfo> plugins;
  std::vector<std::string> searched;
  std::vector<std::string> problems;
};

Search SearchAll(const SearchEnv& env) {
  Search search;
  for (const fs::path& folder : PythonFolders(env)) {
    search.searched.push_back(folder.string());
    AddFromPython(folder, search.plugins);
  }
  const fs::path cache = fs::path(env.cache.empty() ? ".cache" : env.cache) / "plugins";
  search.searched.push_back(cache.string());
  for (const fs::path& folder : Entries(cache)) {
    if (!IsFile(folder / "plugin.json")) continue;
    auto info = ReadManifest(folder / "plugin.json");
    if (info) {
      search.plugins.push_back(std::move(*info));
    } else {
      search.problems.push_back(info.error().ToString());
    }
  }
  return search;
}

bool IsPath(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".so");
}

}  // namespace

SearchEnv SearchEnv::FromProcess() {
  SearchEnv env;
  env.plugin = Variable("RIDGELINE_PLUGIN");
  env.cache = Variable("RIDGELINE_CACHE");
  env.python_path = Variable("PYTHONPATH");
  env.virtual_env = Variable("VIRTUAL_ENV");
  env.path = Variable("PATH");
  env.home = Variable("HOME");
  return env;
}

std::vector<PluginInfo> ListPlugins(const SearchEnv& env) { return SearchAll(env).plugins; }

bool IsFetchable(std::string_view name) {
  return name.find(' ') == std::string_view::npos &&
         fmt::format(" {} ", RIDGELINE_FETCHABLE_PLUGINS).find(fmt::format(" {} ", name)) !=
             std::string::npos;
}

Result<PluginInfo> FindPlugin(std::string_view requested, const SearchEnv& env) {
  const bool from_env = requested.empty() && !env.plugin.empty();
  const std::string wanted(!requested.empty() ? requested : from_env ? env.plugin : "cpu");
  const std::string where = from_env ? "RIDGELINE_PLUGIN" : "plugin";
  if (IsPath(wanted)) {
    if (!IsFile(wanted)) {
      return Fail(Code::kNotFound, fmt::format("no plugin library at '{}'", wanted), where,
                  "give the path of a PJRT plugin's shared library, or a name such as cpu");
    }
    return PluginInfo{
        fs::path(wanted).filename().string(), Absolute(wanted), "path", "", "", "", ""};
  }
  const Search search = SearchAll(env);
  std::string found;
  for (const PluginInfo& plugin : search.plugins) {
    if (plugin.name == wanted) return plugin;
    found += (found.empty() ? "" : ", ") + plugin.name;
  }
  std::string message =
      fmt::format("no plugin named '{}'; found: {}; searched: {}", Printable(wanted),
                  found.empty() ? "none" : found, fmt::join(search.searched, ", "));
  for (const std::string& problem : search.problems) message += "; " + problem;
  return Fail(Code::kNotFound, message, where,
              fmt::format("{}install a Python package that carries the plugin, or give its path "
                          "with --plugin",
                          IsFetchable(wanted) ? fmt::format("./dev plugins {}, ", wanted) : ""));
}

}  // namespace ridgeline::pjrt
