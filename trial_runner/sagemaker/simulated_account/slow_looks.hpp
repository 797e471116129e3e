// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "trial_runner/runner.hpp"

namespace steptune::simulated {

/// `SlowLimit` as the job's shell heeds it (run_pack.sh), which a test compares with this.
class SlowLooks {
 public:
  explicit SlowLooks(const SlowLimit& limit) : limit_(limit) {}

  /// A report of counters. True: it is slow by now; not to be called any more.
  [[nodiscard]] bool report(double clock_s, double samples);
  /// A report of a phase.
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
  int slow_looks_ = 0;  ///< in a row
};

}  // namespace steptune::simulated
