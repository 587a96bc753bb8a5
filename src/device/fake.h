// A device::Client without devices, for tests: its clock moves only when it works, by times that
// the test scripts, so that what the engine should find is known exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"

namespace ridgeline::device {

// `count` devices of kind "fake", ids 0 … count-1, one memory kind "device".
std::vector<DeviceInfo> FakeDevices(int count);

enum class FakeCall { kCompile, kPut, kRead, kRun };

// The nth call of that kind (from 1, over the client's life) fails with the error.
struct FakeFailure {
  FakeCall call;
  int nth;
  Error error;
};

using TensorGrid = std::vector<std::vector<HostTensor>>;            // [partition][output]
using TensorRefGrid = std::vector<std::vector<const HostTensor*>>;  // [partition][argument]

struct FakeOptions {
  std::vector<DeviceInfo> devices = FakeDevices(1);
  std::string platform = "fake";
  std::optional<int64_t> memory_limit;  // bytes on each device
  double put_bytes_per_s = 1e10;        // of each device, both ways at once
  double read_bytes_per_s = 1e10;
  double transfer_latency_s = 0;
  bool zero_copy_aliases = false;  // a kImmutableZeroCopy buffer is the host's memory

  // Time of one run; `count` is argument 0 when that is an s32 scalar, else 1. Empty: 1 µs.
  std::function<double(const std::string& program, int64_t count)> seconds;
  double noise = 0;        // each run is longer by this share times a normal number …
  double drift_per_s = 0;  // … and by this share for each second that the clock shows
  // After `busy_s` of work without a rest of `rest_s` every run takes `factor` times as long.
  struct Throttle {
    double busy_s = 0;
    double rest_s = 0;
    double factor = 1.35;
  };
  std::optional<Throttle> throttle;
  double compile_seconds = 0;
  uint64_t seed = 1;

  // Outputs from arguments. Empty: the donated arguments, unchanged. The donated arguments are the
  // last ones, as many as the program has tf.aliasing_output.
  std::function<TensorGrid(const std::string& program, const TensorRefGrid& arguments)> compute;
  // Called with every run's outputs, to spoil them. `run` counts from 1.
  std::function<void(int run, TensorGrid& outputs)> corrupt;
  // The answer of OptimizedProgram. Empty: the error kUnimplemented.
  std::function<Result<ProgramText>(const CompileRequest& request)> optimized;
  std::vector<FakeFailure> failures;
};

class FakeClient : public Client {
 public:
  explicit FakeClient(FakeOptions options = {});
  ~FakeClient() override;

  const PlatformInfo& platform() const override { return platform_; }
  const std::vector<DeviceInfo>& devices() const override;
  Result<std::unique_ptr<Executable>> Compile(const CompileRequest& request) override;
  Result<std::unique_ptr<Buffer>> StartPut(const PutRequest& request) override;
  double Now() override;
  std::optional<MemoryUse> MemoryInUse(int device) override;

  // The clock goes on, the devices do nothing.
  void Rest(double seconds);

  int calls(FakeCall call) const;

  struct State;  // shared with buffers and executables

 private:
  PlatformInfo platform_;
  std::shared_ptr<State> state_;
};

}  // namespace ridgeline::device
