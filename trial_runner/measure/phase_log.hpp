// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trial_runner/measure/phase_cost.hpp"

namespace steptune {

/// Phases that a trial reports, in bounded memory: at most 32 names; further ones are merged as
/// `other`.
class PhaseLog {
 public:
  /// Records a phase of `seconds` that has ended. `samples` is the counter's latest value.
  void ended(const std::string& name, double samples, double seconds);
  /// Records that a phase begins at the counter's latest value. The phase lasts until the next
  /// counter value or the next phase.
  void begins(const std::string& name, double samples, double at_s);
  /// Ends the open phase, if any, when a counter arrives at `now_s`. Without the phase, the steps
  /// since the previous counter would have ended at `steps_done_s`; the rest is the phase's time.
  void end_open(double samples, double steps_done_s, double now_s);

  /// Returns the total seconds of all phases so far.
  [[nodiscard]] double total_s() const { return total_s_; }
  [[nodiscard]] const std::map<std::string, PhaseEvents>& events() const { return events_; }

 private:
  struct Open {
    std::string name;
    double begin_s = 0.0;
  };
  std::map<std::string, PhaseEvents> events_;
  std::optional<Open> open_;
  double total_s_ = 0.0;
};

}  // namespace steptune
