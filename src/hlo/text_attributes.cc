#include "hlo/text_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "hlo/text_cursor.h"

namespace ridgeline::hlo {
namespace {

using Wire = hlo_wire::Instruction;
using Setter = Status (*)(std::string_view value, Wire& into);

Status Malformed(std::string_view what, std::string_view value) {
  return Fail(Code::kInvalidArgument,
              fmt::format("expected {}, found '{}'", what, Printable(value.substr(0, 60))));
}

template <typename Repeated>
void Append(std::string_view list, Repeated* into) {
  for (const int64_t value : Integers(list)) into->Add(value);
}

std::string_view Unquoted(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  return value;
}

std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

std::vector<std::string_view> Split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = std::min(text.find(by), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

// "{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=2x2 rhs_dilate=1x1 rhs_reversal=1x1}"
Status SetWindow(std::string_view value, Wire& into) {
  if (value.size() < 2 || value.front() != '{') return Malformed("window={size=…}", value);
  hlo_wire::Window& window = *into.mutable_window();
  for (const std::string_view field : Split(value.substr(1, value.size() - 2), ' ')) {
    if (field.empty()) continue;
    const size_t equals = field.find('=');
    if (equals == field.npos) return Malformed("window={size=…}", value);
    const std::string_view key = field.substr(0, equals);
    const std::vector<std::string_view> parts = Split(field.substr(equals + 1), 'x');
    for (size_t i = 0; i < parts.size(); ++i) {
      if (static_cast<size_t>(window.dimensions_size()) <= i) {
        auto& added = *window.add_dimensions();
        added.set_size(1);
        added.set_stride(1);
        added.set_window_dilation(1);
        added.set_base_dilation(1);
      }
      hlo_wire::WindowDimension& dim = *window.mutable_dimensions(static_cast<int>(i));
      const std::vector<int64_t> numbers = Integers(parts[i]);
      if (numbers.empty()) return Malformed("numbers in window={…}", value);
      if (key == "size") dim.set_size(numbers[0]);
      if (key == "stride") dim.set_stride(numbers[0]);
      if (key == "pad") {
        dim.set_padding_low(numbers[0]);
        dim.set_padding_high(numbers.back());
      }
      if (key == "lhs_dilate") dim.set_base_dilation(numbers[0]);
      if (key == "rhs_dilate") dim.set_window_dilation(numbers[0]);
      if (key == "rhs_reversal") dim.set_window_reversal(numbers[0] != 0);
    }
  }
  return {};
}

// "b01f_01io->b01f": the place of each letter is the dimension; digits are spatial.
Status SetDimLabels(std::string_view value, Wire& into) {
  const size_t middle = value.find('_');
  const size_t arrow = value.find("->");
  if (middle == value.npos || arrow == value.npos || arrow < middle) {
    return Malformed("dim_labels=b01f_01io->b01f", value);
  }
  auto& out = *into.mutable_convolution_dimension_numbers();
  const auto each = [](std::string_view labels, auto place) {
    // Spatial dimensions in the order of their digits.
    std::vector<std::pair<char, int64_t>> spatial;
    int64_t at = 0;
    for (const char label : labels) {
      if (label == '?') continue;
      if (label >= '0' && label <= '9') {
        spatial.emplace_back(label, at++);
      } else {
        place(label, at++);
      }
    }
    std::sort(spatial.begin(), spatial.end());
    std::vector<int64_t> dims;
    for (const auto& [label, dim] : spatial) dims.push_back(dim);
    return dims;
  };
  const auto input = each(value.substr(0, middle), [&](char label, int64_t at) {
    if (label == 'b') out.set_input_batch_dimension(at);
    if (label == 'f') out.set_input_feature_dimension(at);
  });
  const auto kernel =
      each(value.substr(middle + 1, arrow - middle - 1), [&](char label, int64_t at) {
        if (label == 'i') out.set_kernel_input_feature_dimension(at);
        if (label == 'o') out.set_kernel_output_feature_dimension(at);
      });
  const auto output = each(value.substr(arrow + 2), [&](char label, int64_t at) {
    if (label == 'b') out.set_output_batch_dimension(at);
    if (label == 'f') out.set_output_feature_dimension(at);
  });
  for (const int64_t dim : input) out.add_input_spatial_dimensions(dim);
  for (const int64_t dim : kernel) out.add_kernel_spatial_dimensions(dim);
  for (const int64_t dim : output) out.add_output_spatial_dimensions(dim);
  return {};
}

// "{[0:8], [0:16:2]}"
Status SetSlice(std::string_view value, Wire& into) {
  for (size_t open = value.find('['); open != value.npos; open = value.find('[', open + 1)) {
    const std::vector<int64_t> range = Integers(value.substr(open, value.find(']', open) - open));
    if (range.size() < 2) return Malformed("slice={[start:limit:stride]}", value);
    auto& dim = *into.add_slice_dimensions();
    dim.set_start(range[0]);
    dim.set_limit(range[1]);
    dim.set_stride(range.size() > 2 ? range[2] : 1);
  }
  return {};
}

// "[2,4]<=[4,2]T(1,0)"
void SetIota(std::string_view value, hlo_wire::IotaGroups& iota) {
  const size_t arrow = std::min(value.find("<="), value.size());
  const size_t transpose = std::min(value.find('T'), value.size());
  const std::vector<int64_t> sizes = Integers(value.substr(0, arrow));
  if (!sizes.empty()) iota.set_num_replica_groups(sizes[0]);
  // Bounded, so that no text makes the product overflow; no group is that large.
  constexpr int64_t kMost = 1 << 20;
  int64_t per_group = 1;
  for (size_t i = 1; i < sizes.size(); ++i) {
    per_group = std::min(per_group * std::clamp<int64_t>(sizes[i], 0, kMost), kMost);
  }
  iota.set_num_devices_per_group(per_group);
  Append(value.substr(arrow, transpose - arrow), iota.mutable_iota_reshape_dims());
  for (const int64_t dim : Integers(value.substr(transpose))) {
    iota.add_iota_transpose_perm(static_cast<int32_t>(dim));
  }
}

// "([4,4]T(1,0))" or "(0,2,1,3)"
void SetMeshDevices(std::string_view value, hlo_wire::Mesh& mesh) {
  if (value.find('[') == value.npos) {
    Append(value, mesh.mutable_device_ids());
    return;
  }
  const size_t transpose = std::min(value.find('T'), value.size());
  Append(value.substr(0, transpose), mesh.mutable_iota_transform()->mutable_reshape_dims());
  Append(value.substr(transpose), mesh.mutable_iota_transform()->mutable_transpose_perm());
}

// "mesh['x'=4,'y'=4], device_ids=([4,4]T(1,0)) {'y'}", where the devices may be left out. The axes
// inside the braces may be parts: 'x':(1)2 is the factor 2 of 'x' behind a factor 1.
Status SetMeshAxes(std::string_view value, hlo_wire::MeshAxesGroups& groups) {
  const size_t close = value.find(']');
  if (close == value.npos) return Malformed("mesh['x'=2,'y'=4] {'y'}", value);
  std::vector<std::string_view> names;
  for (const std::string_view axis : Split(value.substr(0, close), ',')) {
    const size_t open = axis.find('\'');
    const size_t equals = axis.find("'=");
    if (open == axis.npos || equals == axis.npos || equals <= open) {
      return Malformed("mesh['x'=2,'y'=4] {'y'}", value);
    }
    names.push_back(axis.substr(open + 1, equals - open - 1));
    const std::vector<int64_t> size = Integers(axis.substr(equals));
    groups.mutable_mesh()->add_axes()->set_size(size.empty() ? 0 : size[0]);
  }
  const size_t braces = std::min(value.find('{', close), value.size());
  constexpr std::string_view kDevices = "device_ids=";
  if (const size_t devices = value.find(kDevices, close); devices < braces) {
    SetMeshDevices(value.substr(devices, braces - devices), *groups.mutable_mesh());
  }
  for (const std::string_view axis : Split(value.substr(braces), ',')) {
    const size_t open = axis.find('\'');
    const size_t end = open == axis.npos ? axis.npos : axis.find('\'', open + 1);
    if (end == axis.npos) continue;  // "{}"
    const auto found = std::find(names.begin(), names.end(), axis.substr(open + 1, end - open - 1));
    if (found == names.end()) return Malformed("an axis of the mesh", axis);
    auto& ref = *groups.add_axes();
    ref.set_mesh_axis_index(found - names.begin());
    const std::vector<int64_t> part = Integers(axis.substr(end));
    if (part.size() == 2) {
      ref.mutable_sub_axis_info()->set_pre_size(part[0]);
      ref.mutable_sub_axis_info()->set_size(part[1]);
    }
  }
  return {};
}

Status SetGroups(std::string_view value, Wire& into) {
  if (value.starts_with("mesh")) {
    return SetMeshAxes(value, *into.mutable_mesh_axes_replica_group_list());
  }
  if (value.starts_with("[")) {
    SetIota(value, *into.mutable_iota_collective_device_list());
    return {};
  }
  for (size_t open = value.find('{', 1); open != value.npos; open = value.find('{', open + 1)) {
    const size_t close = std::min(value.find('}', open), value.size());
    Append(value.substr(open, close - open), into.add_replica_groups()->mutable_replica_ids());
  }
  return {};
}

Status SetPairs(std::string_view value, Wire& into) {
  const std::vector<int64_t> ids = Integers(value);
  if (ids.size() % 2 != 0) return Malformed("source_target_pairs={{0,1},…}", value);
  for (size_t i = 0; i + 1 < ids.size(); i += 2) {
    auto& pair = *into.add_source_target_pairs();
    pair.set_source(ids[i]);
    pair.set_target(ids[i + 1]);
  }
  return {};
}

Status SetMetadata(std::string_view value, Wire& into) {
  constexpr std::string_view kOpName = "op_name=\"";
  const size_t start = value.find(kOpName);
  if (start == value.npos) return {};
  size_t end = start + kOpName.size();
  while (end < value.size() && value[end] != '"') end += value[end] == '\\' ? 2 : 1;
  const size_t from = start + kOpName.size();
  into.mutable_metadata()->set_op_name(
      Unescaped(value.substr(from, std::min(end, value.size()) - from)));
  return {};
}

Status SetFftType(std::string_view value, Wire& into) {
  constexpr std::string_view kNames[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), value);
  if (found == std::end(kNames)) return Malformed("fft_type=FFT, IFFT, RFFT or IRFFT", value);
  into.set_fft_type(static_cast<int32_t>(found - std::begin(kNames)));
  return {};
}

// PrecisionConfig's numbers: DEFAULT 0, HIGH 1, HIGHEST 2.
Status SetPrecision(std::string_view value, Wire& into) {
  for (const std::string_view one : Split(value, ',')) {
    into.mutable_precision_config()->add_operand_precision(one.find("high") != one.npos ? 1 : 0);
  }
  return {};
}

template <void (Wire::*Set)(int64_t)>
Status SetInteger(std::string_view value, Wire& into) {
  const std::vector<int64_t> found = Integers(value);
  if (found.size() != 1) return Malformed("one number", value);
  (into.*Set)(found[0]);
  return {};
}

using Int64s = google::protobuf::RepeatedField<int64_t>;
template <Int64s* (Wire::*Mutable)()>
Status SetIntegers(std::string_view value, Wire& into) {
  Append(value, (into.*Mutable)());
  return {};
}

using Dot = hlo_wire::DotDimensions;
template <Int64s* (Dot::*Mutable)()>
Status SetDot(std::string_view value, Wire& into) {
  Append(value, (into.mutable_dot_dimension_numbers()->*Mutable)());
  return {};
}

const std::unordered_map<std::string_view, Setter>& Setters() {
  static const std::unordered_map<std::string_view, Setter> setters = {
      {"dimensions", SetIntegers<&Wire::mutable_dimensions>},
      {"iota_dimension", SetIntegers<&Wire::mutable_dimensions>},
      {"index", SetInteger<&Wire::set_tuple_index>},
      {"channel_id", SetInteger<&Wire::set_channel_id>},
      {"feature_group_count", SetInteger<&Wire::set_feature_group_count>},
      {"batch_group_count", SetInteger<&Wire::set_batch_group_count>},
      {"fft_length", SetIntegers<&Wire::mutable_fft_length>},
      {"lhs_contracting_dims", SetDot<&Dot::mutable_lhs_contracting_dimensions>},
      {"rhs_contracting_dims", SetDot<&Dot::mutable_rhs_contracting_dimensions>},
      {"lhs_batch_dims", SetDot<&Dot::mutable_lhs_batch_dimensions>},
      {"rhs_batch_dims", SetDot<&Dot::mutable_rhs_batch_dimensions>},
      {"window", SetWindow},
      {"dim_labels", SetDimLabels},
      {"slice", SetSlice},
      {"replica_groups", SetGroups},
      {"source_target_pairs", SetPairs},
      {"metadata", SetMetadata},
      {"fft_type", SetFftType},
      {"operand_precision", SetPrecision},
      {"algorithm",
       [](std::string_view, Wire& into) -> Status {
         into.mutable_precision_config()->set_algorithm(1);
         return {};
       }},
      {"direction",
       [](std::string_view value, Wire& into) -> Status {
         into.set_comparison_direction(std::string(value));
         return {};
       }},
      {"kind",
       [](std::string_view value, Wire& into) -> Status {
         into.set_fusion_kind(std::string(value));
         return {};
       }},
      {"custom_call_target",
       [](std::string_view value, Wire& into) -> Status {
         into.set_custom_call_target(Unescaped(Unquoted(value)));
         return {};
       }},
      {"backend_config",
       [](std::string_view value, Wire& into) -> Status {
         into.set_backend_config(value.starts_with("\"") ? Unescaped(Unquoted(value))
                                                         : std::string(value));
         return {};
       }},
      {"use_global_device_ids",
       [](std::string_view value, Wire& into) -> Status {
         into.set_use_global_device_ids(value == "true");
         return {};
       }},
      {"custom_call_has_side_effect",
       [](std::string_view value, Wire& into) -> Status {
         into.set_custom_call_has_side_effect(value == "true");
         return {};
       }},
      {"left_side",
       [](std::string_view value, Wire& into) -> Status {
         into.mutable_triangular_solve_options()->set_left_side(value == "true");
         return {};
       }},
      {"frontend_attributes",
       [](std::string_view value, Wire& into) -> Status {
         for (const auto& [key, text] : QuotedPairs(value)) {
           auto& added = *into.mutable_frontend_attributes()->add_map();
           added.set_key(key);
           added.set_value(text);
         }
         return {};
       }},
  };
  return setters;
}

}  // namespace

Status SetAttribute(std::string_view name, std::string_view value, hlo_wire::Instruction& into) {
  const auto found = Setters().find(name);
  return found == Setters().end() ? Status() : found->second(value, into);
}

std::vector<std::pair<std::string, std::string>> QuotedPairs(std::string_view braces) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t at = braces.find("=\""); at != braces.npos; at = braces.find("=\"", at)) {
    const size_t start = braces.find_last_of("{,", at);
    size_t end = at + 2;
    while (end < braces.size() && braces[end] != '"') end += braces[end] == '\\' ? 2 : 1;
    end = std::min(end, braces.size());
    const size_t key = start == braces.npos ? 0 : start + 1;
    pairs.emplace_back(std::string(braces.substr(key, at - key)),
                       Unescaped(braces.substr(at + 2, end - at - 2)));
    at = end;
  }
  return pairs;
}

}  // namespace ridgeline::hlo
