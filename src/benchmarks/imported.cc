// Any StableHLO program as a case of its own: called back to back, no known answer.
#include <fmt/format.h>

#include "base/text.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/signature.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Program;

programs::Fill FillFor(DType dtype) {
  if (IsFloat(dtype)) return {};
  // May be indices: 0 and 1 stand in every array that has two rows.
  programs::Fill fill{programs::FillKind::kIndex};
  fill.limit = 2;
  return fill;
}

Result<Program> Build(const Params& params, const Target& target) {
  const std::string file = Printable(params.Text("file"));
  Result<Signature> read = ReadSignature(target.program_text);
  if (!read) {
    Error error = std::move(read).error();
    error.where = error.where.empty() ? file : file + ":" + error.where;
    return tl::unexpected(std::move(error));
  }
  const Signature& signature = *read;
  if (signature.partitions > 1 || signature.replicas > 1) {
    return Fail(Code::kUnimplemented,
                fmt::format("the program is for {} partitions and {} replicas; only programs for "
                            "one device can be run",
                            signature.partitions, signature.replicas),
                file, "export it for one device, or look at it with `ridgeline roofline`");
  }
  Program program;
  program.repeat = programs::Repeat::kCalls;
  program.partitions = target.placement.all ? static_cast<int>(target.mesh->size()) : 1;
  program.scope = target.placement.all ? Scope::kAll : Scope::kDevice;
  if (program.partitions > 1) {
    return Fail(Code::kUnimplemented, "an imported program runs on one device at a time", file);
  }
  program.stablehlo = WithoutDonation(target.program_text);
  program.shardy = program.stablehlo.find("sdy.") != std::string::npos;
  bool integers = false;
  for (const Shape& shape : signature.arguments) {
    const std::string name = fmt::format("arg{}", program.inputs.size());
    program.inputs.push_back({name, shape, FillFor(shape.dtype)});
    integers = integers || !IsFloat(shape.dtype);
  }
  program.outputs = signature.results;
  if (!program.inputs.empty()) program.dtype = program.inputs.front().shape.dtype;
  program.working_set_bytes = program.device_bytes();
  program.labels.emplace_back("no Work: counted later by the roofline");
  program.labels.emplace_back("no known answer: not checked");
  if (integers) program.labels.emplace_back("integer inputs in [0,2)");
  if (program.stablehlo != target.program_text) {
    program.labels.emplace_back("donation of arguments removed: every call gets the same ones");
  }
  program.expected.loop = false;
  program.expected.dtype_matters = false;
  return program;
}

}  // namespace

Benchmark imported_benchmark() {
  return {.name = "imported",
          .component = Component::kImported,
          .summary = "a StableHLO file, called back to back",
          .params = {{.name = "file",
                      .type = ParamType::kText,
                      .fallback = std::string(),
                      .help = "StableHLO text, as jax.jit(f).lower().as_text() writes it",
                      .required = true}},
          .build = Build};
}

}  // namespace ridgeline::benchmarks
