#include "programs/loop.h"

#include <fmt/format.h>

namespace ridgeline::programs {
namespace {

const Shape kCounter{DType::kS32, {}};

std::string JoinNames(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value& value : values) names.push_back(value.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string JoinTypes(const std::vector<Value>& values) {
  std::vector<std::string> types;
  for (const Value& value : values) types.push_back(value.shape.ToStableHlo());
  return fmt::format("{}", fmt::join(types, ", "));
}

std::vector<Value> Named(std::string_view prefix, const std::vector<TensorSpec>& specs) {
  std::vector<Value> values;
  for (const TensorSpec& spec : specs) {
    values.push_back({fmt::format("%{}{}", prefix, values.size()), spec.shape});
  }
  return values;
}

std::vector<Value> Concat(std::vector<Value> a, const std::vector<Value>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

std::string WriteLoop(int partitions, const std::vector<TensorSpec>& inputs,
                      const std::vector<TensorSpec>& carried, const OpWriter& op) {
  const bool manual = partitions > 1;
  const std::string sharding = manual ? "mhlo.sharding = \"{manual}\"" : "";
  const std::vector<Value> input_args = Named("in", inputs);
  const std::vector<Value> carried_args = Named("out", carried);
  const std::vector<Value> input_state = Named("a", inputs);
  const std::vector<Value> carried_state = Named("c", carried);

  std::vector<std::string> arguments = {
      fmt::format("%n: tensor<i32>{}", manual ? " {" + sharding + "}" : "")};
  for (const Value& v : input_args) {
    arguments.push_back(fmt::format("{}: {}{}", v.name, v.shape.ToStableHlo(),
                                    manual ? " {" + sharding + "}" : ""));
  }
  std::vector<std::string> results;
  for (size_t i = 0; i < carried_args.size(); ++i) {
    const std::string type = carried_args[i].shape.ToStableHlo();
    arguments.push_back(fmt::format("{}: {} {{{}tf.aliasing_output = {} : i32}}",
                                    carried_args[i].name, type, manual ? sharding + ", " : "", i));
    results.push_back(manual ? fmt::format("{} {{{}}}", type, sharding) : type);
  }

  // State of the loop: counter, trip count, inputs, carried.
  const std::vector<Value> initial =
      Concat({{"%zero", kCounter}, {"%n", kCounter}}, Concat(input_args, carried_args));
  const std::vector<Value> state =
      Concat({{"%i", kCounter}, {"%limit", kCounter}}, Concat(input_state, carried_state));
  std::vector<std::string> bindings;
  for (size_t k = 0; k < state.size(); ++k) {
    bindings.push_back(state[k].name + " = " + initial[k].name);
  }
  // The barrier ties the operands to the counter, so that nothing can be hoisted.
  const std::vector<Value> guarded = Concat({{"%i", kCounter}}, input_state);
  std::vector<Value> after;
  for (size_t k = 0; k < guarded.size(); ++k) {
    after.push_back({guarded.size() == 1 ? "%b" : fmt::format("%b#{}", k), guarded[k].shape});
  }
  Body body("v", 6);
  const std::vector<Value> op_inputs(after.begin() + 1, after.end());
  const std::vector<Value> op_results = op(body, op_inputs, carried_state);
  const std::vector<Value> next =
      Concat({{"%next", kCounter}, {"%limit", kCounter}}, Concat(op_inputs, op_results));

  std::vector<Value> returned;
  for (size_t k = 0; k < carried.size(); ++k) {
    returned.push_back({fmt::format("%w#{}", 2 + inputs.size() + k), carried[k].shape});
  }

  std::string text = fmt::format(
      "module @ridgeline attributes {{mhlo.num_partitions = {} : i32, mhlo.num_replicas = 1 : "
      "i32}} "
      "{{\n",
      partitions);
  text += fmt::format("  func.func public @main({}) -> ({}) {{\n", fmt::join(arguments, ", "),
                      fmt::join(results, ", "));
  text += "    %zero = stablehlo.constant dense<0> : tensor<i32>\n";
  text += fmt::format("    %w:{} = stablehlo.while({}) : {}\n", state.size(),
                      fmt::join(bindings, ", "), JoinTypes(state));
  text +=
      "    cond {\n"
      "      %more = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\n"
      "      stablehlo.return %more : tensor<i1>\n"
      "    } do {\n";
  text += fmt::format("      %b{} = stablehlo.optimization_barrier {} : {}\n",
                      guarded.size() == 1 ? "" : fmt::format(":{}", guarded.size()),
                      JoinNames(guarded), JoinTypes(guarded));
  text += body.text();
  text += "      %one = stablehlo.constant dense<1> : tensor<i32>\n";
  text += fmt::format("      %next = stablehlo.add {}, %one : tensor<i32>\n", after[0].name);
  text += fmt::format("      stablehlo.return {} : {}\n", JoinNames(next), JoinTypes(next));
  text += "    }\n";
  text += fmt::format("    return {} : {}\n  }}\n}}\n", JoinNames(returned), JoinTypes(returned));
  return text;
}

Program NullLoop(int partitions) {
  Program program;
  program.partitions = partitions;
  program.dtype = DType::kS32;
  program.carried = {{"round", kCounter, {FillKind::kZeros}}};
  program.outputs = {kCounter};
  // The result has to depend on the number of rounds, or the whole loop is deleted.
  program.stablehlo =
      WriteLoop(partitions, {}, program.carried,
                [](Body& body, const std::vector<Value>&, const std::vector<Value>& carried) {
                  return std::vector{body.Binary("add", carried[0], body.Splat(1, kCounter))};
                });
  program.expected.dtype_matters = false;
  return program;
}

}  // namespace ridgeline::programs
