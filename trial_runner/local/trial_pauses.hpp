// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/machine/processes.hpp"
#include "trial_runner/report.hpp"

namespace steptune::local {

/// Pauses of one trial, in which all its processes are stopped, and its time without them. Times
/// are in seconds of the runner's clock.
class TrialPauses {
 public:
  [[nodiscard]] bool is_paused() const { return since_s_.has_value(); }
  /// Length of all pauses that are over.
  [[nodiscard]] double paused_s() const { return paused_s_; }
  /// `now_s` as if the trial had never been paused.
  [[nodiscard]] double trial_time_s(double now_s) const {
    return since_s_.value_or(now_s) - paused_s_;
  }
  /// A report that has just been read, at the time `Report::received_s` without pauses, as if the
  /// trial had never been paused. Times that it took itself for parts of a step are left out.
  [[nodiscard]] Report without_pauses(Report report) const;

  /// Stops (SIGSTOP) what `look` finds, until it finds nothing new. One that has stopped itself is
  /// not continued later.
  void stop(const std::function<std::vector<ProcessStat>()>& look);
  /// From now on no time passes.
  void begin(double now_s) { since_s_ = now_s; }
  /// The trial has printed something: if it is paused, some of it runs elsewhere.
  void on_output() { printed_ = printed_ || is_paused(); }
  /// Lets the processes go on (SIGCONT). Returns the length of the pause; 0 without one.
  double end(double now_s);
  /// True once it has printed in so many pauses that what was written just before does not explain
  /// it.
  [[nodiscard]] bool are_in_vain() const;

 private:
  std::vector<ProcessId> stopped_;  ///< in the order of their stop
  std::optional<double> since_s_;
  std::vector<std::pair<double, double>> over_;  ///< from, to
  double paused_s_ = 0.0;
  bool printed_ = false;
  int in_vain_ = 0;
};

}  // namespace steptune::local
