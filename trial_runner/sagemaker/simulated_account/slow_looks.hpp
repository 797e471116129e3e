// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "trial_runner/runner.hpp"

namespace steptune::simulated {

/// Applies `SlowLimit` like the job's shell (run_pack.sh). A test checks that both give the same
/// results.
class SlowLooks {
 public:
  explicit SlowLooks(const SlowLimit& limit) : limit_(limit) {}

  /// Records a report with counters. Returns true if the trial is slow; do not call this again
  /// after that.
  [[nodiscard]] bool report(double clock_s, double samples);
  /// Records the report of a phase.
  void phase();

 private:
  struct Look {
    double clock_s = 0.0;
    double samples = 0.0;
    int reports = 0;
  };

  SlowLimit limit_;
  std::optional<double> first_s_;
  std::optional<Look> look_;
  int slow_looks_ = 0;  ///< slow windows in a row
};

}  // namespace steptune::simulated
