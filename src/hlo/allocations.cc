#include "hlo/allocations.h"

#include <algorithm>
#include <unordered_map>

#include "hlo_wire.pb.h"

namespace ridgeline::hlo {

Result<std::vector<Allocation>> ReadAllocations(std::string_view dumped_hlo_proto) {
  hlo_wire::AssignmentInContainer wire;
  if (!wire.ParseFromArray(dumped_hlo_proto.data(), static_cast<int>(dumped_hlo_proto.size()))) {
    return Fail(Code::kInvalidArgument, "is no HloProto", "buffer assignment");
  }
  std::unordered_map<int64_t, int64_t> defined_by;
  for (const hlo_wire::LogicalBuffer& buffer : wire.buffer_assignment().logical_buffers()) {
    defined_by[buffer.id()] = buffer.defined_at().instruction_id();
  }
  std::vector<Allocation> allocations;
  for (const hlo_wire::BufferAllocation& from : wire.buffer_assignment().buffer_allocations()) {
    Allocation& to = allocations.emplace_back();
    to.bytes = std::max<int64_t>(0, from.size());
    to.parameter = from.is_entry_computation_parameter();
    to.live_out = from.maybe_live_out();
    to.constant = from.is_constant();
    to.thread_local_ = from.is_thread_local();
    to.space = from.color();
    for (const hlo_wire::AssignedBuffer& value : from.assigned()) {
      const auto found = defined_by.find(value.logical_buffer_id());
      to.values.push_back({value.size(), found == defined_by.end() ? 0 : found->second});
    }
  }
  return allocations;
}

}  // namespace ridgeline::hlo
