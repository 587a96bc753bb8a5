#include "hlo/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "hlo/opcode.h"
#include "hlo/text_attributes.h"
#include "hlo/text_cursor.h"

namespace ridgeline::hlo {
namespace {

constexpr std::string_view kHeader = "HloModule";

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Attributes that name computations, in the order in which HLO lists what they name.
bool NamesComputations(std::string_view attribute) {
  return IsOneOf(attribute,
                 {"to_apply", "calls", "body", "condition", "select", "scatter", "true_computation",
                  "false_computation", "branch_computations", "called_computations"});
}

class TextReader {
 public:
  TextReader(std::string_view text, hlo_wire::Module& module) : at_(text), module_(module) {}

  Status Read() {
    RL_CHECK_OK(ReadHeader());
    while (true) {
      at_.SkipBlanks();
      if (at_.done()) break;
      if (SkipTable()) continue;
      RL_CHECK_OK(ReadComputation());
    }
    if (module_.computations_size() == 0) return at_.Expected("a computation");
    // Without an ENTRY, XLA takes the last one.
    if (!has_entry_) {
      module_.set_entry_computation_id(module_.computations(module_.computations_size() - 1).id());
    }
    return ResolveCalls();
  }

 private:
  // A computation that an instruction names; it may stand later in the text.
  struct Call {
    hlo_wire::Instruction* caller;
    std::string_view name;
    size_t at;
    bool first;  // goes before what the caller names already: `body` before `condition`
  };

  // "HloModule NAME, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, …"
  Status ReadHeader() {
    RL_CHECK_OK(at_.Expect(kHeader));
    module_.set_name(std::string(at_.TakeName()));
    while (true) {
      at_.SkipBlanks(false);
      if (at_.Peek() != ',') break;
      RL_CHECK_OK(at_.Expect(","));
      const std::string_view name = at_.TakeName();
      RL_CHECK_OK(at_.Expect("="));
      RL_ASSIGN(const std::string_view value, at_.TakeUntil(",\n"));
      SetModuleAttribute(name, value);
    }
    return {};
  }

  void SetModuleAttribute(std::string_view name, std::string_view value) {
    if (name == "is_scheduled" && value.starts_with("true")) module_.set_schedule("text");
    const std::vector<int64_t> numbers = Integers(value);
    if (name == "num_partitions" && !numbers.empty()) module_.set_text_partitions(numbers[0]);
    if (name == "replica_count" && !numbers.empty()) module_.set_text_replicas(numbers[0]);
    if (name == "frontend_attributes") {
      for (const auto& [key, text] : QuotedPairs(value)) {
        auto& added = *module_.mutable_frontend_attributes()->add_map();
        added.set_key(key);
        added.set_value(text);
      }
    }
    if (name == "buffer_donor") {
      EachParameter(value, [&](size_t, int64_t parameter) {
        module_.mutable_buffer_donor()->add_entries()->set_parameter_number(parameter);
      });
    }
    if (name == "input_output_alias") {
      size_t done = 0;
      EachParameter(value, [&](size_t open, int64_t parameter) {
        auto& entry = *module_.mutable_input_output_alias()->add_entries();
        entry.set_parameter_number(parameter);
        // "{0}: (" before it.
        const size_t colon = value.rfind(':', open);
        const size_t brace = colon == value.npos ? colon : value.rfind('{', colon);
        if (brace != value.npos && brace >= done) {
          for (const int64_t index : Integers(value.substr(brace, colon - brace))) {
            entry.add_output_shape_index(index);
          }
        }
        done = open;
      });
    }
  }

  // Calls `each` with the place and the parameter of every "(2, {}" in `value`.
  template <typename Each>
  static void EachParameter(std::string_view value, const Each& each) {
    for (size_t open = value.find('('); open != value.npos; open = value.find('(', open + 1)) {
      const std::vector<int64_t> number =
          Integers(value.substr(open, value.find(',', open) - open));
      if (!number.empty()) each(open, number[0]);
    }
  }

  // Tables of source places: a heading, then numbered lines.
  bool SkipTable() {
    TextCursor ahead = at_;
    if (!IsOneOf(ahead.TakeName(),
                 {"FileNames", "FunctionNames", "FileLocations", "StackFrames"})) {
      return false;
    }
    const auto skip_line = [&] {
      const size_t end = ahead.rest().find('\n');
      ahead = TextCursor(
          ahead.Between(0, ahead.at() + ahead.rest().size()),
          end == std::string_view::npos ? ahead.at() + ahead.rest().size() : ahead.at() + end + 1);
    };
    skip_line();
    while (ahead.Peek() >= '0' && ahead.Peek() <= '9') skip_line();
    at_ = ahead;
    return true;
  }

  // "%name (p: f32[]) -> f32[] {", "name {" or "ENTRY name {", then instructions and "}".
  Status ReadComputation() {
    const size_t start = at_.at();
    TextCursor ahead = at_;
    const bool entry = ahead.TakeName() == "ENTRY";
    if (entry) at_ = ahead;
    const std::string_view name = at_.TakeName();
    if (name.empty()) return at_.Expected("a computation");
    if (at_.Take("(")) {
      RL_ASSIGN([[maybe_unused]] const std::string_view parameters, at_.TakeUntil(")"));
      RL_CHECK_OK(at_.Expect(")"));
    }
    if (at_.Take("->")) {
      RL_ASSIGN([[maybe_unused]] const hlo_wire::Shape shape, at_.TakeShape());
    }
    RL_CHECK_OK(at_.Expect("{"));
    computation_ = module_.add_computations();
    computation_->set_name(std::string(name));
    computation_->set_id(module_.computations_size());
    if (!computation_ids_.emplace(name, computation_->id()).second) {
      return at_.Bad(start, fmt::format("a second computation '{}'", Printable(name)));
    }
    if (entry) {
      if (has_entry_) return at_.Bad(start, "a second ENTRY");
      has_entry_ = true;
      module_.set_entry_computation_id(computation_->id());
    }
    ids_.clear();
    bool has_root = false;
    while (!at_.Take("}")) {
      if (at_.done()) return at_.Expected(fmt::format("'}}' of '{}'", Printable(name)));
      RL_CHECK_OK(ReadInstruction(has_root));
    }
    if (computation_->instructions_size() == 0) {
      return at_.Bad(start, fmt::format("'{}' has no instruction", Printable(name)));
    }
    if (!has_root) {
      computation_->set_root_id(
          computation_->instructions(computation_->instructions_size() - 1).id());
    }
    // ", execution_thread=…"
    at_.SkipBlanks(false);
    if (at_.Peek() == ',') {
      RL_ASSIGN([[maybe_unused]] const std::string_view rest, at_.TakeUntil("\n"));
    }
    return {};
  }

  Status ReadInstruction(bool& has_root) {
    TextCursor ahead = at_;
    const bool root = ahead.TakeName() == "ROOT";
    if (root) at_ = ahead;
    at_.SkipBlanks();
    const size_t start = at_.at();
    const std::string_view name = at_.TakeName();
    if (name.empty()) return at_.Expected("an instruction");
    RL_CHECK_OK(at_.Expect("="));
    hlo_wire::Instruction& wire = *computation_->add_instructions();
    wire.set_id(next_id_++);
    wire.set_name(std::string(name));
    RL_ASSIGN(*wire.mutable_shape(), at_.TakeShape());
    at_.SkipBlanks();
    const size_t opcode_at = at_.at();
    const std::string_view opcode = at_.TakeName();
    if (!KindOf(opcode)) return UnknownOpcode(opcode_at, opcode);
    wire.set_opcode(std::string(opcode));
    if (root) {
      if (has_root) return at_.Bad(start, "a second ROOT");
      has_root = true;
      computation_->set_root_id(wire.id());
    }
    RL_CHECK_OK(at_.Expect("("));
    RL_CHECK_OK(ReadOperands(opcode, wire));
    RL_CHECK_OK(at_.Expect(")"));
    RL_CHECK_OK(ReadAttributes(wire));
    if (!ids_.emplace(name, wire.id()).second) {
      return at_.Bad(start, fmt::format("a second '{}' in this computation", Printable(name)));
    }
    return {};
  }

  Status UnknownOpcode(size_t at, std::string_view opcode) const {
    if (opcode.empty()) return at_.Expected("an opcode");
    const std::vector<std::string> names(AllOpcodes().begin(), AllOpcodes().end());
    const std::optional<std::string_view> near =
        NearestName(opcode, std::vector<std::string_view>(names.begin(), names.end()));
    return at_.Bad(at, fmt::format("unknown opcode '{}'{}", Printable(opcode),
                                   near ? fmt::format("; did you mean '{}'?", *near) : ""));
  }

  Status ReadOperands(std::string_view opcode, hlo_wire::Instruction& wire) {
    if (opcode == "constant") return ReadConstant(wire);
    if (opcode == "parameter") {
      RL_ASSIGN(const int64_t number, at_.TakeInteger());
      wire.set_parameter_number(number);
      return {};
    }
    while (true) {
      at_.SkipBlanks();
      if (at_.Peek() == ')') return {};
      const size_t start = at_.at();
      RL_ASSIGN(std::string_view operand, at_.TakeUntil(",)"));
      // "f32[8]{0} %name", "%name" or "name".
      while (operand.ends_with(' ') || operand.ends_with('\n')) operand.remove_suffix(1);
      operand.remove_prefix(std::min(operand.find_last_of(" /") + 1, operand.size()));
      if (operand.starts_with('%')) operand.remove_prefix(1);
      const auto found = ids_.find(operand);
      if (found == ids_.end()) {
        return at_.Bad(start, fmt::format("'{}' is not defined before it is used",
                                          Printable(operand.substr(0, 80))));
      }
      wire.add_operand_ids(found->second);
      if (at_.Peek() == ',') RL_CHECK_OK(at_.Expect(","));
    }
  }

  // The value matters where it is a scalar integer; of the rest, that two are the same.
  Status ReadConstant(hlo_wire::Instruction& wire) {
    RL_ASSIGN(const std::string_view value, at_.TakeUntil(")"));
    if (wire.shape().dimensions_size() == 0) {
      if (value == "true" || value == "false") wire.mutable_literal()->add_preds(value == "true");
      int64_t integer = 0;
      const auto [end, problem] =
          std::from_chars(value.data(), value.data() + value.size(), integer);
      if (problem == std::errc() && end == value.data() + value.size()) {
        wire.mutable_literal()->add_s64s(integer);
      }
    }
    wire.mutable_text_attributes()->append(value);
    return {};
  }

  // ", name=value, name=value", up to the end of the line or of the computation.
  Status ReadAttributes(hlo_wire::Instruction& wire) {
    struct Attribute {
      std::string_view name, value;
      size_t at;
    };
    std::vector<Attribute> attributes;
    while (true) {
      at_.SkipBlanks(false);
      if (at_.Peek() != ',') break;
      RL_CHECK_OK(at_.Expect(","));
      at_.SkipBlanks();
      const size_t start = at_.at();
      const std::string_view name = at_.TakeName();
      RL_CHECK_OK(at_.Expect("="));
      const size_t value_at = at_.at();
      RL_ASSIGN(std::string_view value, at_.TakeUntil(",\n}"));
      // replica_groups=mesh['x'=4], device_ids=(…) {'x'} is one attribute with a comma in it.
      if (name == "device_ids" && !attributes.empty() &&
          attributes.back().name == "replica_groups") {
        const size_t from = attributes.back().at;
        attributes.back().value = at_.Between(from, value_at + value.size());
        continue;
      }
      while (value.ends_with(' ') || value.ends_with('\r')) value.remove_suffix(1);
      attributes.push_back({name, value, name.empty() ? start : value_at});
    }
    for (const Attribute& attribute : attributes) {
      if (NamesComputations(attribute.name)) {
        AddCalls(attribute.name, attribute.value, attribute.at, wire);
        continue;
      }
      if (Status set = SetAttribute(attribute.name, attribute.value, wire); !set) {
        return at_.Bad(attribute.at, set.error().message);
      }
      if (!IsOneOf(attribute.name, {"metadata", "control-predecessors", "frontend_attributes"})) {
        wire.mutable_text_attributes()->append(attribute.name);
        wire.mutable_text_attributes()->append(attribute.value);
      }
    }
    return {};
  }

  void AddCalls(std::string_view attribute, std::string_view value, size_t at,
                hlo_wire::Instruction& wire) {
    const size_t inner = value.starts_with('{') ? 1 : 0;
    TextCursor names(value.substr(inner));
    while (true) {
      const std::string_view name = names.TakeName();
      if (name.empty()) return;
      calls_.push_back({&wire, name, at, attribute == "body"});
      if (!names.Take(",")) return;
    }
  }

  Status ResolveCalls() {
    for (const Call& call : calls_) {
      const auto found = computation_ids_.find(call.name);
      if (found == computation_ids_.end()) {
        return at_.Bad(call.at, fmt::format("no computation '{}'", Printable(call.name)));
      }
      auto& called = *call.caller->mutable_called_computation_ids();
      called.Add(found->second);
      if (call.first) std::rotate(called.begin(), called.end() - 1, called.end());
    }
    return {};
  }

  TextCursor at_;
  hlo_wire::Module& module_;
  hlo_wire::Computation* computation_ = nullptr;
  std::unordered_map<std::string_view, int64_t> computation_ids_;
  std::unordered_map<std::string_view, int64_t> ids_;  // of the computation being read
  std::vector<Call> calls_;
  bool has_entry_ = false;
  int64_t next_id_ = 1;
};

}  // namespace

bool LooksLikeHloText(std::string_view bytes) {
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != bytes.npos && bytes.substr(start).starts_with(kHeader);
}

Status ReadText(std::string_view text, hlo_wire::Module& module) {
  return TextReader(text, module).Read();
}

}  // namespace ridgeline::hlo
