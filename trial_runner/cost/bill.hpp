// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/runner.hpp"

namespace steptune {

/// What the machines of a trial cost while they are used.
struct Price {
  double usd_per_hour = 0.0;  ///< of one machine
  double instances = 1.0;
};

/// US dollars for `seconds` of use; for what a running trial has cost so far, and for planned runs.
[[nodiscard]] double cost_usd(const Price& price, double seconds);

/// What an ended trial is billed: its billed seconds, which are more or less than its duration
/// where a provider rounds, charges start-up, or does not charge failures.
[[nodiscard]] double bill_usd(const Price& price, const Outcome& outcome);

}  // namespace steptune
