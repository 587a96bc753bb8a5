#include "pjrt/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "pjrt/client.h"
#include "pjrt/table_plugin.h"

namespace ridgeline::pjrt {
namespace {

using ::testing::HasSubstr;

// Fills every slot from `offset` to the end of our header's table with a function that aborts, and
// tells the reader that the table ends at `size`.
void CutTable(PJRT_Api& table, size_t offset, size_t size) {
  void (*poison)() = CalledPastTheTable;
  for (size_t at = offset; at + sizeof(poison) <= PJRT_Api_STRUCT_SIZE; at += sizeof(poison)) {
    std::memcpy(reinterpret_cast<std::byte*>(&table) + at, &poison, sizeof(poison));
  }
  table.struct_size = size;
}

device::CompileRequest TwoPartitions() {
  device::CompileRequest request;
  request.partitions = 2;
  request.devices = {0, 1};
  return request;
}

class ApiTest : public ::testing::Test {
 protected:
  const Api& Open() {
    auto opened = Api::Open(&plugin_.table, "table");
    EXPECT_TRUE(opened.has_value()) << opened.error().ToString();
    api_ = std::make_unique<Api>(std::move(*opened));
    return *api_;
  }

  TablePlugin plugin_;
  std::unique_ptr<Api> api_;
};

TEST_F(ApiTest, InitializesOnceAndKeepsTheVersion) {
  const Api& api = Open();
  EXPECT_EQ(plugin_.initialized, 1);
  EXPECT_EQ(api.major_version(), 0);
  EXPECT_EQ(api.minor_version(), 38);
}

TEST_F(ApiTest, NullEntryIsAnErrorThatNamesFunctionAndVersion) {
  plugin_.table.PJRT_Client_Compile = nullptr;
  auto client = CreateClient(Open(), {});
  ASSERT_TRUE(client.has_value()) << client.error().ToString();
  // What does not need the missing function works.
  ASSERT_EQ((*client)->devices().size(), 2u);
  EXPECT_EQ((*client)->devices()[1].id, 11);
  EXPECT_EQ((*client)->devices()[1].kind, "old");
  EXPECT_EQ((*client)->platform().name, "table");
  EXPECT_EQ((*client)->platform().api_minor, 38);
  auto executable = (*client)->Compile(TwoPartitions());
  ASSERT_FALSE(executable.has_value());
  EXPECT_EQ(executable.error().code, Code::kUnimplemented);
  EXPECT_EQ(executable.error().message, "plugin lacks PJRT_Client_Compile (API 0.38)");
  EXPECT_EQ(executable.error().where, "PJRT_Client_Compile");
}

TEST_F(ApiTest, EntryPastTheEndOfTheTableIsNeverCalled) {
  const size_t end = offsetof(PJRT_Api, PJRT_Device_MemoryStats);
  CutTable(plugin_.table, end, end);
  auto client = CreateClient(Open(), {});
  ASSERT_TRUE(client.has_value()) << client.error().ToString();
  EXPECT_EQ((*client)->devices().size(), 2u);
  EXPECT_EQ((*client)->MemoryInUse(0), std::nullopt);
}

// A table that ends inside a slot does not have that slot.
TEST_F(ApiTest, EntryThatIsOnlyPartlyInTheTableIsNeverCalled) {
  const size_t slot = offsetof(PJRT_Api, PJRT_Device_MemoryStats);
  for (size_t bytes = 1; bytes < sizeof(void*); ++bytes) {
    CutTable(plugin_.table, slot, slot + bytes);
    auto client = CreateClient(Open(), {});
    ASSERT_TRUE(client.has_value()) << client.error().ToString();
    EXPECT_EQ((*client)->MemoryInUse(0), std::nullopt) << bytes;
  }
}

TEST_F(ApiTest, LastEntryOfTheTableIsCalled) {
  const size_t slot = offsetof(PJRT_Api, PJRT_Device_MemoryStats);
  CutTable(plugin_.table, slot, slot + sizeof(void*));
  plugin_.table.PJRT_Device_MemoryStats = [](PJRT_Device_MemoryStats_Args* args) -> PJRT_Error* {
    args->bytes_in_use = 7;
    args->bytes_limit = 100;
    args->bytes_limit_is_set = true;
    return nullptr;
  };
  auto client = CreateClient(Open(), {});
  ASSERT_TRUE(client.has_value()) << client.error().ToString();
  const auto use = (*client)->MemoryInUse(1);
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->in_use, 7);
  EXPECT_EQ(use->limit, 100);
}

TEST_F(ApiTest, OtherMajorVersionIsRefused) {
  plugin_.table.pjrt_api_version.major_version = 1;
  auto api = Api::Open(&plugin_.table, "table");
  ASSERT_FALSE(api.has_value());
  EXPECT_EQ(api.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(api.error().message, HasSubstr("1.38"));
  EXPECT_EQ(plugin_.initialized, 0);
}

TEST_F(ApiTest, TableWithoutAVersionIsRefused) {
  plugin_.table.struct_size = offsetof(PJRT_Api, pjrt_api_version) + 4;
  auto api = Api::Open(&plugin_.table, "table");
  ASSERT_FALSE(api.has_value());
  EXPECT_EQ(api.error().code, Code::kFailedPrecondition);
}

TEST_F(ApiTest, ErrorsKeepCodeAndText) {
  plugin_.client_error = "out of chips: 3 asked, 2 here";
  for (int code = 1; code <= 16; ++code) {
    plugin_.client_error_code = code;
    auto client = CreateClient(Open(), {});
    ASSERT_FALSE(client.has_value());
    EXPECT_EQ(static_cast<int>(client.error().code), code);
    EXPECT_EQ(client.error().message, "out of chips: 3 asked, 2 here");
    EXPECT_EQ(client.error().where, "PJRT_Client_Create");
    EXPECT_EQ(plugin_.alive(), 0);
  }
}

TEST_F(ApiTest, UnknownErrorCodeBecomesUnknown) {
  plugin_.client_error = "from the future";
  plugin_.client_error_code = 99;
  auto client = CreateClient(Open(), {});
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, Code::kUnknown);
  EXPECT_EQ(client.error().message, "from the future");
}

TEST_F(ApiTest, ErrorsOfAPluginWithoutErrorFunctionsAreStillErrors) {
  plugin_.client_error = "x";
  plugin_.table.PJRT_Error_Message = nullptr;
  plugin_.table.PJRT_Error_GetCode = nullptr;
  auto client = CreateClient(Open(), {});
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, Code::kUnknown);
  EXPECT_EQ(client.error().where, "PJRT_Client_Create");
}

// Asked for its code, every error gives another error.
TEST_F(ApiTest, ErrorsAboutErrorsComeToAnEnd) {
  plugin_.client_error = "x";
  plugin_.table.PJRT_Error_GetCode = [](PJRT_Error_GetCode_Args*) -> PJRT_Error* {
    PJRT_Client_Create_Args again{};
    return CurrentTable().PJRT_Client_Create(&again);
  };
  auto client = CreateClient(Open(), {});
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, Code::kUnknown);
  EXPECT_EQ(client.error().message, "x");
  EXPECT_EQ(plugin_.alive(), 0);
}

// Success without the result that every caller needs (a plugin that breaks the API).
TEST_F(ApiTest, SuccessWithoutAResultIsAnError) {
  plugin_.table.PJRT_Client_Create = [](PJRT_Client_Create_Args*) -> PJRT_Error* {
    return nullptr;
  };
  auto client = CreateClient(Open(), {});
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, Code::kInternal);
  EXPECT_EQ(client.error().message, "the plugin says it succeeded but gave no client");
  EXPECT_EQ(client.error().where, "PJRT_Client_Create");
}

class RunTest : public ApiTest {
 protected:
  void SetUp() override {
    auto client = CreateClient(Open(), {});
    ASSERT_TRUE(client.has_value()) << client.error().ToString();
    auto executable = (*client)->Compile(TwoPartitions());
    ASSERT_TRUE(executable.has_value()) << executable.error().ToString();
    executable_ = std::move(*executable);
    // The client goes first: the executable keeps the plugin's client alive.
  }
  std::unique_ptr<device::Executable> executable_;
};

TEST_F(RunTest, OutputsComeBackWithTheirShapesAndNothingLeaks) {
  EXPECT_EQ(plugin_.clients, 1);
  {
    auto outputs = executable_->Run({{}, {}});
    ASSERT_TRUE(outputs.has_value()) << outputs.error().ToString();
    ASSERT_EQ(outputs->size(), 2u);
    EXPECT_EQ((*outputs)[1][0]->shape().ToString(), "bf16[2,3]");
    EXPECT_EQ(plugin_.buffers, 2);
  }
  EXPECT_EQ(plugin_.events_awaited, 2);
  executable_.reset();
  EXPECT_EQ(plugin_.alive(), 0);
}

TEST_F(RunTest, FailedStartLeavesNothingBehind) {
  plugin_.execute = TablePlugin::Execute::kFailsHalfway;
  auto outputs = executable_->Run({{}, {}});
  ASSERT_FALSE(outputs.has_value());
  EXPECT_EQ(outputs.error().code, Code::kInternal);
  EXPECT_EQ(outputs.error().message, "device 1 is lost");
  EXPECT_EQ(outputs.error().where, "PJRT_LoadedExecutable_Execute");
  executable_.reset();
  EXPECT_EQ(plugin_.alive(), 0);
}

TEST_F(RunTest, ErrorOfOneDeviceComesOutAfterAllHaveEnded) {
  plugin_.execute = TablePlugin::Execute::kFailsOnOneDevice;
  auto outputs = executable_->Run({{}, {}});
  ASSERT_FALSE(outputs.has_value());
  EXPECT_EQ(outputs.error().code, Code::kDataLoss);
  EXPECT_EQ(outputs.error().message, "device 1 lost its data");
  EXPECT_EQ(plugin_.events_awaited, 2);
  executable_.reset();
  EXPECT_EQ(plugin_.alive(), 0);
}

// Nobody could tell when such a run ends: its time would be that of the start.
TEST_F(RunTest, ARunWithoutItsEventIsAnError) {
  plugin_.execute = TablePlugin::Execute::kGivesNoEvents;
  auto outputs = executable_->Run({{}, {}});
  ASSERT_FALSE(outputs.has_value());
  EXPECT_EQ(outputs.error().message,
            "the plugin says it succeeded but gave no event for the end of the run");
  executable_.reset();
  EXPECT_EQ(plugin_.alive(), 0);
}

TEST_F(RunTest, BackToBackStartsAllAndKeepsTheLastOutputs) {
  {
    auto outputs = executable_->RunBackToBack({{}, {}}, 5);
    ASSERT_TRUE(outputs.has_value()) << outputs.error().ToString();
    EXPECT_EQ(plugin_.launches, 5);
    EXPECT_EQ(plugin_.events_awaited, 10);
    EXPECT_EQ(plugin_.buffers, 2);
  }
  executable_.reset();
  EXPECT_EQ(plugin_.alive(), 0);
}

TEST_F(RunTest, WrongNumberOfPartitionsIsRefusedBeforeTheStart) {
  EXPECT_EQ(executable_->Run({{}}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(executable_->RunBackToBack({{}, {}}, 0).error().code, Code::kInvalidArgument);
  EXPECT_EQ(plugin_.launches, 0);
}

TEST(LoadTest, FileThatIsNoLibraryIsAnError) {
  auto api = Api::Load("/dev/null");
  ASSERT_FALSE(api.has_value());
  EXPECT_EQ(api.error().code, Code::kNotFound);
  EXPECT_THAT(api.error().message, HasSubstr("/dev/null"));
}

TEST(LoadTest, LibraryWithoutTheEntryPointIsAnError) {
  auto api = Api::Load("libm.so.6");
  ASSERT_FALSE(api.has_value());
  EXPECT_EQ(api.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(api.error().message, HasSubstr("no PJRT plugin"));
}

}  // namespace
}  // namespace ridgeline::pjrt
