// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trial_runner/measure/phase_cost.hpp"

namespace steptune {

/// The phases that a trial reports, in bounded memory: of 32 names at most, others count together
/// as `other`.
class PhaseLog {
 public:
  /// One has ended that took `seconds`, `samples` being the counter's latest value.
  void ended(const std::string& name, double samples, double seconds);
  /// One begins at the counter's latest value; it lasts until the next counter or phase.
  void begins(const std::string& name, double samples, double at_s);
  /// A counter came at `now_s`: what is open has ended. The steps between the counter before and
  /// this one would have been done at `steps_done_s`.
  void end_open(double samples, double steps_done_s, double now_s);

  /// Seconds of all phases so far.
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
