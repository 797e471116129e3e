// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace steptune::example {

/// Prints progress lines on standard output, at most one in two seconds. Loss, rate and share of
/// waiting cover the time since the previous line.
class Progress {
 public:
  /// `unit` names the samples: `images`, `tokens`. `now_s` is any monotonic clock.
  Progress(std::string unit, double now_s);

  void step(double samples, double loss, double waited_s, double now_s);
  void finish(double now_s);

 private:
  void print_line(double now_s);

  struct Interval {
    double begin_s = 0.0;
    double samples = 0.0;
    double waited_s = 0.0;
    double loss_sum = 0.0;
    std::int64_t steps = 0;
  };

  std::string unit_;
  double begin_s_;
  Interval interval_;
  std::int64_t steps_ = 0;
  double samples_ = 0.0;
};

}  // namespace steptune::example
