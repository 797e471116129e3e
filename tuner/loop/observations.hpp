// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/observation.hpp"
#include "search/scheduler.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"

namespace steptune {

/// Whether a trial's price, to the searcher, is USD or seconds: whatever the budget is short of.
[[nodiscard]] bool prices_in_money(const StudySpec& study);

/// What a final trial teaches the searcher: values turned so that less is better, price in seconds,
/// or USD where only a budget of money is given. Standard errors are those of a configuration, of
/// which the trial is one launch; both are without drift, as far as it was known at the launch.
[[nodiscard]] Observation to_observation(const StudySpec& study, const TrialRecord& trial,
                                         const LaunchVariation& launches = {});

/// A trial's objectives as the scheduler wants them. `resource` is the steady-state steps measured,
/// `level` the machine's when the trial was launched.
[[nodiscard]] TrialEstimate to_estimate(const StudySpec& study, std::int64_t trial, double resource,
                                        const std::vector<double>& objectives,
                                        const std::vector<double>& standard_errors,
                                        const MachineLevel& level);

/// All that the scheduler was told of a final trial, in order: what it had measured on its way, and
/// at last. Empty for a trial that nothing is compared with: failed, infeasible, out of memory.
[[nodiscard]] std::vector<TrialEstimate> compared_estimates(const StudySpec& study,
                                                            const TrialRecord& trial);

/// The options of a study's scheduler.
[[nodiscard]] SchedulerOptions scheduler_options(const StudySpec& study);

}  // namespace steptune
