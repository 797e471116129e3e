// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Times from a job's request to its program's start, learned from earlier jobs. Initial values
/// come from AWS's posts on warm pools: cold jobs start in 136 to 176 s, warm jobs in 19 to 70 s.
class StartTimes {
 public:
  void add(bool warm, double seconds) { (warm ? warm_ : cold_).add(seconds); }
  [[nodiscard]] double expected_s(bool warm) const { return warm ? warm_.mean_s : cold_.mean_s; }

 private:
  /// Running mean; the initial value counts as one job.
  struct Mean {
    double mean_s;
    double count = 1.0;
    void add(double seconds) {
      count += 1.0;
      mean_s += (seconds - mean_s) / count;
    }
  };
  Mean cold_{156.0};
  Mean warm_{35.0};
};

}  // namespace steptune
