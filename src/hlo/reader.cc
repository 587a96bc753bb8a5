#include "hlo/reader.h"

#include <fmt/format.h>
#include <google/protobuf/arena.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/hash.h"
#include "hlo/text_reader.h"
#include "hlo_wire.pb.h"

namespace ridgeline::hlo {
namespace {

// Device ids that the compact spellings of replica groups may expand to, over a whole module: they
// are the only thing here whose size is a number in the file and not the file's own length.
constexpr int64_t kMaxGroupIds = int64_t{1} << 24;
constexpr int kMaxMeshRank = 32;

using Ids = std::vector<int64_t>;
using Groups = std::vector<Ids>;

template <typename Repeated>
Ids ToIds(const Repeated& values) {
  return Ids(values.begin(), values.end());
}

// A name from the file, fit for terminals and JSON: other bytes than printable ASCII become \xNN.
std::string Text(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c >= 0x20 && c < 0x7f) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

// 0 when the product is larger than `limit` or a factor is not positive.
int64_t Product(const Ids& factors, int64_t limit) {
  int64_t product = 1;
  for (int64_t factor : factors) {
    if (factor <= 0 || factor > limit / product) return 0;
    product *= factor;
  }
  return product;
}

class ModuleReader {
 public:
  Result<Module> Read(const hlo_wire::Module& wire) {
    Module module;
    module.name = Text(wire.name());
    module.entry = wire.entry_computation_id();
    module.scheduled = !wire.schedule().empty();
    packs_ = !module.scheduled;
    for (const hlo_wire::BufferDonor& donor : wire.buffer_donor().entries()) {
      module.donors.push_back(donor.parameter_number());
    }
    module.frontend_attributes = ReadAttributes(wire.frontend_attributes());
    module.partitions = wire.text_partitions();
    module.replicas = wire.text_replicas();
    for (const hlo_wire::AliasEntry& entry : wire.input_output_alias().entries()) {
      module.aliases.push_back({ToIds(entry.output_shape_index()), entry.parameter_number()});
    }
    for (const hlo_wire::Computation& from : wire.computations()) {
      Computation& computation = module.computations.emplace_back();
      computation.id = from.id();
      computation.name = Text(from.name());
      computation.root = from.root_id();
      computation.is_fusion = from.is_fusion_computation();
      for (const hlo_wire::Instruction& instruction : from.instructions()) {
        RL_ASSIGN(Instruction read, ReadInstruction(instruction));
        computation.instructions.push_back(std::move(read));
      }
    }
    RL_CHECK_OK(module.Link());
    return module;
  }

 private:
  static tl::unexpected<Error> Bad(const hlo_wire::Instruction& wire, std::string_view what) {
    return Fail(Code::kInvalidArgument,
                fmt::format("malformed HLO module: '{}' has {}", Text(wire.name()), what));
  }

  static tl::unexpected<Error> UnknownSize(const hlo_wire::Instruction& wire) {
    tl::unexpected<Error> error = Bad(wire, "a dimension of unknown or negative size");
    error.value().next = "export the program with fixed sizes, or with an upper bound";
    return error;
  }

  // Nesting is bounded by protobuf's own limit of 100 messages.
  Result<Shape> ReadShape(const hlo_wire::Shape& wire, const hlo_wire::Instruction& owner) const {
    Shape shape;
    shape.primitive = wire.element_type();
    shape.dims = ToIds(wire.dimensions());
    for (int64_t dim : shape.dims) {
      if (dim < 0) return UnknownSize(owner);
    }
    for (const bool dynamic : wire.is_dynamic_dimension()) shape.dynamic |= dynamic;
    for (const hlo_wire::Shape& element : wire.tuple_shapes()) {
      RL_ASSIGN(Shape read, ReadShape(element, owner));
      shape.dynamic |= read.dynamic;
      shape.tuple.push_back(std::move(read));
    }
    shape.minor_to_major = ToIds(wire.layout().minor_to_major());
    shape.element_bits = wire.layout().element_size_in_bits();
    // Layouts come with compilation; until then small elements are packed, as accelerators do.
    if (packs_ && shape.element_bits == 0) shape.element_bits = PackedBits(shape.primitive);
    shape.memory_space = wire.layout().memory_space();
    return shape;
  }

  Result<Instruction> ReadInstruction(const hlo_wire::Instruction& wire) {
    Instruction out;
    out.id = wire.id();
    out.name = Text(wire.name());
    out.opcode = Text(wire.opcode());
    RL_ASSIGN(out.shape, ReadShape(wire.shape(), wire));
    out.operands = ToIds(wire.operand_ids());
    out.called = ToIds(wire.called_computation_ids());
    out.op_name = Text(wire.metadata().op_name());
    out.parameter_number = wire.parameter_number();
    out.tuple_index = wire.tuple_index();
    out.dimensions = ToIds(wire.dimensions());
    for (const hlo_wire::WindowDimension& dim : wire.window().dimensions()) {
      out.window.push_back({dim.size(), dim.stride(), dim.padding_low(), dim.padding_high(),
                            dim.window_dilation(), dim.base_dilation(), dim.window_reversal()});
    }
    if (wire.has_convolution_dimension_numbers()) {
      out.convolution = ReadConvolution(wire.convolution_dimension_numbers());
    }
    if (wire.has_dot_dimension_numbers()) {
      const hlo_wire::DotDimensions& dot = wire.dot_dimension_numbers();
      out.dot = DotDimensions{ToIds(dot.lhs_contracting_dimensions()),
                              ToIds(dot.rhs_contracting_dimensions()),
                              ToIds(dot.lhs_batch_dimensions()), ToIds(dot.rhs_batch_dimensions())};
    }
    // Absent means 1; the wire cannot tell absent from 0.
    out.feature_group_count = std::max<int64_t>(1, wire.feature_group_count());
    out.batch_group_count = std::max<int64_t>(1, wire.batch_group_count());
    out.fusion_kind = Text(wire.fusion_kind());
    out.custom_call_target = Text(wire.custom_call_target());
    out.comparison_direction = Text(wire.comparison_direction());
    out.backend_config = wire.backend_config();
    out.channel_id = wire.channel_id();
    out.use_global_device_ids = wire.use_global_device_ids();
    for (const hlo_wire::SourceTarget& pair : wire.source_target_pairs()) {
      out.source_target.emplace_back(pair.source(), pair.target());
    }
    RL_ASSIGN(out.groups, ReadGroups(wire));
    if (out.opcode == "constant" && out.shape.is_scalar_integer()) {
      out.integer = ReadInteger(wire.literal());
    }
    if (wire.fft_type() >= 0 && wire.fft_type() <= 3) {
      out.fft_type = static_cast<FftType>(wire.fft_type());
    }
    out.fft_length = ToIds(wire.fft_length());
    for (const hlo_wire::SliceDimensions& dim : wire.slice_dimensions()) {
      out.slice_strides.push_back(dim.stride());
    }
    out.left_side = wire.triangular_solve_options().left_side();
    out.side_effect = wire.custom_call_has_side_effect();
    const hlo_wire::PrecisionConfig& precision = wire.precision_config();
    out.high_precision = precision.algorithm() != 0;
    for (const int one : precision.operand_precision()) out.high_precision |= one != 0;
    out.frontend_attributes = ReadAttributes(wire.frontend_attributes());
    out.fingerprint = Fingerprint(wire);
    return out;
  }

  static std::map<std::string, std::string, std::less<>> ReadAttributes(
      const hlo_wire::FrontendAttributes& wire) {
    std::map<std::string, std::string, std::less<>> out;
    for (const hlo_wire::FrontendAttribute& one : wire.map()) {
      out[Text(one.key())] = Text(one.value());
    }
    return out;
  }

  static uint64_t Fingerprint(const hlo_wire::Instruction& wire) {
    hlo_wire::Instruction rest = wire;
    rest.clear_name();
    rest.clear_metadata();
    rest.clear_id();
    rest.clear_operand_ids();
    rest.clear_called_computation_ids();
    rest.clear_frontend_attributes();
    return Fnv1a(rest.SerializePartialAsString());
  }

  static ConvolutionDimensions ReadConvolution(const hlo_wire::ConvolutionDimensions& wire) {
    ConvolutionDimensions out;
    out.input_batch = wire.input_batch_dimension();
    out.input_feature = wire.input_feature_dimension();
    out.kernel_input_feature = wire.kernel_input_feature_dimension();
    out.kernel_output_feature = wire.kernel_output_feature_dimension();
    out.output_batch = wire.output_batch_dimension();
    out.output_feature = wire.output_feature_dimension();
    out.input_spatial = ToIds(wire.input_spatial_dimensions());
    out.kernel_spatial = ToIds(wire.kernel_spatial_dimensions());
    out.output_spatial = ToIds(wire.output_spatial_dimensions());
    return out;
  }

  static std::optional<int64_t> ReadInteger(const hlo_wire::Literal& literal) {
    if (literal.s32s_size() == 1) return literal.s32s(0);
    if (literal.s64s_size() == 1) return literal.s64s(0);
    if (literal.u32s_size() == 1) return literal.u32s(0);
    if (literal.u64s_size() == 1 && literal.u64s(0) <= std::numeric_limits<int64_t>::max()) {
      return static_cast<int64_t>(literal.u64s(0));
    }
    if (literal.preds_size() == 1) return literal.preds(0) ? 1 : 0;
    if (literal.s8s().size() == 1) return static_cast<int8_t>(literal.s8s()[0]);
    if (literal.u8s().size() == 1) return static_cast<uint8_t>(literal.u8s()[0]);
    return std::nullopt;
  }

  // Four spellings, at most one of which is there.
  Result<Groups> ReadGroups(const hlo_wire::Instruction& wire) {
    if (wire.has_iota_collective_device_list()) {
      return ReadIota(wire, wire.iota_collective_device_list());
    }
    if (wire.has_mesh_axes_replica_group_list()) {
      return ReadMeshAxes(wire, wire.mesh_axes_replica_group_list());
    }
    if (wire.collective_device_list().has_iota()) {
      return ReadIota(wire, wire.collective_device_list().iota());
    }
    Groups groups;
    const auto& listed = wire.replica_groups_size() > 0
                             ? wire.replica_groups()
                             : wire.collective_device_list().replica_groups();
    for (const hlo_wire::ReplicaGroup& group : listed) groups.push_back(ToIds(group.replica_ids()));
    return groups;
  }

  // "[2,4]<=[4,2]T(1,0)" is 2 groups of 4 cut from the transposed 4x2 array of 0 … 7.
  Result<Groups> ReadIota(const hlo_wire::Instruction& wire, const hlo_wire::IotaGroups& iota) {
    const Ids dims = ToIds(iota.iota_reshape_dims());
    Ids permutation = ToIds(iota.iota_transpose_perm());
    if (permutation.empty()) permutation = Iota(static_cast<int64_t>(dims.size()));
    const int64_t total = Product(dims, kMaxGroupIds);
    if (total == 0 ||
        Product({iota.num_replica_groups(), iota.num_devices_per_group()}, kMaxGroupIds) != total) {
      return Bad(wire, "replica groups that do not fit their iota list");
    }
    RL_ASSIGN(Ids ids, Transposed(wire, dims, permutation));
    return Cut(ids, iota.num_devices_per_group());
  }

  // "mesh['x'=4,'y'=4] {'y'}": devices that differ only in the named axes form a group. An axis may
  // be named in part, as the factor `size` of pre_size x size x rest.
  Result<Groups> ReadMeshAxes(const hlo_wire::Instruction& wire,
                              const hlo_wire::MeshAxesGroups& list) {
    struct Part {
      int64_t axis, before, size;
    };
    const hlo_wire::Mesh& mesh = list.mesh();
    if (mesh.axes_size() > kMaxMeshRank || list.axes_size() > kMaxMeshRank) {
      return Bad(wire, "a mesh of too many axes");
    }
    std::vector<Part> parts;
    for (const hlo_wire::AxisRef& ref : list.axes()) {
      const int64_t axis = ref.mesh_axis_index();
      if (axis < 0 || axis >= mesh.axes_size()) return Bad(wire, "a mesh axis that does not exist");
      const int64_t size = mesh.axes(static_cast<int>(axis)).size();
      parts.push_back(ref.has_sub_axis_info()
                          ? Part{axis, ref.sub_axis_info().pre_size(), ref.sub_axis_info().size()}
                          : Part{axis, 1, size});
    }
    // The mesh with every axis split where a named part begins or ends.
    Ids dims;
    std::vector<std::pair<Part, int64_t>> chosen;  // named part, its dimension in `dims`
    for (int64_t axis = 0; axis < mesh.axes_size(); ++axis) {
      std::vector<Part> here;
      std::copy_if(parts.begin(), parts.end(), std::back_inserter(here),
                   [&](const Part& part) { return part.axis == axis; });
      std::sort(here.begin(), here.end(),
                [](const Part& a, const Part& b) { return a.before < b.before; });
      int64_t done = 1;
      for (const Part& part : here) {
        if (part.before <= 0 || part.size <= 0 || part.before % done != 0) {
          return Bad(wire, "mesh axes that overlap");
        }
        dims.push_back(part.before / done);
        chosen.emplace_back(part, static_cast<int64_t>(dims.size()));
        dims.push_back(part.size);
        if (part.size > kMaxGroupIds / part.before) return Bad(wire, "too large a mesh");
        done = part.before * part.size;
      }
      const int64_t size = mesh.axes(static_cast<int>(axis)).size();
      if (size <= 0 || size % done != 0) return Bad(wire, "mesh axes that do not divide the mesh");
      dims.push_back(size / done);
    }
    Ids inner;  // dimensions that stay inside a group, in the order in which they are named
    int64_t group_size = 1;
    for (const Part& part : parts) {
      const auto found = std::find_if(chosen.begin(), chosen.end(), [&](const auto& entry) {
        return entry.first.axis == part.axis && entry.first.before == part.before;
      });
      inner.push_back(found->second);
      group_size *= part.size;
      if (group_size > kMaxGroupIds) return Bad(wire, "too large a mesh");
    }
    Ids permutation;
    for (int64_t dim = 0; dim < static_cast<int64_t>(dims.size()); ++dim) {
      if (std::find(inner.begin(), inner.end(), dim) == inner.end()) permutation.push_back(dim);
    }
    permutation.insert(permutation.end(), inner.begin(), inner.end());
    RL_ASSIGN(Ids positions, Transposed(wire, dims, permutation));

    Ids devices = ToIds(mesh.device_ids());
    if (devices.empty() && mesh.has_iota_transform()) {
      const hlo_wire::IotaTransform& iota = mesh.iota_transform();
      Ids order = ToIds(iota.transpose_perm());
      if (order.empty()) order = Iota(iota.reshape_dims_size());
      RL_ASSIGN(devices, Transposed(wire, ToIds(iota.reshape_dims()), order));
    }
    if (!devices.empty()) {
      if (devices.size() != positions.size()) return Bad(wire, "a mesh of the wrong size");
      for (int64_t& position : positions) position = devices[static_cast<size_t>(position)];
    }
    return Cut(positions, group_size);
  }

  static Ids Iota(int64_t count) {
    Ids ids(static_cast<size_t>(count));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }

  // 0 … n-1 as an array of `dims`, read with its dimensions in the order of `permutation`.
  Result<Ids> Transposed(const hlo_wire::Instruction& wire, const Ids& dims,
                         const Ids& permutation) {
    const size_t rank = dims.size();
    Ids sorted = permutation;
    std::sort(sorted.begin(), sorted.end());
    const int64_t total = Product(dims, kMaxGroupIds - group_ids_);
    if (rank > 3 * kMaxMeshRank || sorted != Iota(static_cast<int64_t>(rank)) || total == 0) {
      return Bad(wire, "replica groups that are malformed or too large");
    }
    group_ids_ += total;
    Ids stride(rank, 1);
    for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * dims[i];
    Ids ids;
    ids.reserve(static_cast<size_t>(total));
    Ids at(rank, 0);  // position, in permuted order
    for (int64_t n = 0; n < total; ++n) {
      int64_t id = 0;
      for (size_t i = 0; i < rank; ++i) id += at[i] * stride[static_cast<size_t>(permutation[i])];
      ids.push_back(id);
      for (size_t i = rank; i-- > 0;) {
        if (++at[i] < dims[static_cast<size_t>(permutation[i])]) break;
        at[i] = 0;
      }
    }
    return ids;
  }

  static Groups Cut(const Ids& ids, int64_t size) {
    Groups groups;
    for (auto at = ids.begin(); at != ids.end(); at += size) groups.emplace_back(at, at + size);
    return groups;
  }

  int64_t group_ids_ = 0;
  bool packs_ = false;
};

std::string LooksLike(std::string_view bytes) {
  if (bytes.empty()) return "it is empty";
  if (bytes.starts_with("ML\xefR")) return "it is MLIR bytecode";
  const std::string_view head = bytes.substr(0, 200);
  if (head.find("module") != head.npos && head.find('{') != head.npos) return "it is MLIR text";
  return fmt::format("it is cut short, damaged or something else, {} bytes", bytes.size());
}

bool Parse(std::string_view bytes, google::protobuf::MessageLite& into) {
  return bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max()) &&
         into.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

Result<Module> ReadModule(std::string_view bytes) {
  if (LooksLikeHloText(bytes)) {
    google::protobuf::Arena arena;
    auto* text = google::protobuf::Arena::CreateMessage<hlo_wire::Module>(&arena);
    RL_CHECK_OK(ReadText(bytes, *text));
    return ModuleReader().Read(*text);
  }
  // A bare module's field 1 is its name, a container's is the module: a name never parses as a
  // module with computations.
  hlo_wire::ModuleInContainer container;
  if (Parse(bytes, container) && container.hlo_module().computations_size() > 0) {
    return ModuleReader().Read(container.hlo_module());
  }
  hlo_wire::Module bare;
  if (Parse(bytes, bare) && bare.computations_size() > 0) return ModuleReader().Read(bare);
  return Fail(Code::kInvalidArgument, "not a serialized HLO module: " + LooksLike(bytes), "",
              "expected an HloModuleProto, an HloProto (--xla_dump_to) or an "
              "HloModuleProtoWithConfig (the PJRT plugin's optimized program)");
}

}  // namespace ridgeline::hlo
