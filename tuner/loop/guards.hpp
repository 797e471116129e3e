// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/loop/guard_window.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/study/unit_name.hpp"

namespace steptune {

/// Moment at which guards are checked.
enum class GuardMoment {
  running,  ///< missing values, and values that may still change, violate nothing
  ended,    ///< missing values violate their guards, because an unknown loss may be bad
  again,    ///< ended and judged before with this configuration: missing values violate nothing
};

/// Returns the guard that a trial violates, as a sentence for people; nullopt if the trial respects
/// all guards. `baseline`: the baseline's trial, or null for the baseline itself. Skips ratios to a
/// value that the baseline did not report. A ratio of 1.02 adds 2 % of the baseline's absolute
/// value: the limit is 5.1 for 5, and -4.9 for -5. `peak_memory_bytes` may be guarded like any
/// metric.
///
/// This is a test of non-inferiority. A value violates a limit if it is shown to be beyond the
/// limit. The error probability is at most 5 % (Student's t, one-sided). The test uses the standard
/// errors of the trial and of the baseline. A value without a known error is compared directly. A
/// value that is not finite violates its guard. Here, a guard over launches has no other violation.
[[nodiscard]] std::optional<std::string> violated_guard(const std::vector<Guard>& guards,
                                                        const GuardedValues& values,
                                                        std::optional<double> peak_memory_bytes,
                                                        const TrialRecord* baseline,
                                                        GuardMoment moment,
                                                        const UnitName& unit = {});

/// Limits of a guard for a measured baseline: the tighter of the absolute limit and the limit by
/// ratio. A limit is unset if the guard has none or the baseline did not report the metric.
struct GuardLimit {
  std::string metric;  ///< `judged_metric`
  std::optional<double> max;
  std::optional<double> min;
  std::optional<double> baseline;  ///< the baseline's value
};
[[nodiscard]] GuardLimit limit_of(const Guard& guard, const TrialRecord& baseline);

/// Returns why a trial leaves too little memory free for a long run. It may take at most
/// `max_share` of a GPU's memory, and of the memory that its processes may use.
///
/// Returns nullopt if the trial leaves enough, if nothing is known, or if `max_share` is 1 or more.
/// Ignores a GPU that other programs used, too. Ignores memory if the baseline also takes more than
/// `max_share` of it, because the program then takes all that it can get.
[[nodiscard]] std::optional<std::string> missing_headroom(double max_share, const Outcome& outcome,
                                                          const TrialRecord* baseline);

/// True if a trial reported a value for each guard, except guards on memory. A trial that was ended
/// early may have reported too few samples for a guard.
[[nodiscard]] bool was_judged(const std::vector<Guard>& guards, const TrialRecord& trial);

/// Returns the metrics that guards compare with the baseline's, but that the baseline has not
/// reported. Leaves out guards over launches.
[[nodiscard]] std::vector<std::string> metrics_missing_in_baseline(const std::vector<Guard>& guards,
                                                                   const TrialRecord& baseline);

}  // namespace steptune
