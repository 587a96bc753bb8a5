#include "independent.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/stats.h"
#include "native.h"

namespace ridgeline::truth {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename Work>
double Seconds(const Work& work) {
  const double start = Now();
  work();
  return Now() - start;
}

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Array = std::unique_ptr<float, Free>;

Array MakeArray(int64_t bytes, float value, int threads) {
  constexpr size_t kPage = 4096;
  const size_t whole = (static_cast<size_t>(bytes) + kPage - 1) / kPage * kPage;
  Array array(static_cast<float*>(std::aligned_alloc(kPage, whole)));
  FirstTouch(array.get(), static_cast<size_t>(bytes) / sizeof(float), value, threads);
  return array;
}

double SlopeOf(const std::vector<Sample>& samples) { return FitSlope(samples)->per_count.value; }

Result<std::unique_ptr<device::Buffer>> Put(device::Client& client, const HostTensor& tensor) {
  RL_ASSIGN(auto buffer,
            client.StartPut({.data = tensor.bytes,
                             .shape = tensor.shape,
                             .device = 0,
                             .memory_kind = {},
                             .semantics = device::HostSemantics::kImmutableOnlyDuringCall}));
  RL_CHECK_OK(buffer->Await());
  return buffer;
}

struct Loaded {
  std::unique_ptr<device::Executable> executable;
  std::unique_ptr<device::Buffer> rounds;
  std::vector<std::unique_ptr<device::Buffer>> inputs;
  std::vector<std::unique_ptr<device::Buffer>> carried;
};

}  // namespace

Result<Block> OneCall(device::Client& client, const programs::Program& program, int64_t rounds) {
  auto loaded = std::make_shared<Loaded>();
  RL_ASSIGN(loaded->executable, client.Compile({.program = program.stablehlo,
                                                .partitions = 1,
                                                .devices = {0},
                                                .xla_options = {},
                                                .shardy = false}));
  HostTensor trip_count(Shape{DType::kS32, {}});
  trip_count.set(0, static_cast<double>(rounds));
  RL_ASSIGN(loaded->rounds, Put(client, trip_count));
  int stream = 0;
  for (const programs::TensorSpec& spec : program.inputs) {
    const programs::InputSource source(spec, stream++, 0, /*seed=*/7, "normal");
    RL_ASSIGN(auto buffer, Put(client, source.Materialize()));
    loaded->inputs.push_back(std::move(buffer));
  }
  for (const programs::TensorSpec& spec : program.carried) {
    RL_ASSIGN(auto buffer, Put(client, HostTensor(spec.shape)));
    loaded->carried.push_back(std::move(buffer));
  }
  return [loaded, rounds]() -> Result<double> {
    device::ArgumentGrid arguments(1);
    arguments[0].push_back(loaded->rounds.get());
    for (const auto& buffer : loaded->inputs) arguments[0].push_back(buffer.get());
    for (const auto& buffer : loaded->carried) arguments[0].push_back(buffer.get());
    const double start = Now();
    RL_ASSIGN(device::BufferGrid outputs, loaded->executable->Run(arguments));
    const double seconds = Now() - start;
    loaded->carried = std::move(outputs[0]);
    return seconds / static_cast<double>(rounds);
  };
}

Block NativeTriad(int64_t bytes, int threads, double block_seconds) {
  struct Arrays {
    Array a, b, c;
  };
  auto arrays =
      std::make_shared<Arrays>(Arrays{MakeArray(bytes, 0, threads), MakeArray(bytes, 1.5F, threads),
                                      MakeArray(bytes, -0.5F, threads)});
  const size_t elements = static_cast<size_t>(bytes) / sizeof(float);
  const auto run = [arrays, elements, threads](int rounds) {
    return Seconds([&] {
      Triad(arrays->a.get(), arrays->b.get(), arrays->c.get(), elements, rounds, threads);
    });
  };
  run(1);
  // Enough rounds for the clock to see; the block is 15 times the base.
  int trial = 1;
  double seconds = run(trial);
  while (seconds < block_seconds / 30 && trial < (1 << 24)) {
    trial *= 2;
    seconds = run(trial);
  }
  const double wanted = block_seconds / 15 / (seconds / trial);
  const int base = std::clamp(static_cast<int>(wanted), 1, 1 << 26);
  return [run, base]() -> Result<double> {
    run(base);
    std::vector<Sample> samples;
    for (const int multiple : {3, 1, 5, 2, 4}) {
      samples.push_back({int64_t{multiple} * base, run(multiple * base), 0});
    }
    return SlopeOf(samples);
  };
}

Block NativeCopies(int64_t bytes, int threads) {
  constexpr int kArrays = 16;
  struct Arrays {
    std::vector<Array> owned;
    std::vector<float*> sources, destinations;
  };
  auto arrays = std::make_shared<Arrays>();
  for (std::vector<float*>* side : {&arrays->sources, &arrays->destinations}) {
    for (int i = 0; i < kArrays; ++i) {
      arrays->owned.push_back(MakeArray(bytes, static_cast<float>(i), 1));
      side->push_back(arrays->owned.back().get());
    }
  }
  return [arrays, threads, size = static_cast<size_t>(bytes)]() -> Result<double> {
    std::vector<Sample> samples;
    for (const int count : {12, 4, 16, 8}) {
      const double seconds = Seconds([&] {
        Copies(arrays->destinations.data(), arrays->sources.data(), static_cast<size_t>(count),
               size, threads);
      });
      samples.push_back({count, seconds, 0});
    }
    return SlopeOf(samples);
  };
}

}  // namespace ridgeline::truth
