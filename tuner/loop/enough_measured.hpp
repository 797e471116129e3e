// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/measure/measurement.hpp"
#include "tuner/loop/trial_targets.hpp"
#include "tuner/loop/trial_view.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Least number of steps in the window before the loop judges a trial by its speed.
inline constexpr double k_least_observed_steps = 10.0;

/// True if the measurement is as precise and as long as `wanted` asks, and the speed has not just
/// changed.
[[nodiscard]] bool is_tight(const Measurement& measurement, const MeasureSpec& wanted);
/// True if the window has reached `baseline_window_steps` or `baseline_window_s`.
[[nodiscard]] bool was_observed_for_long(const Measurement& measurement,
                                         const TrialTargets& targets);

/// True if the trial is measured as its targets ask and each guard has its value. Ignores guards if
/// trials share a running program. Always false if an objective is neither time nor cost. Also
/// false from the second interleaved round on if the trial has a share of a time budget.
[[nodiscard]] bool is_measured_enough(const TrialView& trial);
/// True if a data buffer that is not empty yet may explain too much of a confirming run's gain.
[[nodiscard]] bool may_be_buffered(const TrialView& trial);
/// True if a guard will judge the trial, but the trial has not processed enough samples for it.
[[nodiscard]] bool awaits_guard(const TrialView& trial);

}  // namespace steptune
