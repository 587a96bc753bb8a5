#include "engine/transfers.h"

#include <algorithm>

namespace ridgeline::engine {
namespace {

using programs::TransferDirection;

bool MovesToDevice(const programs::Transfer& t) {
  return t.direction != TransferDirection::kFromDevice;
}
bool MovesFromDevice(const programs::Transfer& t) {
  return t.direction != TransferDirection::kToDevice;
}

device::HostSemantics Semantics(const std::string& name) {
  if (name == "during_call") return device::HostSemantics::kImmutableOnlyDuringCall;
  if (name == "zero_copy") return device::HostSemantics::kImmutableZeroCopy;
  return device::HostSemantics::kImmutableUntilTransferCompletes;
}

}  // namespace

TransferRun::TransferRun(device::Client& client, const programs::Program& program)
    : client_(client), program_(program), semantics_(Semantics(program.transfer.semantics)) {}

device::PutRequest TransferRun::RequestFor(const Lane& lane, const HostTensor& source) const {
  return {.data = source.bytes,
          .shape = source.shape,
          .device = lane.device,
          .memory_kind = program_.transfer.memory_kind,
          .semantics = semantics_};
}

Result<std::unique_ptr<TransferRun>> TransferRun::Create(device::Client& client,
                                                         const programs::Program& program,
                                                         std::vector<int> devices, uint64_t seed,
                                                         std::string_view data_mode) {
  auto run = std::unique_ptr<TransferRun>(new TransferRun(client, program));
  for (size_t place = 0; place < devices.size(); ++place) {
    Lane& lane = run->lanes_.emplace_back();
    lane.device = devices[place];
    const programs::InputSource source(program.inputs[0], 0, static_cast<int>(place), seed,
                                       data_mode);
    lane.pattern = source.Materialize();
  }
  return run;
}

Status TransferRun::Reserve(Lane& lane, size_t count) {
  const programs::Transfer& transfer = program_.transfer;
  while (MovesToDevice(transfer) && lane.sources.size() < count) {
    lane.sources.push_back(lane.pattern);
  }
  while (MovesFromDevice(transfer) && lane.on_device.size() < count) {
    RL_ASSIGN(std::unique_ptr<device::Buffer> buffer,
              client_.StartPut({.data = lane.pattern.bytes,
                                .shape = lane.pattern.shape,
                                .device = lane.device,
                                .memory_kind = transfer.memory_kind,
                                .semantics = device::HostSemantics::kImmutableOnlyDuringCall}));
    RL_CHECK_OK(buffer->Await());
    lane.on_device.push_back(std::move(buffer));
    HostTensor destination(lane.pattern.shape);
    std::ranges::fill(destination.bytes, std::byte{0xa5});
    lane.destinations.push_back(std::move(destination));
  }
  return {};
}

Result<double> TransferRun::Time(int64_t count) {
  const auto n = static_cast<size_t>(count);
  for (Lane& lane : lanes_) RL_CHECK_OK(Reserve(lane, n));
  std::vector<std::unique_ptr<device::Buffer>> put;
  std::vector<std::unique_ptr<device::Pending>> reads;
  put.reserve(n * lanes_.size());
  reads.reserve(n * lanes_.size());
  const double start = client_.Now();
  for (size_t i = 0; i < n; ++i) {
    for (Lane& lane : lanes_) {
      if (!lane.sources.empty()) {
        RL_ASSIGN(auto buffer, client_.StartPut(RequestFor(lane, lane.sources[i])));
        put.push_back(std::move(buffer));
      }
      if (!lane.on_device.empty()) {
        RL_ASSIGN(auto read, lane.on_device[i]->StartRead(lane.destinations[i].bytes));
        reads.push_back(std::move(read));
      }
    }
  }
  for (const auto& buffer : put) RL_CHECK_OK(buffer->Await());
  for (const auto& read : reads) RL_CHECK_OK(read->Await());
  const double seconds = client_.Now() - start;
  if (!put.empty()) {
    for (size_t k = 0; k < lanes_.size(); ++k) {
      lanes_[k].last_put = std::move(put[(n - 1) * lanes_.size() + k]);
      lanes_[k].last_source = lanes_[k].sources[n - 1].bytes.data();
    }
  }
  return seconds;
}

Result<std::vector<HostTensor>> TransferRun::Arrived() {
  std::vector<HostTensor> arrived;
  for (Lane& lane : lanes_) {
    if (lane.last_put) {
      HostTensor tensor(program_.inputs[0].shape);
      RL_ASSIGN(auto read, lane.last_put->StartRead(tensor.bytes));
      RL_CHECK_OK(read->Await());
      arrived.push_back(std::move(tensor));
    }
    if (!lane.destinations.empty()) arrived.push_back(lane.destinations.front());
  }
  return arrived;
}

Result<bool> TransferRun::IsAlias() {
  const Lane& lane = lanes_.front();
  if (!lane.last_put) return false;
  return lane.last_put->Aliases(lane.last_source);
}

}  // namespace ridgeline::engine
