#include "pjrt/executable.h"

#include <fmt/format.h>

#include "pjrt/buffer.h"
#include "pjrt/compile_options.h"

namespace ridgeline::pjrt {
namespace {

constexpr size_t kMostProgramBytes = size_t{1} << 31;  // protobuf's limit

using device::ArgumentGrid;
using device::BufferGrid;

// What one start of the program gives: its outputs and, for each device, the end of the run.
struct Launch {
  std::vector<std::vector<Handle<PJRT_Buffer>>> outputs;  // [partition][output]
  std::vector<Handle<PJRT_Event>> done;                   // [partition]
  Status status;                                          // of the start
};

// Waits for all devices even after an error: nothing may still run when the caller goes on.
Status AwaitAll(const std::vector<Handle<PJRT_Event>>& events) {
  Status first;
  for (const auto& event : events) {
    Status status = Await(event);
    if (first && !status) first = std::move(status);
  }
  return first;
}

class PjrtExecutable : public device::Executable {
 public:
  PjrtExecutable(SharedClient client, Handle<PJRT_LoadedExecutable> loaded,
                 Handle<PJRT_Executable> executable, size_t partitions, size_t outputs)
      : client_(std::move(client)),
        loaded_(std::move(loaded)),
        executable_(std::move(executable)),
        partitions_(partitions),
        outputs_(outputs) {}

  Result<BufferGrid> Run(const ArgumentGrid& arguments) override {
    return RunBackToBack(arguments, 1);
  }

  Result<BufferGrid> RunBackToBack(const ArgumentGrid& arguments, int count) override {
    RL_CHECK_OK(Check(arguments, count));
    std::vector<std::vector<PJRT_Buffer*>> buffers(partitions_);
    std::vector<PJRT_Buffer* const*> lists;
    for (size_t p = 0; p < partitions_; ++p) {
      for (const device::Buffer* argument : arguments[p]) {
        buffers[p].push_back(static_cast<const PjrtBuffer*>(argument)->get());
      }
      lists.push_back(buffers[p].data());
    }
    std::vector<Handle<PJRT_Event>> done;
    Launch last;
    for (int i = 0; i < count; ++i) {
      last = Start(lists, arguments[0].size());
      for (auto& event : last.done) done.push_back(std::move(event));
      if (!last.status) break;
    }
    Status finished = AwaitAll(done);
    RL_CHECK_OK(last.status);
    RL_CHECK_OK(finished);
    return Wrap(std::move(last.outputs));
  }

  Result<device::ProgramText> OptimizedProgram() override {
    return pjrt::OptimizedProgram(*client_->api, executable_.get());
  }

 private:
  Status Check(const ArgumentGrid& arguments, int count) const {
    if (count < 1) {
      return Fail(Code::kInvalidArgument, fmt::format("cannot run {} times", count), "run");
    }
    if (arguments.size() != partitions_) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("arguments for {} partitions given, the program has {}",
                              arguments.size(), partitions_),
                  "run");
    }
    for (const auto& row : arguments) {
      if (row.size() != arguments[0].size()) {
        return Fail(
            Code::kInvalidArgument,
            fmt::format("partitions got {} and {} arguments", arguments[0].size(), row.size()),
            "run");
      }
    }
    return {};
  }

  Launch Start(const std::vector<PJRT_Buffer* const*>& arguments, size_t num_args) const {
    std::vector<std::vector<PJRT_Buffer*>> outputs(partitions_,
                                                   std::vector<PJRT_Buffer*>(outputs_));
    std::vector<PJRT_Buffer**> lists;
    for (auto& row : outputs) lists.push_back(row.data());
    std::vector<PJRT_Event*> events(partitions_);
    PJRT_ExecuteOptions options{};
    options.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;
    RL_PJRT_ARGS(PJRT_LoadedExecutable_Execute, args);
    args.executable = loaded_.get();
    args.options = &options;
    args.argument_lists = arguments.data();
    args.num_devices = partitions_;
    args.num_args = num_args;
    args.output_lists = lists.data();
    args.device_complete_events = events.data();
    Launch launch;
    launch.status = RL_PJRT_CALL(*client_->api, PJRT_LoadedExecutable_Execute, args);
    // Taken over after an error too, should the plugin have filled some in.
    for (const auto& row : outputs) {
      auto& owned = launch.outputs.emplace_back();
      for (PJRT_Buffer* buffer : row) owned.emplace_back(client_->api, buffer);
    }
    for (PJRT_Event* event : events) launch.done.emplace_back(client_->api, event);
    if (launch.status) launch.status = CheckGiven(launch);
    return launch;
  }

  // A run without its event has an end that nobody can time.
  static Status CheckGiven(const Launch& launch) {
    constexpr std::string_view kExecute = "PJRT_LoadedExecutable_Execute";
    for (const auto& row : launch.outputs) {
      for (const auto& buffer : row) RL_CHECK_OK(Given(buffer.get(), "result", kExecute));
    }
    for (const auto& event : launch.done) {
      RL_CHECK_OK(Given(event.get(), "event for the end of the run", kExecute));
    }
    return {};
  }

  // Shapes are static and the same on every partition: asked for once.
  Status LearnShapes(const std::vector<Handle<PJRT_Buffer>>& outputs) {
    if (!shapes_.empty()) return {};
    std::vector<Shape> shapes;
    for (const auto& buffer : outputs) {
      RL_ASSIGN(Shape shape, QueryShape(*client_->api, buffer.get()));
      shapes.push_back(std::move(shape));
    }
    shapes_ = std::move(shapes);
    return {};
  }

  Result<BufferGrid> Wrap(std::vector<std::vector<Handle<PJRT_Buffer>>> outputs) {
    RL_CHECK_OK(LearnShapes(outputs[0]));
    BufferGrid grid;
    for (auto& row : outputs) {
      auto& wrapped = grid.emplace_back();
      for (size_t i = 0; i < row.size(); ++i) {
        wrapped.push_back(std::make_unique<PjrtBuffer>(client_, std::move(row[i]), shapes_[i]));
      }
    }
    return grid;
  }

  SharedClient client_;
  Handle<PJRT_LoadedExecutable> loaded_;
  Handle<PJRT_Executable> executable_;
  size_t partitions_;
  size_t outputs_;
  std::vector<Shape> shapes_;
};

}  // namespace

PJRT_Program MlirProgram(const std::string& text) {
  static constexpr std::string_view kFormat = "mlir";
  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  // The API takes char* because other calls write through it; compiling does not.
  program.code = const_cast<char*>(text.data());
  program.code_size = text.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  return program;
}

Result<std::unique_ptr<device::Executable>> Compile(const SharedClient& client,
                                                    const device::CompileRequest& request) {
  const Api& api = *client->api;
  std::vector<int> ids;
  for (const DescribedDevice& device : client->devices) ids.push_back(device.info.id);
  RL_ASSIGN(const std::string options, SerializeCompileOptions(request, ids));
  const PJRT_Program program = MlirProgram(request.program);
  RL_PJRT_ARGS(PJRT_Client_Compile, compile);
  compile.client = client->client.get();
  compile.program = &program;
  compile.compile_options = options.data();
  compile.compile_options_size = options.size();
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Client_Compile, compile));
  RL_CHECK_OK(Given(compile.executable, "executable", "PJRT_Client_Compile"));
  Handle<PJRT_LoadedExecutable> loaded(&api, compile.executable);

  RL_PJRT_ARGS(PJRT_LoadedExecutable_GetExecutable, get);
  get.loaded_executable = loaded.get();
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_LoadedExecutable_GetExecutable, get));
  RL_CHECK_OK(Given(get.executable, "executable", "PJRT_LoadedExecutable_GetExecutable"));
  Handle<PJRT_Executable> executable(&api, get.executable);

  RL_PJRT_ARGS(PJRT_Executable_NumOutputs, outputs);
  outputs.executable = executable.get();
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Executable_NumOutputs, outputs));
  // The plugin would write past the end of a list of none.
  if (outputs.num_outputs == 0) {
    return Fail(Code::kInternal, "the plugin says that the compiled program has no results",
                "PJRT_Executable_NumOutputs");
  }
  return std::make_unique<PjrtExecutable>(client, std::move(loaded), std::move(executable),
                                          static_cast<size_t>(request.partitions),
                                          outputs.num_outputs);
}

Result<device::ProgramText> OptimizedProgram(const Api& api, PJRT_Executable* executable) {
  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  RL_PJRT_ARGS(PJRT_Executable_OptimizedProgram, args);
  args.executable = executable;
  args.program = &program;
  // The first call tells the size, the second fills the memory.
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Executable_OptimizedProgram, args));
  if (program.code_size > kMostProgramBytes) {
    return Fail(Code::kInternal,
                fmt::format("the plugin gives a compiled program of {} bytes, more than a "
                            "serialized one can have",
                            program.code_size),
                "PJRT_Executable_OptimizedProgram");
  }
  device::ProgramText result;
  result.bytes.resize(program.code_size);
  program.code = result.bytes.data();
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Executable_OptimizedProgram, args));
  if (program.format != nullptr) result.format.assign(program.format, program.format_size);
  return result;
}

}  // namespace ridgeline::pjrt
