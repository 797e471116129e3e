// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/clock.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// What the training program of a simulated trial does.
struct SimulatedTraining {
  double startup_s = 20.0;  ///< program's start to its first step
  double step_s = 0.1;
  double samples_per_step = 1.0;
};

struct RehearsalOptions {
  std::uint64_t seed = 0;    ///< draws what differs from one day to the next
  double wall_time_s = 0.0;  ///< the date that the play begins on
  /// The program for the values of a trial's parameters, written as on a command line.
  std::function<SimulatedTraining(const std::map<std::string, std::string>& values)> training;
};

/// What the same jobs come to at least, one after the other.
struct LeastBill {
  double usd = 0.0;
  double not_training_usd = 0.0;  ///< part of `usd`
  double duration_s = 0.0;
  int cold_starts = 0;
};

/// The bill as a simulated provider makes it out.
struct RehearsalBill {
  double usd = 0.0;
  double not_training_usd = 0.0;  ///< part of `usd`: downloads, uploads, machines kept idle
  int cold_starts = 0;
  int warm_starts = 0;
  /// Of all machines that were held, where the provider counts them (node-hours of a cluster).
  std::optional<double> machine_hours{};
  double starting_s = 0.0;  ///< of all jobs, from the request to the program's begin
  double training_s = 0.0;  ///< likewise, of the programs
  std::optional<LeastBill> least{};
};

/// A study's runner on a simulated provider under a virtual clock, for the real loop to run on. It
/// owns both, and reaches nothing outside. Of one thread.
class RehearsalStage {
 public:
  virtual ~RehearsalStage() = default;

  [[nodiscard]] virtual const Clock& clock() const = 0;
  [[nodiscard]] virtual Runner& runner() = 0;
  /// Lets time pass until nothing costs anything any more. The runner is not used afterwards.
  [[nodiscard]] virtual RehearsalBill settle() = 0;
};

}  // namespace steptune
