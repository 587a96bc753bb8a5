// The small interface that measuring needs. src/pjrt implements it over the PJRT C API, fake.h with
// scripted time. Nothing here is timed: the engine reads Client::Now() around these calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/shape.h"

namespace ridgeline::device {

struct MemoryInfo {
  std::string kind;  // "device", "pinned_host", "unpinned_host" …
  bool is_default = false;
};

struct DeviceInfo {
  int id = 0;  // PJRT's global id
  std::string kind;
  int process = 0;
  bool addressable = true;
  std::vector<int64_t> coords;  // position in the physical torus; empty when the plugin names none
  int core = 0;                 // core on the chip (attribute core_on_chip)
  std::vector<MemoryInfo> memories;
  std::map<std::string, std::string> attributes;  // every PJRT device attribute, as text
};

struct PlatformInfo {
  std::string name;     // "cpu", "tpu", "cuda"
  std::string version;  // as the plugin states it
  int api_major = 0;    // the plugin's PJRT API version
  int api_minor = 0;
  std::string plugin_path;
  std::map<std::string, std::string> attributes;
};

// Bytes on one device; absent where the plugin cannot say.
struct MemoryUse {
  int64_t in_use = 0;
  std::optional<int64_t> limit;
};

// An operation under way.
class Pending {
 public:
  virtual ~Pending() = default;
  // Blocks until it is done.
  virtual Status Await() = 0;
};

class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual const Shape& shape() const = 0;
  // Blocks until the contents are on the device.
  virtual Status Await() = 0;
  // Begins a copy into `destination`, which holds exactly shape().host_bytes() in row-major order
  // and outlives the returned Pending.
  virtual Result<std::unique_ptr<Pending>> StartRead(std::span<std::byte> destination) = 0;
  // Whether the buffer's memory is the host memory at `host` (a zero-copy alias). Unimplemented
  // when the plugin cannot tell.
  virtual Result<bool> Aliases(const void* host) const = 0;
};

// What the host promises about the memory that it hands over; PJRT_HostBufferSemantics.
enum class HostSemantics {
  kImmutableOnlyDuringCall,
  kImmutableUntilTransferCompletes,
  kImmutableZeroCopy,
};

struct PutRequest {
  std::span<const std::byte> data;  // row-major, shape.host_bytes()
  Shape shape;
  int device = 0;           // index into Client::devices()
  std::string memory_kind;  // empty: the device's default memory
  HostSemantics semantics = HostSemantics::kImmutableUntilTransferCompletes;
};

struct ProgramText {
  std::string format;  // "hlo_with_config", "hlo", "mlir"
  std::string bytes;
};

using BufferGrid = std::vector<std::vector<std::unique_ptr<Buffer>>>;  // [partition][argument]
using ArgumentGrid = std::vector<std::vector<Buffer*>>;                // borrowed, same layout

class Executable {
 public:
  virtual ~Executable() = default;
  // Starts the program on every partition and blocks until all of them are done. A donated argument
  // is dead afterwards, whatever the result.
  virtual Result<BufferGrid> Run(const ArgumentGrid& arguments) = 0;
  // Starts `count` runs one behind the other, then blocks until all are done; keeps the last
  // run's outputs. For programs without donated arguments.
  virtual Result<BufferGrid> RunBackToBack(const ArgumentGrid& arguments, int count) = 0;
  // The compiled program, as the plugin gives it back.
  virtual Result<ProgramText> OptimizedProgram() = 0;
};

using OptionValue = std::variant<std::string, bool, int64_t, double>;

struct CompileRequest {
  std::string program;       // StableHLO text or bytecode
  int partitions = 1;        // num_replicas is always 1
  std::vector<int> devices;  // index into Client::devices() for each partition
  std::map<std::string, OptionValue> xla_options;  // env_option_overrides
  bool shardy = false;                             // use_shardy_partitioner
};

class Client {
 public:
  virtual ~Client() = default;
  virtual const PlatformInfo& platform() const = 0;
  virtual const std::vector<DeviceInfo>& devices() const = 0;
  virtual Result<std::unique_ptr<Executable>> Compile(const CompileRequest& request) = 0;
  // Returns as soon as the plugin does; Buffer::Await waits for the data to arrive. `request.data`
  // outlives the transfer (and the buffer, for kImmutableZeroCopy).
  virtual Result<std::unique_ptr<Buffer>> StartPut(const PutRequest& request) = 0;
  // Seconds on a monotonic clock. The fake's clock moves only when the fake works.
  virtual double Now() = 0;
  virtual std::optional<MemoryUse> MemoryInUse(int device) = 0;
};

}  // namespace ridgeline::device
