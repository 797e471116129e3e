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

/// Timing of a simulated trial's training program.
struct SimulatedTraining {
  double startup_s = 20.0;  ///< from the program's start to its first step
  double step_s = 0.1;
  double samples_per_step = 1.0;
};

/// Scatter of a simulated program's steps, as a share of their time.
inline constexpr double k_rehearsed_step_noise = 0.03;

struct RehearsalOptions {
  std::uint64_t seed = 0;    ///< seed of the simulated provider's random numbers
  double wall_time_s = 0.0;  ///< date at which the simulation starts, seconds since 1970
  /// Returns the timing of a trial. `values` are its parameters' values by name, as text as on a
  /// command line.
  std::function<SimulatedTraining(const std::map<std::string, std::string>& values)> training;
};

/// Lower bound of the bill: the price of the same jobs, run one after the other.
struct LeastBill {
  double usd = 0.0;
  double not_training_usd = 0.0;  ///< part of `usd`
  double duration_s = 0.0;
  int cold_starts = 0;
};

/// The bill that a simulated provider issues.
struct RehearsalBill {
  double usd = 0.0;
  double not_training_usd = 0.0;  ///< part of `usd`: downloads, uploads, machines kept idle
  int cold_starts = 0;
  int warm_starts = 0;
  /// Machine-hours of all held machines, for providers that count them (node-hours of a cluster).
  std::optional<double> machine_hours{};
  double starting_s = 0.0;  ///< of all jobs, from the request to the program's start
  double training_s = 0.0;  ///< of all jobs, while their programs ran
  std::optional<LeastBill> least{};
};

/// A study's runner on a simulated provider under a virtual clock. The real loop runs on it. Owns
/// the provider, the runner and the clock; uses nothing outside this process. For use by one
/// thread.
class RehearsalStage {
 public:
  virtual ~RehearsalStage() = default;

  [[nodiscard]] virtual const Clock& clock() const = 0;
  [[nodiscard]] virtual Runner& runner() = 0;
  /// Advances the clock until nothing costs money any more. Do not use the runner afterwards.
  [[nodiscard]] virtual RehearsalBill settle() = 0;
};

}  // namespace steptune
