// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

namespace steptune {

/// One progress line of a trial. Counters are cumulative since the trial's start.
struct Report {
  double received_s = 0.0;        ///< runner's clock when the line was read
  std::optional<double> clock_s;  ///< the trial's own monotonic clock; preferred for intervals
  std::optional<double> step;     ///< optimiser steps done
  std::optional<double> samples;  ///< samples processed
  std::map<std::string, double> metrics;  ///< loss, gradient noise scale, anything else; finite
  std::map<std::string, double> parts;    ///< cumulative seconds by part of a step: data, compute
  /// Metrics whose last value was NaN or infinite (a diverged loss): absent from `metrics`.
  std::set<std::string> not_finite;
};

}  // namespace steptune
