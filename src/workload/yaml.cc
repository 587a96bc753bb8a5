// Workload files: plain figures, a list of operations, or a transformer.
#include "suite/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "core/collective_bytes.h"
#include "spec/fields.h"
#include "suite/values.h"
#include "workload/transformer.h"
#include "workload/workload.h"

namespace ridgeline::workload {
namespace {

using spec::Dimension;
using spec::Fields;
using suite::YamlFile;

constexpr double kMost = 1e30;  // of any count: sums and products stay finite
constexpr size_t kMostOperations = 100'000;
constexpr int64_t kMostExtent = int64_t{1} << 29;  // bytes of an array fit 64 bits

struct CollectiveName {
  std::string_view name;
  Collective collective;
};
constexpr std::array<CollectiveName, 5> kCollectives = {{
    {"all_reduce", Collective::kAllReduce},
    {"all_gather", Collective::kAllGather},
    {"reduce_scatter", Collective::kReduceScatter},
    {"all_to_all", Collective::kAllToAll},
    {"collective_permute", Collective::kPermute},
}};

constexpr std::array<std::string_view, 13> kOperationKeys = {
    "name",  "count",      "dtype",   "flops", "vector_flops", "transcendentals", "gemm",
    "bytes", "most_bytes", "pattern", "wire",  "host_bytes",   "launches"};

class WorkloadReader {
 public:
  explicit WorkloadReader(const YamlFile& file) : file_(file) {}

  Result<Workload> Read() {
    if (file_.root().IsMap() && file_.root()["transformer"]) return ReadTransformerFile();
    std::vector<std::string_view> keys = {"version", "devices", "mesh", "operations"};
    keys.insert(keys.end(), kOperationKeys.begin(), kOperationKeys.end());
    RL_ASSIGN(const Fields fields, Fields::Read(file_, file_.root(), "a workload", keys));
    RL_CHECK_OK(ReadHead(fields));
    RL_CHECK_OK(ReadMesh(fields));
    if (!fields.Has("operations")) {
      RL_ASSIGN(Operation operation, ReadOperation(fields, "all"));
      workload_.operations.push_back(std::move(operation));
      return std::move(workload_);
    }
    for (const std::string_view key : kOperationKeys) {
      if (key != "name" && key != "dtype" && fields.Has(key)) {
        return fields.Fail(key, fmt::format("'{}' stands beside 'operations': give it in one of "
                                            "them",
                                            key));
      }
    }
    RL_ASSIGN(default_dtype_, ReadDType(fields, std::nullopt));
    RL_ASSIGN(const YAML::Node list, fields.Need("operations"));
    RL_ASSIGN(const std::vector<YAML::Node> items, file_.Items(list, "'operations'"));
    if (items.size() > kMostOperations) {
      return file_.Fail(list,
                        fmt::format("{} operations; at most {}", items.size(), kMostOperations));
    }
    for (const YAML::Node& item : items) {
      RL_ASSIGN(const Fields one, Fields::Read(file_, item, "an operation", kOperationKeys));
      const std::string number = fmt::format("operation {}", workload_.operations.size() + 1);
      RL_ASSIGN(const std::string name, one.TextOr("name", number));
      RL_ASSIGN(Operation operation, ReadOperation(one, name));
      workload_.operations.push_back(std::move(operation));
    }
    return std::move(workload_);
  }

 private:
  Status ReadHead(const Fields& fields) {
    RL_ASSIGN(const auto entries, file_.Entries(file_.root(), "a workload"));
    RL_CHECK_OK(file_.CheckVersion(entries, 1));
    RL_ASSIGN(workload_.name, fields.TextOr("name", file_.source()));
    workload_.source = file_.source();
    return {};
  }

  Result<Workload> ReadTransformerFile() {
    RL_ASSIGN(const Fields fields,
              Fields::Read(file_, file_.root(), "a transformer workload", TransformerKeys()));
    RL_CHECK_OK(ReadHead(fields));
    RL_CHECK_OK(ReadTransformer(fields, workload_));
    return std::move(workload_);
  }

  Status ReadMesh(const Fields& fields) {
    RL_ASSIGN(const std::optional<int64_t> devices, fields.Whole("devices", 1, 1'000'000));
    if (!fields.Has("mesh")) {
      workload_.devices = devices.value_or(1);
      return {};
    }
    RL_ASSIGN(const YAML::Node node, fields.Need("mesh"));
    RL_ASSIGN(const auto entries, file_.Entries(node, "'mesh'"));
    int64_t size = 1;
    for (const YamlFile::Entry& entry : entries) {
      RL_ASSIGN(const double extent,
                file_.Number(entry.value, fmt::format("axis '{}'", Printable(entry.key)), 1,
                             1'000'000, true));
      workload_.mesh.push_back({entry.key, static_cast<int64_t>(extent)});
      size *= static_cast<int64_t>(extent);
      if (size > 1'000'000) return file_.Fail(entry.value, "a mesh of more than 1000000 devices");
    }
    if (devices && *devices != size) {
      return fields.Fail("devices", fmt::format("devices is {}, the mesh has {}", *devices, size));
    }
    workload_.devices = size;
    return {};
  }

  Result<std::optional<DType>> ReadDType(const Fields& fields,
                                         std::optional<DType> fallback) const {
    if (!fields.Has("dtype")) return fallback;
    RL_ASSIGN(const std::string name, fields.Text("dtype"));
    const Result<DType> dtype = ParseDType(name);
    if (!dtype) return fields.Fail("dtype", dtype.error().message);
    return std::optional(*dtype);
  }

  Result<double> Count(const YAML::Node& node, std::string_view what) const {
    return file_.Number(node, what, 0, kMost, false);
  }

  Result<double> CountOr(const Fields& fields, std::string_view key, double fallback) const {
    const YAML::Node* node = fields.Find(key);
    return node ? Count(*node, fmt::format("'{}'", key)) : fallback;
  }

  // A size: a number of bytes, or text such as "1.5 GiB".
  Result<double> Bytes(const Fields& fields, std::string_view key) const {
    const YAML::Node* node = fields.Find(key);
    if (node == nullptr) return 0;
    if (const Result<double> number = Count(*node, fmt::format("'{}'", key))) return *number;
    return fields.Quantity(key, Dimension::kBytes);
  }

  // `flops: 1e12` with a dtype, or `flops: {bf16: 1e12, f32: 1e9}`.
  Status ReadFlops(const Fields& fields, std::string_view key, std::optional<DType> dtype,
                   std::map<DType, double>& out) const {
    const YAML::Node* node = fields.Find(key);
    if (node == nullptr) return {};
    if (!node->IsMap()) {
      RL_ASSIGN(const double count, Count(*node, fmt::format("'{}'", key)));
      if (!dtype) {
        return fields.Fail(key, fmt::format("'{}' needs a dtype: {{bf16: {}}}, or 'dtype: bf16' "
                                            "beside it",
                                            key, count));
      }
      out[*dtype] += count;
      return {};
    }
    RL_ASSIGN(const auto entries, file_.Entries(*node, fmt::format("'{}'", key)));
    for (const YamlFile::Entry& entry : entries) {
      const Result<DType> of = ParseDType(entry.key);
      if (!of) return file_.Fail(entry.key_node, of.error().message);
      RL_ASSIGN(const double count,
                Count(entry.value, fmt::format("'{}' of '{}'", key, entry.key)));
      out[*of] += count;
    }
    return {};
  }

  // C[m,n] = A[m,k] B[k,n], `batch` times: 2mnk FLOP, each array once.
  Status ReadGemm(const Fields& fields, std::optional<DType> dtype, Work& work) const {
    if (!fields.Has("gemm")) return {};
    constexpr std::array<std::string_view, 4> kKeys = {"m", "n", "k", "batch"};
    RL_ASSIGN(const YAML::Node node, fields.Need("gemm"));
    RL_ASSIGN(const Fields gemm, Fields::Read(file_, node, "'gemm'", kKeys));
    if (!dtype) return fields.Fail("gemm", "'gemm' needs 'dtype' beside it");
    std::array<int64_t, 4> extent = {0, 0, 0, 1};
    for (size_t i = 0; i < kKeys.size(); ++i) {
      if (kKeys[i] == "batch" && !gemm.Has("batch")) continue;
      RL_CHECK_OK(gemm.Need(kKeys[i]));
      RL_ASSIGN(const std::optional<int64_t> value, gemm.Whole(kKeys[i], 1, kMostExtent));
      extent[i] = *value;
    }
    const auto [m, n, k, batch] = extent;
    const auto times = static_cast<double>(batch);
    work.matrix_flops[*dtype] +=
        2 * times * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    for (const int64_t elements : {m * k, k * n, m * n}) {
      work.hbm_bytes += times * static_cast<double>(DeviceBytes(*dtype, elements));
    }
    return {};
  }

  Status ReadPattern(const Fields& fields, Work& work) const {
    const YAML::Node* node = fields.Find("pattern");
    if (node == nullptr) return {};
    if (!node->IsMap()) {
      RL_ASSIGN(const std::string name, fields.Text("pattern"));
      const Result<Pattern> pattern = ParsePattern(name);
      if (!pattern) return fields.Fail("pattern", pattern.error().message);
      if (*pattern != Pattern::kSequential) work.hbm_pattern_bytes[*pattern] = work.hbm_bytes;
      return {};
    }
    RL_ASSIGN(const auto entries, file_.Entries(*node, "'pattern'"));
    double sum = 0;
    for (const YamlFile::Entry& entry : entries) {
      const Result<Pattern> pattern = ParsePattern(entry.key);
      if (!pattern) return file_.Fail(entry.key_node, pattern.error().message);
      RL_ASSIGN(const double bytes, Count(entry.value, fmt::format("bytes of '{}'", entry.key)));
      sum += bytes;
      if (*pattern != Pattern::kSequential) work.hbm_pattern_bytes[*pattern] = bytes;
    }
    if (sum > work.hbm_bytes) {
      return fields.Fail("pattern",
                         fmt::format("the patterns add up to {} B of {} B", sum, work.hbm_bytes));
    }
    return {};
  }

  // As the item says, or the size of the axis, or of several joined by '+'.
  Result<int64_t> RanksOf(const Fields& fields, const std::string& axis) const {
    RL_ASSIGN(const std::optional<int64_t> ranks, fields.Whole("ranks", 2, 1'000'000));
    if (ranks) return *ranks;
    if (axis.empty()) return workload_.devices;
    int64_t size = 1;
    for (const std::string& part : suite::SplitNames(axis)) {
      const auto it = std::ranges::find(workload_.mesh, part, &MeshAxis::name);
      if (it == workload_.mesh.end()) {
        return fields.Fail("axis", fmt::format("the mesh has no axis '{}': give 'mesh', or 'ranks' "
                                               "here",
                                               Printable(part)));
      }
      size *= it->size;
    }
    return size;
  }

  Status ReadWire(const Fields& fields, Work& work) const {
    const YAML::Node* node = fields.Find("wire");
    if (node == nullptr) return {};
    if (!node->IsSequence()) {  // sent by one device, collective unknown
      RL_ASSIGN(work.wire_bytes, Bytes(fields, "wire"));
      return {};
    }
    constexpr std::array<std::string_view, 5> kKeys = {"collective", "axis", "payload", "calls",
                                                       "ranks"};
    RL_ASSIGN(const std::vector<YAML::Node> items, file_.Items(*node, "'wire'"));
    for (const YAML::Node& item : items) {
      RL_ASSIGN(const Fields one, Fields::Read(file_, item, "an item of 'wire'", kKeys));
      RL_ASSIGN(const std::string name, one.Text("collective"));
      const auto it = std::ranges::find(kCollectives, name, &CollectiveName::name);
      if (it == kCollectives.end()) {
        std::vector<std::string_view> names;
        for (const CollectiveName& known : kCollectives) names.push_back(known.name);
        return one.Fail("collective", UnknownName("collective", Printable(name), names));
      }
      WireUse use{.axis = "", .collective = name};
      RL_ASSIGN(use.axis, one.TextOr("axis", ""));
      RL_ASSIGN(const int64_t ranks, RanksOf(one, use.axis));
      RL_CHECK_OK(one.Need("payload"));
      RL_ASSIGN(const double payload, Bytes(one, "payload"));
      RL_ASSIGN(use.calls, CountOr(one, "calls", 1));
      use.payload_bytes = use.calls * payload;
      use.wire_bytes = use.calls * BusBytes(it->collective, ranks, payload);
      work.wire_bytes += use.wire_bytes;
      work.wire.push_back(std::move(use));
    }
    return {};
  }

  Result<Operation> ReadOperation(const Fields& fields, std::string name) const {
    Operation operation{.name = std::move(name)};
    Work& work = operation.work;
    RL_ASSIGN(operation.count, CountOr(fields, "count", 1));
    RL_ASSIGN(const std::optional<DType> dtype, ReadDType(fields, default_dtype_));
    RL_CHECK_OK(ReadFlops(fields, "flops", dtype, work.matrix_flops));
    RL_CHECK_OK(ReadFlops(fields, "vector_flops", dtype, work.vector_flops));
    RL_ASSIGN(work.transcendentals, CountOr(fields, "transcendentals", 0));
    RL_ASSIGN(work.hbm_bytes, Bytes(fields, "bytes"));
    RL_CHECK_OK(ReadGemm(fields, dtype, work));
    if (fields.Has("most_bytes")) {
      RL_ASSIGN(operation.most_hbm_bytes, Bytes(fields, "most_bytes"));
      if (*operation.most_hbm_bytes < work.hbm_bytes) {
        return fields.Fail("most_bytes", fmt::format("'most_bytes' is {}, less than the {} B that "
                                                     "it needs at least",
                                                     *operation.most_hbm_bytes, work.hbm_bytes));
      }
    }
    RL_CHECK_OK(ReadPattern(fields, work));
    RL_CHECK_OK(ReadWire(fields, work));
    RL_ASSIGN(work.host_bytes, Bytes(fields, "host_bytes"));
    RL_ASSIGN(work.launches, CountOr(fields, "launches", 0));
    if (work == Work{}) {
      return file_.Fail(fields.node(), fmt::format("'{}' needs nothing: no flops, bytes or wire",
                                                   Printable(operation.name)));
    }
    return operation;
  }

  const YamlFile& file_;
  Workload workload_;
  std::optional<DType> default_dtype_;
};

}  // namespace

Result<Workload> ReadWorkload(std::string_view text, std::string_view source) {
  RL_ASSIGN(const YamlFile file, YamlFile::Load(text, source));
  return WorkloadReader(file).Read();
}

}  // namespace ridgeline::workload
