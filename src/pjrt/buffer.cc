#include "pjrt/buffer.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

namespace ridgeline::pjrt {
namespace {

struct TypePair {
  DType ours;
  PJRT_Buffer_Type theirs;
};
constexpr TypePair kTypes[] = {
    {DType::kPred, PJRT_Buffer_Type_PRED},     {DType::kS4, PJRT_Buffer_Type_S4},
    {DType::kS8, PJRT_Buffer_Type_S8},         {DType::kS32, PJRT_Buffer_Type_S32},
    {DType::kS64, PJRT_Buffer_Type_S64},       {DType::kU8, PJRT_Buffer_Type_U8},
    {DType::kU32, PJRT_Buffer_Type_U32},       {DType::kF8E4M3FN, PJRT_Buffer_Type_F8E4M3FN},
    {DType::kF8E5M2, PJRT_Buffer_Type_F8E5M2}, {DType::kBF16, PJRT_Buffer_Type_BF16},
    {DType::kF16, PJRT_Buffer_Type_F16},       {DType::kF32, PJRT_Buffer_Type_F32},
    {DType::kF64, PJRT_Buffer_Type_F64},
};

PJRT_Buffer_Type ToPjrt(DType dtype) {
  for (const TypePair& pair : kTypes) {
    if (pair.ours == dtype) return pair.theirs;
  }
  return PJRT_Buffer_Type_INVALID;
}

Result<DType> FromPjrt(int type) {
  for (const TypePair& pair : kTypes) {
    if (pair.theirs == type) return pair.ours;
  }
  return Fail(
      Code::kInternal,
      fmt::format("the array's element type (PJRT_Buffer_Type {}) is not one that ridgeline "
                  "knows",
                  type),
      "PJRT_Buffer_ElementType");
}

// nullptr: the device's default memory.
Result<PJRT_Memory*> FindMemory(const DescribedDevice& device, const std::string& kind) {
  if (kind.empty()) return nullptr;
  std::vector<std::string> kinds;
  for (size_t i = 0; i < device.memories.size(); ++i) {
    if (device.info.memories[i].kind == kind) return device.memories[i];
    kinds.push_back(device.info.memories[i].kind);
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("device {} has no memory of kind '{}'; it has: {}", device.info.id, kind,
                          fmt::join(kinds, ", ")),
              "put");
}

class PjrtPending : public device::Pending {
 public:
  PjrtPending(SharedClient client, Handle<PJRT_Event> event)
      : client_(std::move(client)), event_(std::move(event)) {}
  // The copy writes into the caller's memory: nobody may let go of it before the copy has ended.
  ~PjrtPending() override { (void)Await(); }
  Status Await() override {
    Status status = pjrt::Await(event_);
    event_.Reset();
    return status;
  }

 private:
  SharedClient client_;
  Handle<PJRT_Event> event_;
};

}  // namespace

PjrtBuffer::~PjrtBuffer() {
  buffer_.Reset();
  // From here on the caller may free the host memory.
  (void)pjrt::Await(host_done_);
}

Result<std::unique_ptr<device::Buffer>> PjrtBuffer::FromHost(const SharedClient& client,
                                                             const device::PutRequest& request) {
  if (request.device < 0 || static_cast<size_t>(request.device) >= client->devices.size()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("no device {}: there are {}", request.device, client->devices.size()),
                "put");
  }
  if (request.data.size() != static_cast<size_t>(request.shape.host_bytes())) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{} needs {} bytes of host memory, {} were given", request.shape.ToString(),
                    request.shape.host_bytes(), request.data.size()),
        "put");
  }
  const DescribedDevice& device = client->devices[static_cast<size_t>(request.device)];
  RL_PJRT_ARGS(PJRT_Client_BufferFromHostBuffer, args);
  RL_ASSIGN(args.memory, FindMemory(device, request.memory_kind));
  args.client = client->client.get();
  args.data = request.data.data();
  args.type = ToPjrt(request.shape.dtype);
  args.dims = request.shape.dims.data();
  args.num_dims = request.shape.dims.size();
  args.host_buffer_semantics = static_cast<PJRT_HostBufferSemantics>(request.semantics);
  args.device = device.device;
  RL_CHECK_OK(RL_PJRT_CALL(*client->api, PJRT_Client_BufferFromHostBuffer, args));
  RL_CHECK_OK(Given(args.buffer, "buffer", "PJRT_Client_BufferFromHostBuffer"));
  auto result = std::make_unique<PjrtBuffer>(client, Handle<PJRT_Buffer>(client->api, args.buffer),
                                             request.shape);
  result->host_done_ = Handle<PJRT_Event>(client->api, args.done_with_host_buffer);
  result->zero_copy_ = request.semantics == device::HostSemantics::kImmutableZeroCopy;
  return result;
}

Status PjrtBuffer::Await() {
  if (!zero_copy_) {
    RL_CHECK_OK(pjrt::Await(host_done_));
    host_done_.Reset();
  }
  RL_PJRT_ARGS(PJRT_Buffer_ReadyEvent, args);
  args.buffer = buffer_.get();
  RL_CHECK_OK(RL_PJRT_CALL(*client_->api, PJRT_Buffer_ReadyEvent, args));
  RL_CHECK_OK(Given(args.event, "event to wait for", "PJRT_Buffer_ReadyEvent"));
  return pjrt::Await(Handle<PJRT_Event>(client_->api, args.event));
}

Result<std::unique_ptr<device::Pending>> PjrtBuffer::StartRead(std::span<std::byte> destination) {
  if (destination.size() != static_cast<size_t>(shape_.host_bytes())) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} takes {} bytes of host memory, {} were given", shape_.ToString(),
                            shape_.host_bytes(), destination.size()),
                "read");
  }
  // Row-major on the host, whatever order the device keeps: the last dimension is the most minor.
  std::vector<int64_t> minor_to_major(shape_.dims.size());
  std::iota(minor_to_major.rbegin(), minor_to_major.rend(), 0);
  PJRT_Buffer_MemoryLayout layout{};
  layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();
  RL_PJRT_ARGS(PJRT_Buffer_ToHostBuffer, args);
  args.src = buffer_.get();
  args.host_layout = &layout;
  args.dst = destination.data();
  args.dst_size = destination.size();
  RL_CHECK_OK(RL_PJRT_CALL(*client_->api, PJRT_Buffer_ToHostBuffer, args));
  // There is nothing to wait for when nothing is copied: XLA's CPU plugin gives no event then.
  if (!destination.empty()) {
    RL_CHECK_OK(Given(args.event, "event to wait for", "PJRT_Buffer_ToHostBuffer"));
  }
  return std::make_unique<PjrtPending>(client_, Handle<PJRT_Event>(client_->api, args.event));
}

Result<bool> PjrtBuffer::Aliases(const void* host) const {
  RL_PJRT_ARGS(PJRT_Buffer_UnsafePointer, args);
  args.buffer = buffer_.get();
  RL_CHECK_OK(RL_PJRT_CALL(*client_->api, PJRT_Buffer_UnsafePointer, args));
  RL_CHECK_OK(Given(reinterpret_cast<const void*>(args.buffer_pointer), "address",
                    "PJRT_Buffer_UnsafePointer"));
  return args.buffer_pointer == reinterpret_cast<uintptr_t>(host);
}

Result<Shape> QueryShape(const Api& api, PJRT_Buffer* buffer) {
  RL_PJRT_ARGS(PJRT_Buffer_ElementType, type);
  type.buffer = buffer;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Buffer_ElementType, type));
  RL_PJRT_ARGS(PJRT_Buffer_Dimensions, dims);
  dims.buffer = buffer;
  RL_CHECK_OK(RL_PJRT_CALL(api, PJRT_Buffer_Dimensions, dims));
  Shape shape;
  RL_ASSIGN(shape.dtype, FromPjrt(EnumNumber(type.type)));
  if (dims.num_dims > 0) shape.dims.assign(dims.dims, dims.dims + dims.num_dims);
  return shape;
}

}  // namespace ridgeline::pjrt
