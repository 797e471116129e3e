// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/clock.hpp"

namespace steptune {

/// Tuning time of a study, over all runs of the tuner.
class Stopwatch {
 public:
  /// `clock` outlives the stopwatch. `before_s`: tuning time of earlier runs.
  Stopwatch(const Clock& clock, double before_s)
      : clock_(&clock), before_s_(before_s), started_s_(clock.now_s()) {}

  [[nodiscard]] double elapsed_s() const { return before_s_ + clock_->now_s() - started_s_; }

 private:
  const Clock* clock_;
  double before_s_;
  double started_s_;
};

}  // namespace steptune
