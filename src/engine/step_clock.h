#pragma once

#include "device/device.h"

namespace ridgeline::engine {

// Adds the time from its making to its end.
class StepClock {
 public:
  StepClock(device::Client& client, double& total)
      : client_(client), total_(total), start_(client.Now()) {}
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;
  ~StepClock() { total_ += client_.Now() - start_; }

 private:
  device::Client& client_;
  double& total_;
  double start_;
};

}  // namespace ridgeline::engine
