#include "device/fake.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"

namespace ridgeline::device {

struct FakeClient::State {
  explicit State(FakeOptions o)
      : options(std::move(o)),
        random(options.seed, 0),
        in_use(options.devices.size()),
        put_free_at(options.devices.size()),
        read_free_at(options.devices.size()) {}

  // The scripted failure of this call, if it is its turn.
  Status Count(FakeCall call) {
    const int nth = ++calls[static_cast<size_t>(call)];
    for (const FakeFailure& failure : options.failures) {
      if (failure.call == call && failure.nth == nth) return tl::unexpected(failure.error);
    }
    return {};
  }

  Status CheckDevice(int device) const {
    if (device >= 0 && static_cast<size_t>(device) < options.devices.size()) return {};
    return Fail(Code::kInvalidArgument,
                fmt::format("no device {}: there are {}", device, options.devices.size()), "fake");
  }

  Status Allocate(int device, int64_t bytes) {
    int64_t& used = in_use[static_cast<size_t>(device)];
    if (options.memory_limit && used + bytes > *options.memory_limit) {
      return Fail(Code::kResourceExhausted,
                  fmt::format("out of memory on device {}: {} bytes in use, {} asked, limit {}",
                              device, used, bytes, *options.memory_limit),
                  "fake");
    }
    used += bytes;
    return {};
  }

  // Queues `bytes` on a link that is free at `free_at`; returns when they have arrived.
  double Transfer(double& free_at, int64_t bytes, double bytes_per_s) const {
    free_at = std::max(clock, free_at) + options.transfer_latency_s +
              static_cast<double>(bytes) / bytes_per_s;
    return free_at;
  }

  double RunSeconds(const std::string& program, int64_t count) {
    const double base = options.seconds ? options.seconds(program, count) : 1e-6;
    const double noise = 1 + options.noise * random.Normal(runs);
    return base * std::max(noise, 0.0) * (1 + options.drift_per_s * clock) * ThrottleFactor();
  }

  double ThrottleFactor() const {
    return options.throttle && busy > options.throttle->busy_s ? options.throttle->factor : 1;
  }

  void Rest(double seconds) {
    clock += seconds;
    if (options.throttle && seconds >= options.throttle->rest_s) busy = 0;
  }

  void WaitUntil(double when) { clock = std::max(clock, when); }

  FakeOptions options;
  RandomStream random;
  double clock = 0;
  double busy = 0;  // seconds of runs since the last rest
  int runs = 0;
  std::array<int, 4> calls{};
  // By device.
  std::vector<int64_t> in_use;
  std::vector<double> put_free_at;
  std::vector<double> read_free_at;
};

namespace {

using SharedState = std::shared_ptr<FakeClient::State>;

class FakePending : public Pending {
 public:
  FakePending(SharedState state, double done_at) : state_(std::move(state)), done_at_(done_at) {}
  Status Await() override {
    state_->WaitUntil(done_at_);
    return {};
  }

 private:
  SharedState state_;
  double done_at_;
};

class FakeBuffer : public Buffer {
 public:
  // Memory for `tensor` is already allocated on the device.
  FakeBuffer(SharedState state, HostTensor tensor, int device, double ready_at, const void* alias)
      : state_(std::move(state)),
        tensor_(std::move(tensor)),
        device_(device),
        ready_at_(ready_at),
        alias_(alias) {}
  ~FakeBuffer() override { Release(); }

  const Shape& shape() const override { return tensor_.shape; }

  Status Await() override {
    RL_CHECK_OK(CheckAlive());
    state_->WaitUntil(ready_at_);
    return {};
  }

  Result<std::unique_ptr<Pending>> StartRead(std::span<std::byte> destination) override {
    RL_CHECK_OK(state_->Count(FakeCall::kRead));
    RL_CHECK_OK(CheckAlive());
    if (destination.size() != tensor_.bytes.size()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{} takes {} bytes, {} were given", shape().ToString(),
                              tensor_.bytes.size(), destination.size()),
                  "fake");
    }
    std::copy(tensor_.bytes.begin(), tensor_.bytes.end(), destination.begin());
    double& link = state_->read_free_at[static_cast<size_t>(device_)];
    link = std::max(link, ready_at_);
    return std::make_unique<FakePending>(
        state_, state_->Transfer(link, shape().host_bytes(), state_->options.read_bytes_per_s));
  }

  Result<bool> Aliases(const void* host) const override {
    return alias_ != nullptr && alias_ == host;
  }

  Status CheckAlive() const {
    if (alive_) return {};
    return Fail(Code::kInvalidArgument, "the buffer was donated", "fake");
  }
  void Release() {
    if (std::exchange(alive_, false)) {
      state_->in_use[static_cast<size_t>(device_)] -= shape().device_bytes();
    }
  }
  const HostTensor& tensor() const { return tensor_; }
  int device() const { return device_; }
  double ready_at() const { return ready_at_; }

 private:
  SharedState state_;
  HostTensor tensor_;
  int device_;
  double ready_at_;
  const void* alias_;
  bool alive_ = true;
};

class FakeExecutable : public Executable {
 public:
  FakeExecutable(SharedState state, CompileRequest request)
      : state_(std::move(state)), request_(std::move(request)) {
    constexpr std::string_view kDonated = "tf.aliasing_output";
    for (size_t at = request_.program.find(kDonated); at != std::string::npos;
         at = request_.program.find(kDonated, at + kDonated.size())) {
      ++donated_;
    }
  }

  Result<BufferGrid> Run(const ArgumentGrid& arguments) override {
    RL_ASSIGN(const TensorRefGrid tensors, Check(arguments));
    if (Status status = state_->Count(FakeCall::kRun); !status) {
      ReleaseDonated(arguments);
      return tl::unexpected(std::move(status).error());
    }
    for (const auto& row : arguments) {
      for (Buffer* argument : row)
        state_->WaitUntil(static_cast<FakeBuffer*>(argument)->ready_at());
    }
    ++state_->runs;
    const double seconds = state_->RunSeconds(request_.program, CountArgument(tensors));
    state_->clock += seconds;
    state_->busy += seconds;
    TensorGrid outputs = Compute(tensors);
    if (state_->options.corrupt) state_->options.corrupt(state_->runs, outputs);
    ReleaseDonated(arguments);
    return Wrap(std::move(outputs));
  }

  Result<BufferGrid> RunBackToBack(const ArgumentGrid& arguments, int count) override {
    if (count < 1) {
      return Fail(Code::kInvalidArgument, fmt::format("cannot run {} times", count), "fake");
    }
    for (int i = 1; i < count; ++i) RL_CHECK_OK(Run(arguments));
    return Run(arguments);
  }

  Result<ProgramText> OptimizedProgram() override {
    if (state_->options.optimized) return state_->options.optimized(request_);
    return Fail(Code::kUnimplemented, "the fake has no optimised program", "fake");
  }

 private:
  void ReleaseDonated(const ArgumentGrid& arguments) const {
    for (const auto& row : arguments) {
      for (size_t i = row.size() - donated_; i < row.size(); ++i) {
        static_cast<FakeBuffer*>(row[i])->Release();
      }
    }
  }

  Result<TensorRefGrid> Check(const ArgumentGrid& arguments) const {
    if (arguments.size() != request_.devices.size()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("arguments for {} partitions given, the program has {}",
                              arguments.size(), request_.devices.size()),
                  "fake");
    }
    TensorRefGrid tensors;
    for (size_t p = 0; p < arguments.size(); ++p) {
      if (arguments[p].size() < donated_) {
        return Fail(Code::kInvalidArgument, "fewer arguments than donated ones", "fake");
      }
      auto& row = tensors.emplace_back();
      for (Buffer* argument : arguments[p]) {
        const auto* buffer = static_cast<const FakeBuffer*>(argument);
        RL_CHECK_OK(buffer->CheckAlive());
        if (buffer->device() != request_.devices[p]) {
          return Fail(Code::kInvalidArgument,
                      fmt::format("partition {} runs on device {}, its argument is on device {}", p,
                                  request_.devices[p], buffer->device()),
                      "fake");
        }
        row.push_back(&buffer->tensor());
      }
    }
    return tensors;
  }

  static int64_t CountArgument(const TensorRefGrid& tensors) {
    if (tensors[0].empty()) return 1;
    const HostTensor& first = *tensors[0][0];
    return first.shape == Shape{DType::kS32, {}} ? static_cast<int64_t>(first.at(0)) : 1;
  }

  TensorGrid Compute(const TensorRefGrid& tensors) const {
    if (state_->options.compute) return state_->options.compute(request_.program, tensors);
    TensorGrid outputs;
    for (const auto& row : tensors) {
      auto& kept = outputs.emplace_back();
      for (size_t i = row.size() - donated_; i < row.size(); ++i) kept.push_back(*row[i]);
    }
    return outputs;
  }

  Result<BufferGrid> Wrap(TensorGrid outputs) const {
    BufferGrid grid;
    for (size_t p = 0; p < outputs.size(); ++p) {
      auto& row = grid.emplace_back();
      for (HostTensor& tensor : outputs[p]) {
        const int device = request_.devices[p];
        RL_CHECK_OK(state_->Allocate(device, tensor.shape.device_bytes()));
        row.push_back(std::make_unique<FakeBuffer>(state_, std::move(tensor), device, state_->clock,
                                                   nullptr));
      }
    }
    return grid;
  }

  SharedState state_;
  CompileRequest request_;
  size_t donated_ = 0;
};

}  // namespace

std::vector<DeviceInfo> FakeDevices(int count) {
  std::vector<DeviceInfo> devices(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    DeviceInfo& info = devices[static_cast<size_t>(i)];
    info.id = i;
    info.kind = "fake";
    info.memories = {{"device", true}};
  }
  return devices;
}

FakeClient::FakeClient(FakeOptions options) : state_(std::make_shared<State>(std::move(options))) {
  platform_.name = state_->options.platform;
  platform_.version = "1";
}

FakeClient::~FakeClient() = default;

const std::vector<DeviceInfo>& FakeClient::devices() const { return state_->options.devices; }

Result<std::unique_ptr<Executable>> FakeClient::Compile(const CompileRequest& request) {
  RL_CHECK_OK(state_->Count(FakeCall::kCompile));
  if (request.devices.size() != static_cast<size_t>(request.partitions)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} devices named for {} partitions", request.devices.size(),
                            request.partitions),
                "fake");
  }
  for (int device : request.devices) RL_CHECK_OK(state_->CheckDevice(device));
  state_->clock += state_->options.compile_seconds;
  return std::make_unique<FakeExecutable>(state_, request);
}

Result<std::unique_ptr<Buffer>> FakeClient::StartPut(const PutRequest& request) {
  RL_CHECK_OK(state_->Count(FakeCall::kPut));
  RL_CHECK_OK(state_->CheckDevice(request.device));
  if (request.data.size() != static_cast<size_t>(request.shape.host_bytes())) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} needs {} bytes, {} were given", request.shape.ToString(),
                            request.shape.host_bytes(), request.data.size()),
                "fake");
  }
  const auto& memories = devices()[static_cast<size_t>(request.device)].memories;
  if (!request.memory_kind.empty() &&
      std::none_of(memories.begin(), memories.end(),
                   [&](const MemoryInfo& m) { return m.kind == request.memory_kind; })) {
    return Fail(Code::kInvalidArgument, fmt::format("no memory kind '{}'", request.memory_kind),
                "fake");
  }
  RL_CHECK_OK(state_->Allocate(request.device, request.shape.device_bytes()));
  HostTensor tensor(request.shape);
  std::copy(request.data.begin(), request.data.end(), tensor.bytes.begin());
  const bool alias =
      state_->options.zero_copy_aliases && request.semantics == HostSemantics::kImmutableZeroCopy;
  double ready_at = state_->clock;
  if (!alias) {
    ready_at = state_->Transfer(state_->put_free_at[static_cast<size_t>(request.device)],
                                request.shape.host_bytes(), state_->options.put_bytes_per_s);
  }
  if (request.semantics == HostSemantics::kImmutableOnlyDuringCall) state_->WaitUntil(ready_at);
  return std::make_unique<FakeBuffer>(state_, std::move(tensor), request.device, ready_at,
                                      alias ? request.data.data() : nullptr);
}

double FakeClient::Now() { return state_->clock; }

std::optional<MemoryUse> FakeClient::MemoryInUse(int device) {
  if (!state_->CheckDevice(device)) return std::nullopt;
  return MemoryUse{state_->in_use[static_cast<size_t>(device)], state_->options.memory_limit};
}

void FakeClient::Rest(double seconds) { state_->Rest(seconds); }

int FakeClient::calls(FakeCall call) const { return state_->calls[static_cast<size_t>(call)]; }

}  // namespace ridgeline::device
