// What compilers answered, kept on disk by the content of the question: the program's bytes, the
// options, the target, the plugin and its flags. An entry holds its question too and is compared
// with it byte for byte. Whatever happens to the files, the worst is a compile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "pjrt/aot.h"

namespace ridgeline::predict {

class CompileCache {
 public:
  // `version`: of this program. `most_bytes`: all entries together; the least recently used go.
  CompileCache(std::string folder, std::string version, int64_t most_bytes = int64_t{4} << 30);

  struct Question {
    std::string file;     // of the entry
    std::string content;  // as it stands in the entry
  };
  Question Ask(const pjrt::TopologyRequest& topology, const device::CompileRequest& request) const;

  // nullopt: not there, or damaged, which is a warning.
  std::optional<std::string> Find(const Question& question);
  // Atomic: another process sees all of the entry or none. Failures are warnings.
  void Keep(const Question& question, const std::string& answer);

  int found() const { return found_; }
  // Each once, in words.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void Warn(std::string text);
  void MakeRoom();

  std::string folder_;
  std::string version_;
  int64_t most_bytes_;
  int found_ = 0;
  std::vector<std::string> warnings_;
};

// RIDGELINE_CACHE, XDG_CACHE_HOME/ridgeline or HOME/.cache/ridgeline, and there "compiles"; empty
// when none of them is set.
std::string CompileCacheFolder();

}  // namespace ridgeline::predict
