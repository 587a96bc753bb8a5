// Compiled programs in tests/hlo/data, and small edits to them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "hlo/module.h"
#include "hlo/reader.h"

namespace ridgeline::hlo {

inline std::string ReadFixture(const std::string& name) {
  std::ifstream in(std::string(RIDGELINE_SOURCE_DIR) + "/tests/hlo/data/" + name + ".hlo.pb",
                   std::ios::binary);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Module LoadFixture(const std::string& name) {
  Result<Module> module = ReadModule(ReadFixture(name));
  EXPECT_TRUE(module) << name << ": " << (module ? "" : module.error().ToString());
  return module ? *std::move(module) : Module{};
}

inline Computation& ComputationNamed(Module& module, const std::string& name) {
  const auto found = std::find_if(module.computations.begin(), module.computations.end(),
                                  [&](const Computation& c) { return c.name == name; });
  EXPECT_NE(found, module.computations.end()) << name;
  return *found;
}

// Iterator, so that a test can insert before or erase.
inline auto Named(Computation& computation, const std::string& name) {
  const auto found = std::find_if(computation.instructions.begin(), computation.instructions.end(),
                                  [&](const Instruction& i) { return i.name == name; });
  EXPECT_NE(found, computation.instructions.end()) << name;
  return found;
}

// The first with that opcode anywhere in the module.
inline Instruction& FirstOpcode(Module& module, const std::string& opcode) {
  for (Computation& computation : module.computations) {
    for (Instruction& instruction : computation.instructions) {
      if (instruction.opcode == opcode) return instruction;
    }
  }
  ADD_FAILURE() << "no " << opcode;
  return module.computations[0].instructions[0];
}

}  // namespace ridgeline::hlo
