// How long one operation takes on one kind of device, besides what op_times.h makes of all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hlo/module.h"
#include "predict/op_times.h"
#include "predict/targets.h"

namespace ridgeline::predict {

// Arithmetic of what runs in an instruction's place.
struct Inside {
  double matrix = 0;
  int matrix_type = 0;                        // of the largest product
  double largest = 0;                         // its FLOP
  const hlo::Instruction* product = nullptr;  // the instruction of it
  int arithmetic = 0;                         // instructions
  std::vector<std::pair<const hlo::Computation*, const hlo::Instruction*>> collectives;
};

// `hbm_bytes` and `flops` of the operations are set; part, seconds and how are filled in.
class OpRates {
 public:
  explicit OpRates(const Machine& machine);
  virtual ~OpRates() = default;
  virtual void PriceMatrix(const hlo::Instruction& at, const Inside& inside, OpTime& op) = 0;
  virtual void PriceMemory(const hlo::Instruction& at, const Inside& inside, OpTime& op) = 0;
  // Of the nominal link rate that can be counted on.
  virtual double LinkShare() const = 0;
  // Added to a collective over `ranks` devices on `hosts` hosts.
  virtual Interval WireLatency(const std::string& collective, int64_t ranks, int64_t hosts) const;
  // Whether the compiler left it to run beside other work.
  virtual bool IsAsynchronous(const hlo::Instruction& collective) const;
  // What a reader of the times has to know.
  const std::vector<std::string>& notes() const { return notes_; }

  double bandwidth() const { return bandwidth_; }  // nominal, of one device

 protected:
  void Note(std::string text);
  // 0 when the spec has none.
  double PeakOf(std::string_view type) const;

  const Machine& machine_;
  double bandwidth_ = 0;
  std::vector<std::string> notes_;
};

std::unique_ptr<OpRates> MakeTpuRates(const Target& target);
std::unique_ptr<OpRates> MakeGpuRates(const Target& target);

}  // namespace ridgeline::predict
