#include "hlo/allocations.h"

#include <gtest/gtest.h>

#include "hlo_wire.pb.h"

namespace ridgeline::hlo {
namespace {

TEST(Allocations, AreReadWithWhatLiesInThem) {
  hlo_wire::AssignmentInContainer wire;
  auto& assignment = *wire.mutable_buffer_assignment();
  auto& value = *assignment.add_logical_buffers();
  value.set_id(7);
  value.mutable_defined_at()->set_instruction_id(42);
  auto& argument = *assignment.add_buffer_allocations();
  argument.set_size(4096);
  argument.set_is_entry_computation_parameter(true);
  argument.set_maybe_live_out(true);
  auto& temporary = *assignment.add_buffer_allocations();
  temporary.set_size(1024);
  temporary.set_color(1);
  auto& assigned = *temporary.add_assigned();
  assigned.set_logical_buffer_id(7);
  assigned.set_size(512);
  assignment.add_buffer_allocations()->set_size(-5);  // no such file is written; no harm either

  const auto read = ReadAllocations(wire.SerializeAsString());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3u);
  EXPECT_TRUE((*read)[0].parameter && (*read)[0].live_out && !(*read)[0].temporary());
  EXPECT_TRUE((*read)[1].temporary());
  EXPECT_EQ((*read)[1].space, 1);
  ASSERT_EQ((*read)[1].values.size(), 1u);
  EXPECT_EQ((*read)[1].values[0].bytes, 512);
  EXPECT_EQ((*read)[1].values[0].instruction, 42);
  EXPECT_EQ((*read)[2].bytes, 0);
}

TEST(Allocations, OtherBytesAreRefusedOrEmpty) {
  EXPECT_FALSE(ReadAllocations("HloModule m"));
  EXPECT_TRUE(ReadAllocations("").value().empty());
}

}  // namespace
}  // namespace ridgeline::hlo
