// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "common/interval.hpp"
#include "search/observation.hpp"
#include "search/scheduler.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"

namespace steptune {

/// True if trial prices for the searcher are in USD, not in seconds: the budget limits money only.
[[nodiscard]] bool prices_in_money(const StudySpec& study);

/// Converts a final trial for the searcher. Values of maximized objectives change their sign, so
/// that less is always better. Standard errors include the variation between launches of one
/// configuration. The machine drift, as estimated at the launch, is removed from values and errors.
[[nodiscard]] Observation to_observation(const StudySpec& study, const TrialRecord& trial,
                                         const LaunchVariation& launches = {});

/// Converts a trial's objectives for the scheduler. `resource`: steady-state steps measured.
/// `level`: the machine's level when the trial was launched.
[[nodiscard]] TrialEstimate to_estimate(const StudySpec& study, std::int64_t trial, double resource,
                                        std::span<const MeasuredValue> objectives,
                                        const MachineLevel& level);

/// Returns all estimates of a final trial that the scheduler was given, in order: estimates at its
/// milestones and rungs, and the last estimate. Empty for a trial that is compared with no other
/// trial: failed, infeasible, out of memory.
[[nodiscard]] std::vector<TrialEstimate> compared_estimates(const StudySpec& study,
                                                            const TrialRecord& trial);

[[nodiscard]] SchedulerOptions scheduler_options(const StudySpec& study);

}  // namespace steptune
